#include "config/load.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "config/edit.h"
#include "config/reader.h"
#include "config/reverse.h"
#include "config/tables.h"
#include "config/validate.h"

namespace volley::config {
namespace {

// By chunks: one buffer for the largest file would cost a reload 10 ms of clearing pages. One byte more than
// is allowed is enough to refuse the file.
std::string read_file(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        throw FileError("cannot read " + path + ": it is a folder");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) throw FileError("cannot read " + path + ": " + std::strerror(errno));
    std::string text;
    std::array<char, 16384> chunk{};
    while (file && text.size() <= most_bytes) {
        file.read(chunk.data(), chunk.size());
        text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
    }
    if (file.bad()) throw FileError("cannot read " + path + ": " + std::strerror(errno));
    return text;
}

Model decode(Node& root, const std::string& file, const ParseOptions& options, Problems& problems) {
    for (const std::string& set : options.sets) apply_edit(root, set, problems);
    Model model;
    Decoder decoder(file, options.base_directory, problems);
    decode_object(decoder, {root, ""}, model_table(), model);
    add_reversed_streams(model);
    check(decoder, root, model);
    return model;
}

}  // namespace

Model load(const std::string& path, const std::vector<std::string>& sets) {
    ParseOptions options;
    options.sets = sets;
    const auto folder = std::filesystem::absolute(path).parent_path();
    options.base_directory = folder.lexically_normal().string();
    return parse(read_file(path), path, options);
}

Model parse(std::string_view text, std::string_view file_name, const ParseOptions& options) {
    const std::string file(file_name);
    Problems problems;
    auto root = read_json(text, file, options.comments, problems);
    Model model;
    if (root) model = decode(*root, file, options, problems);
    problems.throw_if_any();
    return model;
}

Model edit(const Model& model, std::string_view file_name, const std::vector<std::string>& sets) {
    ParseOptions options;
    options.sets = sets;
    Problems problems;
    Node root = encode_model(model);
    Model out = decode(root, std::string(file_name), options, problems);
    problems.throw_if_any();
    return out;
}

void locate_in(const std::string& path, const std::vector<std::string>& sets,
               std::vector<Problem>& problems) {
    Problems ignored;
    std::optional<Node> root;
    try {
        root = read_json(read_file(path), path, true, ignored);
    } catch (const FileError&) {
        return;
    }
    if (!root) return;
    for (const std::string& set : sets) apply_edit(*root, set, ignored);
    for (Problem& problem : problems) {
        const Mark mark = locate(*root, problem.pointer);
        problem.line = mark.line;
        problem.column = mark.column;
    }
}

std::string dump_config(const Model& model, unsigned indent) {
    return write_json(encode_model(model), indent);
}

}  // namespace volley::config
