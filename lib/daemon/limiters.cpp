#include "daemon/limiters.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string>

#include "dpdk/error.h"

namespace volley::daemon {
namespace {

// Frames with FCS, shared evenly by the stream's queues.
std::uint64_t bits_a_queue(const traffic::StreamPlan& stream) {
    const auto ratio = [](Rational r) {
        return static_cast<long double>(r.num) / static_cast<long double>(r.den);
    };
    const long double queues = static_cast<long double>(stream.workers.size());
    return static_cast<std::uint64_t>(
        std::llround(ratio(stream.pps) * ratio(stream.mean_l2_bytes) * 8 / queues));
}

}  // namespace

Limiters::Wanted Limiters::wanted_by(const traffic::Plan& plan) const {
    Wanted out(road_.lanes().size());
    for (const traffic::StreamPlan& stream : plan.streams) {
        if (!stream.hardware || stream.pps.num == 0) continue;
        for (std::size_t i = 0; i < out.size(); ++i) {
            const worker::TxLane& lane = *road_.lanes()[i];
            const auto& workers = stream.workers;
            if (lane.port != stream.port ||
                std::find(workers.begin(), workers.end(), lane.index) == workers.end())
                continue;
            out[i] = config::limiter_for(bits_a_queue(stream));
        }
    }
    return out;
}

void Limiters::set(std::size_t lane, std::uint32_t mbps) const {
    const worker::TxLane& of = *road_.lanes()[lane];
    road_.ports()[of.port]->limit_queue(static_cast<std::uint16_t>(of.index), mbps);
}

void Limiters::hold(const traffic::Plan& plan) {
    const Wanted wanted = wanted_by(plan);
    held_.resize(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!wanted[i]) continue;
        const port::Port& port = *road_.ports()[road_.lanes()[i]->port];
        const Links::View link = links_.view(road_.lanes()[i]->port);
        if (link.up && link.speed_bps == 0) {
            throw dpdk::Error("limiting the queues of port " + port.name(), ENODATA,
                              "its device does not tell the link's speed; use \"pacing\": \"software\"");
        }
        if (link.up && wanted[i]->mbps < config::least_limit_mbps(link.speed_bps)) {
            throw dpdk::Error("limiting the queues of port " + port.name() + " to " +
                                  std::to_string(wanted[i]->mbps) + " Mbit/s",
                              ERANGE,
                              "on this link the device's limiter starts at " +
                                  std::to_string(config::least_limit_mbps(link.speed_bps)) +
                                  " Mbit/s; use \"pacing\": \"software\"");
        }
        if (link.up) set(i, wanted[i]->mbps);  // else renew() does, when it is
        held_[i] = wanted[i];
        if (std::abs(wanted[i]->error_ppm()) >= 1) {
            spdlog::warn("port {} queue {}: asked for {} bit/s, its limiter is set to {} ({:+.0f} ppm)",
                         port.name(), road_.lanes()[i]->index, wanted[i]->asked_bps, wanted[i]->set_bps(),
                         wanted[i]->error_ppm());
        }
    }
    publish();
}

void Limiters::let_go(const traffic::Plan& plan) {
    const Wanted wanted = wanted_by(plan);
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (!held_[i] || wanted[i]) continue;
        held_[i].reset();
        set(i, 0);
    }
    publish();
}

void Limiters::renew(std::size_t port) noexcept {
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (!held_[i] || road_.lanes()[i]->port != port) continue;
        try {
            set(i, held_[i]->mbps);
        } catch (const std::exception& error) {
            spdlog::error("{}; the queue is not held", error.what());
        }
    }
}

void Limiters::publish() {
    const std::lock_guard lock(mutex_);
    shown_ = held_;
}

std::optional<telemetry::LimiterTotals> Limiters::view(std::size_t lane) const {
    const std::lock_guard lock(mutex_);
    if (lane >= shown_.size() || !shown_[lane]) return std::nullopt;
    return telemetry::LimiterTotals{shown_[lane]->asked_bps, shown_[lane]->set_bps(),
                                    shown_[lane]->error_ppm()};
}

}  // namespace volley::daemon
