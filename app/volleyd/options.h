#pragma once

#include <optional>
#include <string>
#include <vector>

namespace volley::app {

/// The command line of volleyd.
struct CommandLine {
    std::string config;
    bool check = false;
    bool dump_config = false;
    bool live = false;
    bool version = false;
    std::vector<std::string> sets;  ///< with --duration and --multiplier among them
    std::string report;
    std::string log_level = "info";
    std::string log_format = "text";
};

/// Parses argv. Sets exit_code and returns nothing when the program should end at once: after --help (0) or a
/// usage error (64), which is then on stderr.
std::optional<CommandLine> parse_command_line(int argc, char** argv, int& exit_code);

/// What --version prints: ours, DPDK's of the build and of the run, the compiler.
std::string version_text();

/// Logs go to stderr: text for people, or one JSON object a line.
void set_up_logging(const CommandLine& line);

}  // namespace volley::app
