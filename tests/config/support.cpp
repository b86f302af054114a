#include "config/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace volley::config {

std::string small_file(const std::string& port, const std::string& stream, const std::string& packet) {
    return R"({"version": 1, "ports": [{"name": "east", "device": "net_null0", "tx": {"lcores": [2, 3]})" +
           port + R"(}], "streams": [{"name": "s", "port": "east")" + stream + R"(, "packet": {)" + packet +
           "}}]}";
}

Model decoded(const std::string& text, const ParseOptions& options) {
    try {
        return parse(text, "f", options);
    } catch (const Error& error) {
        ADD_FAILURE() << error.what() << "\nin " << text;
        return {};
    }
}

std::string problems_of(const std::string& text, const ParseOptions& options) {
    try {
        parse(text, "f", options);
        return {};
    } catch (const Error& error) {
        return error.what();
    }
}

std::vector<std::string> files_of(const std::filesystem::path& folder) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace volley::config
