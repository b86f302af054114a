#include "daemon/links.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "dpdk/error.h"

namespace volley::daemon {
namespace {

using State = port::LinkWatch::State;

std::uint64_t unix_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
}

void tell(const std::string& name, const port::LinkWatch& watch) {
    switch (watch.state()) {
        case State::up:
            spdlog::info("port {}: link up{}{}", name,
                         watch.link().speed_bps != 0 ? " at " + speed_text(watch.link().speed_bps) : "",
                         watch.reason().empty() ? "" : "; " + watch.reason());
            break;
        case State::lost:
            spdlog::warn("port {}: {}", name, watch.reason());
            break;
        case State::waiting:
        case State::settling:
            spdlog::info("port {} waits: {}", name, watch.reason());
            break;
        case State::failed:
            break;  // ready() throws it
    }
}

}  // namespace

Links::Links(const Ports& ports) : ports_(ports), views_(ports.size()) {
    for (const auto& port : ports_) {
        port::LinkWatch::Settings settings;
        settings.wanted_bps = port->settings().speed_bps;
        watches_.emplace_back(settings);
    }
}

void Links::look(std::uint64_t now_ns) {
    for (std::size_t p = 0; p < ports_.size(); ++p) {
        port::LinkWatch& watch = watches_[p];
        const bool first = views_[p].since_unix_ns == 0;
        const bool was_up = watch.link().up;
        const auto step = watch.look(ports_[p]->link(), now_ns);
        if (step.changed || (first && watch.state() == State::waiting)) tell(ports_[p]->name(), watch);
        if (step.changed && watch.state() == State::up) risen_.push_back(p);
        if (step.retry) {
            spdlog::info("port {}: asking for its link once more; {}", ports_[p]->name(), watch.reason());
            ports_[p]->ask_for_link();
        }
        const std::lock_guard lock(mutex_);
        View& view = views_[p];
        if (first || was_up != watch.link().up) view.since_unix_ns = unix_ns();
        view.up = watch.link().up;
        view.speed_bps = watch.link().speed_bps;
        view.reason = watch.reason();
    }
}

bool Links::ready() const {
    for (std::size_t p = 0; p < ports_.size(); ++p) {
        if (watches_[p].state() != State::failed) continue;
        const bool speed = watches_[p].link().up;
        throw dpdk::Error("waiting for the link of port " + ports_[p]->name(), speed ? EINVAL : ENETDOWN,
                          watches_[p].reason());
    }
    return std::all_of(watches_.begin(), watches_.end(), [](const port::LinkWatch& watch) {
        return watch.state() == State::up || watch.state() == State::lost;
    });
}

std::vector<std::size_t> Links::take_risen() {
    return std::exchange(risen_, {});
}

Links::View Links::view(std::size_t port) const {
    const std::lock_guard lock(mutex_);
    return views_[port];
}

}  // namespace volley::daemon
