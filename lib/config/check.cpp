#include "config/check.h"

#include <algorithm>

#include "config/load.h"
#include "config/reader.h"
#include "config/rows.h"

namespace volley::config {
namespace {

Node node_of(const Problem& problem) {
    Node::Object members;
    members.push_back({"file", {}, to_node(problem.file)});
    members.push_back({"line", {}, to_node(std::uint32_t{problem.line})});
    members.push_back({"column", {}, to_node(std::uint32_t{problem.column})});
    members.push_back({"pointer", {}, to_node(problem.pointer)});
    members.push_back({"text", {}, to_node(problem.text)});
    return {std::move(members), {}};
}

Node node_of(const Report& report) {
    Node::Array problems;
    for (const Problem& problem : report.problems) problems.push_back(node_of(problem));
    Node::Object members;
    members.push_back({"file", {}, to_node(report.file)});
    members.push_back({"valid", {}, to_node(report.valid())});
    members.push_back({"error", {}, report.readable ? Node{} : to_node(report.unreadable)});
    members.push_back({"problems", {}, Node{std::move(problems), {}}});
    members.push_back({"warnings", {}, to_node(report.warnings)});
    return {std::move(members), {}};
}

}  // namespace

Report check_file(const std::string& path, const std::vector<std::string>& sets) {
    Report report;
    report.file = path;
    try {
        load(path, sets);
    } catch (const Error& error) {
        report.problems = error.problems;
    } catch (const FileError& error) {
        report.readable = false;
        report.unreadable = error.what();
    }
    return report;
}

std::string to_json(const std::vector<Report>& reports) {
    Node::Array files;
    for (const Report& report : reports) files.push_back(node_of(report));
    Node::Object members;
    members.push_back({"files", {}, Node{std::move(files), {}}});
    return write_json({std::move(members), {}}, 0);
}

int exit_code(const std::vector<Report>& reports) {
    constexpr int bad_content = 65;
    constexpr int no_input = 66;
    int code = 0;
    for (const Report& report : reports) {
        if (!report.readable) code = no_input;
        if (!report.valid()) code = std::max(code, bad_content);
    }
    return code;
}

}  // namespace volley::config
