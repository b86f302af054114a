#include "port/link_watch.h"

namespace volley::port {
namespace {

constexpr std::uint64_t flapping = 4;  // changes of a link that is being waited for

}  // namespace

bool LinkWatch::speed_right() const noexcept {
    if (link_.speed_bps == 0) return false;
    return !settings_.wanted_bps || link_.speed_bps == *settings_.wanted_bps;
}

LinkWatch::State LinkWatch::next(std::uint64_t now_ns) const {
    const std::uint64_t stood = now_ns - since_ns_;
    switch (state_) {
        case State::up:
        case State::lost:
            return link_.up ? State::up : State::lost;
        case State::failed:
            return State::failed;
        case State::waiting:
        case State::settling:
            break;
    }
    if (link_.up && looks_ == 1 && speed_right()) return State::up;
    if (link_.up && stood >= settings_.settle.ns && speed_right()) return State::up;
    if (link_.up && stood >= settings_.speed_patience.ns)
        return link_.speed_bps == 0 ? State::up : State::failed;
    if (now_ns - started_ns_ >= settings_.patience.ns) return State::failed;
    return link_.up ? State::settling : State::waiting;
}

std::string LinkWatch::explain() const {
    const std::string changed = std::to_string(changes_) + " changes";
    switch (state_) {
        case State::up:
            return link_.speed_bps != 0 ? ""
                                        : "up, but at a speed that the device does not tell; rates in % take "
                                          "the port's \"speed\"";
        case State::lost:
            return "link lost: packets wait in the device; check cable, module and the far end";
        case State::waiting:
            if (changes_ >= flapping)
                return "link flaps (" + changed + "): check module, cable and the far end";
            return "no link: check cable and module, or set the interface up";
        case State::settling:
        case State::failed:
            break;
    }
    if (changes_ >= flapping && !(link_.up && state_ == State::failed && !speed_right()))
        return "link flaps (" + changed + "): check module, cable and the far end";
    if (!link_.up) return "no link: check cable and module, or set the interface up";
    if (link_.speed_bps == 0) return "up, but its speed is not known yet";
    if (!speed_right()) {
        return "a link of " + speed_text(link_.speed_bps) + ", but the port's \"speed\" is " +
               speed_text(*settings_.wanted_bps) + ": correct \"speed\", or the cabling";
    }
    return "link came up and must stay up for a moment";
}

LinkWatch::Step LinkWatch::look(const Link& link, std::uint64_t now_ns) {
    if (looks_ == 0) {
        started_ns_ = since_ns_ = retry_ns_ = now_ns;
    } else if (link.up != link_.up) {
        since_ns_ = now_ns;
        ++changes_;
    }
    ++looks_;
    link_ = link;
    const State to = next(now_ns);
    Step step;
    step.changed = to != state_;
    state_ = to;
    reason_ = explain();
    if (state_ == State::waiting && now_ns - retry_ns_ >= settings_.retry_interval.ns) {
        retry_ns_ = now_ns;
        step.retry = true;
    }
    return step;
}

}  // namespace volley::port
