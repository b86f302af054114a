#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

#include "volleyctl/offline.h"

namespace volley::ctl {

/// `volleyctl explain CONFIG`: each stream's frame byte by byte, what varies in it and how, its tuples, sizes
/// and rate arithmetic. No device, no EAL, any user.
class ExplainCommand {
  public:
    explicit ExplainCommand(CLI::App& app);
    [[nodiscard]] bool parsed() const { return verb_->parsed(); }
    /// Returns the exit code.
    [[nodiscard]] int run() const;

  private:
    [[nodiscard]] int explain() const;

    CLI::App* verb_;
    CompileOptions compile_;
    std::string stream_;
    std::uint64_t index_ = 0;
    bool json_ = false;
};

}  // namespace volley::ctl
