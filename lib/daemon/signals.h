#pragma once

#include <chrono>
#include <optional>

namespace volley::daemon {

/// Blocks SIGTERM, SIGINT, SIGHUP and SIGUSR1 in this thread and all that it starts later: call it first in
/// main, so that none is lost while the EAL comes up. SIGPIPE is ignored: a reader that goes away is an error
/// code, not an end.
void block_signals();

/// The blocked signals as a descriptor that control waits on. Throws std::system_error.
class Signals {
  public:
    Signals();
    ~Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

    /// The next signal, waiting for at most `patience`; nothing when none came.
    std::optional<int> wait(std::chrono::milliseconds patience) const;

  private:
    int fd_;
};

}  // namespace volley::daemon
