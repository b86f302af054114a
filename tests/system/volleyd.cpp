#include "system/volleyd.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "support/json_lines.h"

namespace volley::test {
namespace {

unsigned cpus() {
    return std::max(1U, std::thread::hardware_concurrency());
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
    return text;
}

}  // namespace

std::string volleyd_path() {
    return VOLLEY_BUILD "/app/volleyd";
}

std::string volleyctl_path() {
    return VOLLEY_BUILD "/app/volleyctl";
}
std::string source_path() {
    return VOLLEY_SOURCE;
}

bool sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
    return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
    return false;
#endif
}

json configuration(unsigned workers, bool dispatch, const std::vector<json>& ports,
                   const std::vector<json>& streams) {
    // Control and stats sleep, so CPU 0 has room for the dispatcher; the workers have the others.
    std::vector<std::string> map{"0@0", "1@0", "2@0"};
    for (unsigned w = 0; w < workers; ++w) {
        map.push_back(std::to_string(first_worker + w) + "@" + std::to_string(cpus() - 1 - w % cpus()));
    }
    json result{{"version", 1},
                {"name", "test"},
                {"eal", {{"lcores", joined(map)}, {"huge_pages", "no"}, {"memory_mib", 128}}},
                {"lcores", {{"control", 0}, {"stats", 1}}},
                {"run", {{"settle_time", "0ms"}}},
                {"ports", ports},
                {"streams", streams},
                {"telemetry", {{"interval", "100ms"}, {"socket", nullptr}}}};
    if (dispatch) result["lcores"]["dispatch"] = 2;
    return result;
}

json port(const std::string& name, const std::string& device, unsigned workers) {
    json lcores = json::array();
    for (unsigned w = 0; w < workers; ++w) lcores.push_back(first_worker + w);
    return {{"name", name}, {"device", device}, {"tx", {{"lcores", lcores}}}};
}

json raw_packet() {
    return {{"headers", json::array({{{"raw", {{"fill", "0xff"}, {"length", 60}}}}})}};
}

std::uint64_t sum(const json& array, const std::string& pointer) {
    std::uint64_t total = 0;
    const json::json_pointer place(pointer);
    for (const json& element : array) {
        if (element.contains(place) && !element.at(place).is_null())
            total += element.at(place).get<std::uint64_t>();
    }
    return total;
}

const json& named(const json& array, const std::string& name) {
    const auto found = std::find_if(array.begin(), array.end(),
                                    [&](const json& element) { return element.at("name") == name; });
    if (found == array.end()) throw std::runtime_error("nothing is named " + name + " in " + array.dump());
    return *found;
}

void expect_consistent(const json& report) {
    EXPECT_EQ(report.at("type"), "report");
    EXPECT_EQ(report.at("settled"), true);
    const std::uint64_t packets = sum(report.at("streams"), "/tx/packets");
    EXPECT_EQ(sum(report.at("ports"), "/tx/packets"), packets);
    EXPECT_EQ(sum(report.at("queues"), "/tx/packets"), packets);
    EXPECT_EQ(sum(report.at("workers"), "/tx/packets"), packets);
    const std::uint64_t l2_bytes = sum(report.at("streams"), "/tx/l2_bytes");
    EXPECT_EQ(sum(report.at("ports"), "/tx/l2_bytes"), l2_bytes);
    EXPECT_EQ(sum(report.at("workers"), "/tx/l2_bytes"), l2_bytes);
    EXPECT_EQ(sum(report.at("ports"), "/tx/bytes"), l2_bytes - 4 * packets);
    EXPECT_EQ(sum(report.at("ports"), "/tx/errors"), 0U);
    EXPECT_EQ(sum(report.at("ports"), "/tx/unsent"), 0U);
}

Volleyd::Volleyd(const json& config, const Options& options) {
    rewrite(config);
    std::vector<std::string> command = options.prefix;
    command.insert(command.end(), {volleyd_path(), "--config", dir_.file("volley.json")});
    command.insert(command.end(), options.arguments.begin(), options.arguments.end());
    if (options.where != nullptr) command = options.where->inside(std::move(command));
    // Volley's sockets and the EAL's files go where nobody else's are.
    process_ = std::make_unique<Process>(
        std::move(command), std::vector<std::string>{"RUNTIME_DIRECTORY=" + dir_.path().string()});
}

void Volleyd::rewrite(const json& config) const {
    dir_.write("volley.json", config.dump(2));
}

std::vector<json> Volleyd::lines() const {
    std::string text = process_->out();
    text.resize(text.rfind('\n') + 1);
    return parse_json_lines(text);
}

std::optional<std::size_t> Volleyd::wait_for_line(const std::function<bool(const json&)>& condition,
                                                  std::size_t from) {
    std::size_t begin = 0;
    std::size_t number = 0;
    const bool found = process_->wait_until([&](const std::string& out, const std::string&) {
        for (std::size_t end = 0; (end = out.find('\n', begin)) != std::string::npos; ++number) {
            const json line = parse_json(std::string_view(out).substr(begin, end - begin));
            begin = end + 1;
            if (number >= from && condition(line)) return true;
        }
        return false;
    });
    return found ? std::optional(number) : std::nullopt;
}

bool Volleyd::wait_for_state(const std::string& state) {
    return wait_for_line([&](const json& line) { return line.at("state") == state; }).has_value();
}

json Volleyd::report() const {
    const std::string out = process_->out();
    const std::vector<json> all = parse_json_lines(out);
    if (all.empty() || all.back().at("type") != "report") {
        throw std::runtime_error("the last line is no report; stderr was:\n" + process_->err());
    }
    return all.back();
}

json run_volleyd(const json& config, int exit_code) {
    Volleyd volleyd(config);
    EXPECT_EQ(volleyd.wait(Seconds{300}), exit_code) << volleyd.process().err();
    return volleyd.report();
}

bool in_child(const std::function<void()>& body) {
    const pid_t pid = fork();
    if (pid == 0) {
        try {
            body();
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
        std::exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    return waitpid(pid, &status, 0) == pid && status == 0;
}

}  // namespace volley::test
