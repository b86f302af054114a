#pragma once

#include <CLI/App.hpp>
#include <map>
#include <string>

namespace volley::ctl {

/// `volleyctl import pktgen SCRIPT`: a script for the kernel's packet generator as a configuration on stdout;
/// what has no equivalent is named on stderr. No daemon, any user.
class ImportCommand {
  public:
    explicit ImportCommand(CLI::App& app);
    [[nodiscard]] bool parsed() const { return pktgen_->parsed(); }
    /// Returns the exit code.
    [[nodiscard]] int run() const;

  private:
    [[nodiscard]] int import_pktgen() const;

    CLI::App* pktgen_ = nullptr;
    std::string script_;
    std::map<std::string, std::string> options_;  ///< by the variable that the sample scripts give them
    bool ipv6_ = false;
};

}  // namespace volley::ctl
