#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "volleyctl/client.h"

namespace volley::ctl {

/// `volleyctl config check FILE…` and `config show FILE` need no daemon; `config show`, `config diff FILE`
/// and `config push FILE` ask one.
class ConfigCommands {
  public:
    ConfigCommands(CLI::App& app, const Place& place);
    /// Runs the one that was parsed; returns the exit code.
    [[nodiscard]] int run() const;

  private:
    [[nodiscard]] int check() const;
    [[nodiscard]] int show() const;
    [[nodiscard]] int show_running() const;
    [[nodiscard]] int diff() const;
    [[nodiscard]] int push() const;

    const Place& place_;
    CLI::App* check_ = nullptr;
    CLI::App* show_ = nullptr;
    CLI::App* diff_ = nullptr;
    CLI::App* push_ = nullptr;
    std::vector<std::string> files_;
    std::string file_;
    std::vector<std::string> sets_;
    std::string etag_;
    bool json_ = false;
};

}  // namespace volley::ctl
