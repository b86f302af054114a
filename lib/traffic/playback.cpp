#include "traffic/playback.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/units.h"
#include "packet/plan.h"
#include "packet/rotation_plan.h"

namespace volley::traffic {
namespace {

constexpr std::uint64_t assumed_bps = 10'000'000'000;

packet::FrameWindow* window_of(const TemplateBurst& burst) {
    const packet::Rotation* rotation = burst.packet->plan().rotation;
    return rotation == nullptr ? nullptr : rotation->window.get();
}

}  // namespace

Playback::Playback(const Plan& plan, std::vector<std::uint64_t> link_bps, std::uint64_t tsc_hz)
    : plan_(plan), tsc_hz_(tsc_hz) {
    for (std::uint32_t port = 0; port < plan.lanes.size(); ++port) {
        const std::uint64_t bps = port < link_bps.size() ? link_bps[port] : 0;
        wires_.push_back({bps == 0 ? assumed_bps : bps, plan.epoch, 0});
        for (std::uint32_t worker = 0; worker < plan.lanes[port].size(); ++worker) {
            Lane lane;
            lane.schedule = plan.lanes[port][worker].get();
            lane.port = port;
            lane.worker = worker;
            lane.now = plan.epoch;
            lane.schedule->adopt(nullptr, plan.epoch);
            lanes_.push_back(std::move(lane));
        }
    }
}

Tsc Playback::free_at(const Wire& wire) const {
    return wire.since + mul_div(wire.bits, tsc_hz_, wire.bps);
}

// The base moves on once a second, so that the count of bits stays small.
void Playback::occupy(Wire& wire, const TemplateBurst& burst) const {
    if (burst.due > free_at(wire)) wire = {wire.bps, burst.due, 0};
    std::array<std::uint16_t, packet::max_burst> lengths{};
    burst.packet->lengths(burst.first_index, burst.count, lengths.data());
    for (std::uint32_t k = 0; k < burst.count; ++k) {
        wire.bits += (std::uint64_t{lengths[k]} + fcs_bytes + l1_overhead_bytes) * 8;
    }
    if (wire.bits >= wire.bps) {
        wire.bits -= wire.bps;
        wire.since += tsc_hz_;
    }
}

// Simulated time stands still until the files have been read far enough, or cannot be.
void Playback::await_files(const Lane& lane) const {
    while (lane.schedule->starved()) {
        for (const StreamPlan& stream : plan_.streams) {
            if (stream.feed != nullptr && !stream.feed->problem().empty())
                throw imports::Error(stream.feed->problem());
        }
        std::this_thread::sleep_for(std::chrono::microseconds{20});
    }
}

void Playback::fetch(Lane& lane) {
    // What follows a burst must be known when it is taken.
    const bool fed = lane.schedule->fed();
    const std::uint32_t most = fed ? 1 : 64;
    if (fed) await_files(lane);
    lane.bursts.resize(most);
    lane.head = 0;
    std::uint32_t n = 0;
    // A turn without a burst starts or stops a stream at max; a few bring the lane to its next burst.
    for (int turn = 0; n == 0 && turn < 1000; ++turn) {
        if (lane.schedule->has_max()) {
            lane.now = std::max(lane.now, free_at(wires_[lane.port]));
            n = lane.schedule->fill(lane.now, lane.now, 1, 1, lane.bursts.data());
            if (n != 0) break;
        }
        const Tsc due = lane.schedule->next_due(lane.now);
        if (due == ~Tsc{0} || lane.schedule->finished(lane.now)) break;
        lane.now = std::max(lane.now, due);
        n = lane.schedule->fill(lane.now, lane.now, most, 0, lane.bursts.data());
    }
    lane.bursts.resize(n);
    lane.over = n == 0;
}

std::optional<PlayedBurst> Playback::next() {
    if (done_.window != nullptr) done_.window->release(done_.index);  // whoever asked has seen the burst
    Lane* first = nullptr;
    for (Lane& lane : lanes_) {
        if (lane.head == lane.bursts.size() && !lane.over) fetch(lane);
        if (lane.over) continue;
        if (first == nullptr || lane.bursts[lane.head].due < first->bursts[first->head].due) first = &lane;
    }
    if (first == nullptr) return std::nullopt;
    const TemplateBurst burst = first->bursts[first->head++];
    if (packet::FrameWindow* window = window_of(burst); window != nullptr)
        done_ = {window, burst.first_index + burst.count};
    occupy(wires_[first->port], burst);
    return PlayedBurst{first->port, first->worker, burst};
}

}  // namespace volley::traffic
