#include "daemon/systemd.h"
#include "base/clock.h"

#include <systemd/sd-daemon.h>

namespace volley::daemon {

Systemd::Systemd() {
    std::uint64_t us = 0;
    if (sd_watchdog_enabled(0, &us) > 0) watchdog_ = std::chrono::microseconds(us / 2);
}

void Systemd::tell(const std::string& text) const {
    sd_notify(0, text.c_str());
}

void Systemd::ready() {
    tell("READY=1");
}

// systemd 252 has no notify-reload, but the time is what later ones ask for.
void Systemd::reloading() {
    tell("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(clock_ns(CLOCK_MONOTONIC) / 1000));
}

void Systemd::stopping() {
    tell("STOPPING=1");
}

void Systemd::status(const std::string& text) {
    if (text == status_) return;
    status_ = text;
    tell("STATUS=" + text);
}

void Systemd::watch(Clock::time_point now, const std::vector<std::uint64_t>& heartbeats) {
    if (!watchdog_ || now < next_) return;
    if (heartbeats_.size() != heartbeats.size()) heartbeats_.assign(heartbeats.size(), ~std::uint64_t{0});
    for (std::size_t i = 0; i < heartbeats.size(); ++i) {
        if (heartbeats[i] == heartbeats_[i]) {  // it hangs, or has not had its CPU yet: looked at again soon,
                                                // and told when it moves
            next_ = now + *watchdog_ / 8;
            return;
        }
    }
    heartbeats_ = heartbeats;
    next_ = now + *watchdog_;
    tell("WATCHDOG=1");
}

}  // namespace volley::daemon
