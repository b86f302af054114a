#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace volley::ctl {

/// What may stand in place of the last of the words, a line each, for conf/volleyctl.bash. The words are
/// those after the program's name; the last may be empty. Names of streams and ports come from the daemon, if
/// one answers. Returns 0.
int complete(CLI::App& app, const std::vector<std::string>& words);

}  // namespace volley::ctl
