#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace volley::ctl {

/// `volleyctl config check FILE…` and `volleyctl config show FILE`: no daemon, no EAL, any user.
class ConfigCommands {
  public:
    explicit ConfigCommands(CLI::App& app);
    /// Runs the one that was parsed; returns the exit code.
    [[nodiscard]] int run() const;

  private:
    [[nodiscard]] int check() const;
    [[nodiscard]] int show() const;

    CLI::App* check_ = nullptr;
    CLI::App* show_ = nullptr;
    std::vector<std::string> files_;
    std::string file_;
    std::vector<std::string> sets_;
    bool json_ = false;
};

}  // namespace volley::ctl
