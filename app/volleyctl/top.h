#pragma once

#include <CLI/App.hpp>

#include "volleyctl/client.h"

namespace volley::ctl {

/// `volleyctl top`: the live view in a terminal. It reads the event stream like any client, so the daemon
/// never waits for it, and it looks for a daemon that went away until it is back.
class TopCommand {
  public:
    TopCommand(CLI::App& app, const Place& place);
    [[nodiscard]] bool parsed() const { return command_->parsed(); }
    /// Until `q` or a signal; the terminal is as it was before, whatever ends it. Returns the exit code.
    int run();

  private:
    int print_once();

    CLI::App* command_;
    const Place& place_;
    bool json_ = false;
};

}  // namespace volley::ctl
