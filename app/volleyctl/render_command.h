#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "volleyctl/offline.h"

namespace volley::ctl {

/// `volleyctl render CONFIG -n N -o out.pcap`: what volleyd would send, with the times at which it would,
/// into a capture file. No device, no EAL, any user.
class RenderCommand {
  public:
    explicit RenderCommand(CLI::App& app);
    [[nodiscard]] bool parsed() const { return verb_->parsed(); }
    /// Returns the exit code.
    [[nodiscard]] int run() const;

  private:
    [[nodiscard]] int render() const;

    CLI::App* verb_;
    CompileOptions compile_;
    std::optional<std::uint64_t> packets_;
    std::string out_;
    std::string port_;
    std::string stream_;
    bool json_ = false;
};

}  // namespace volley::ctl
