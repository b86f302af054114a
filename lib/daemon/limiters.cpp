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

void Limiters::set_or_tell(std::size_t lane, std::uint32_t mbps) const noexcept {
    try {
        set(lane, mbps);
    } catch (const std::exception& error) {
        spdlog::error("{}; the queue is not held", error.what());
    }
}

// What is known to be impossible is refused before any queue is touched.
void Limiters::check(std::size_t lane, const config::Limiter& wanted) const {
    const port::Port& port = *road_.ports()[road_.lanes()[lane]->port];
    const Links::View link = links_.view(road_.lanes()[lane]->port);
    if (!link.up) return;
    if (link.speed_bps == 0) {
        throw dpdk::Error("limiting the queues of port " + port.name(), ENODATA,
                          "its device does not tell the link's speed; use \"pacing\": \"software\"");
    }
    const std::uint32_t least = config::least_limit_mbps(link.speed_bps);
    if (wanted.mbps < least) {
        throw dpdk::Error(
            "limiting the queues of port " + port.name() + " to " + std::to_string(wanted.mbps) + " Mbit/s",
            ERANGE,
            "on this link the device's limiter starts at " + std::to_string(least) +
                " Mbit/s; use \"pacing\": \"software\"");
    }
}

void Limiters::hold(const traffic::Plan& plan) {
    const Wanted wanted = wanted_by(plan);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i]) check(i, *wanted[i]);
    }
    held_.resize(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!wanted[i]) continue;
        try {
            if (links_.view(road_.lanes()[i]->port).up)
                set(i, wanted[i]->mbps);  // else renew() does, when it is
        } catch (const dpdk::Error&) {
            put_back(wanted, i);
            throw;
        }
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!wanted[i]) continue;
        held_[i] = wanted[i];
        if (std::abs(wanted[i]->error_ppm()) >= 1) {
            spdlog::warn("port {} queue {}: asked for {} bit/s, its limiter is set to {} ({:+.0f} ppm)",
                         road_.ports()[road_.lanes()[i]->port]->name(), road_.lanes()[i]->index,
                         wanted[i]->asked_bps, wanted[i]->set_bps(), wanted[i]->error_ppm());
        }
    }
    publish();
}

// The plan in force goes on as it was: the queues before `refused` are held to what they were held to.
void Limiters::put_back(const Wanted& wanted, std::size_t refused) const noexcept {
    for (std::size_t i = 0; i < refused; ++i) {
        if (wanted[i]) set_or_tell(i, held_[i] ? held_[i]->mbps : 0);
    }
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
        set_or_tell(i, held_[i]->mbps);
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
