#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace volley::daemon {

/// What systemd is told (sd_notify(3)), by control. Without NOTIFY_SOCKET all of it does nothing.
class Systemd {
  public:
    using Clock = std::chrono::steady_clock;

    Systemd();

    void ready();      ///< ports are up
    void reloading();  ///< until the next ready()
    void stopping();
    /// One line for `systemctl status`; sent when it differs from the one before.
    void status(const std::string& text);
    /// Keeps the watchdog quiet, twice in its time, if every heartbeat has moved since it was last told.
    /// Heartbeats in the same order at each call.
    void watch(Clock::time_point now, const std::vector<std::uint64_t>& heartbeats);

  private:
    void tell(const std::string& text) const;

    std::optional<Clock::duration> watchdog_;  ///< half its time
    Clock::time_point next_{};
    std::vector<std::uint64_t> heartbeats_;
    std::string status_;
};

}  // namespace volley::daemon
