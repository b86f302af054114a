#pragma once

#include <string>
#include <vector>

#include "config/problem.h"

namespace volley::config {

/// What `config check` and `--check` say of one file.
struct Report {
    std::string file;
    bool readable = true;
    std::string unreadable;  ///< why, when it is not
    std::vector<Problem> problems;
    std::vector<std::string> warnings;  ///< what is valid, and perhaps not meant
    [[nodiscard]] bool valid() const { return readable && problems.empty(); }
};

/// Loads and judges a file without an EAL; throws nothing about its content.
Report check_file(const std::string& path, const std::vector<std::string>& sets = {});
/// {"files": [{"file", "valid", "error", "problems": […], "warnings": […]}, …]} on one line.
std::string to_json(const std::vector<Report>& reports);
/// The exit code of the contract: 0, 65 for bad content, 66 for a file that cannot be read (which comes
/// first).
int exit_code(const std::vector<Report>& reports);

}  // namespace volley::config
