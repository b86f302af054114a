#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/load.h"

namespace volley::config {

/// The least of a file, with more members (", …") for its port and its stream, and the members of its packet.
std::string small_file(const std::string& port, const std::string& stream,
                       const std::string& packet = R"("frame_size": 64, "headers": [{"eth": {}}])");
/// The decoded text; a refusal fails the test.
Model decoded(const std::string& text, const ParseOptions& options = {});
/// The lines of all problems, with "f" as the file; empty when there is none.
std::string problems_of(const std::string& text, const ParseOptions& options = {});
/// The *.json files of a folder, sorted.
std::vector<std::string> files_of(const std::filesystem::path& folder);
std::string text_of(const std::string& path);

}  // namespace volley::config
