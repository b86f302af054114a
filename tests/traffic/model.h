#pragma once

// An independent slow model: every figure from its closed formula, nothing carried from burst to burst.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "traffic/lane_schedule.h"

namespace volley::traffic::model {

inline constexpr std::uint64_t hz = 2'300'000'000;

/// floor(at + packets * hz / pps)
inline Tsc due_of_packet(Tsc at, Uint128 packets, Rational pps, std::uint64_t tsc_hz = hz) {
    return at + static_cast<Tsc>(packets * tsc_hz * pps.den / pps.num);
}

inline std::uint64_t ceil_div(Uint128 num, Uint128 den) {
    return static_cast<std::uint64_t>((num + den - 1) / den);
}

inline LaneStream stream(std::uint32_t slot, Rational pps, std::uint32_t burst, std::uint32_t lanes = 1,
                         std::uint32_t lane = 0) {
    LaneStream out;
    out.slot = {slot};
    out.pps = pps;
    out.burst = burst;
    out.lanes = lanes;
    out.first = (lane + lanes - slot % lanes) % lanes;
    return out;
}

inline LaneStream max_stream(std::uint32_t slot, std::uint32_t burst, std::uint32_t weight = 1) {
    LaneStream out = stream(slot, {0, 1}, burst);
    out.max = true;
    out.weight = weight;
    return out;
}

/// Asks for everything that falls due by `until`, with now = until, so that no fill is late by more than the
/// portion.
inline std::vector<TemplateBurst> all_until(LaneSchedule& lane, Tsc now, Tsc until) {
    std::vector<TemplateBurst> out;
    TemplateBurst portion[64];
    for (;;) {
        const std::uint32_t n = lane.fill(now, until, 64, 0, portion);
        out.insert(out.end(), portion, portion + n);
        if (n < 64) return out;
    }
}

/// A lane that is looked after every 0.1 ms from `from` to `to`, both included.
inline std::vector<TemplateBurst> attended(LaneSchedule& lane, Tsc from, Tsc to) {
    std::vector<TemplateBurst> out;
    for (Tsc now = from;; now = std::min(to, now + hz / 10'000)) {
        const auto part = all_until(lane, now, now);
        out.insert(out.end(), part.begin(), part.end());
        if (now == to) return out;
    }
}

/// True if the bursts, in any order, hold every index of 0..count-1 exactly once.
inline bool hold_each_index_once(std::vector<TemplateBurst> bursts, std::uint64_t count) {
    std::sort(bursts.begin(), bursts.end(),
              [](const TemplateBurst& a, const TemplateBurst& b) { return a.first_index < b.first_index; });
    std::uint64_t next = 0;
    for (const TemplateBurst& burst : bursts) {
        if (burst.first_index != next || burst.count == 0) return false;
        next += burst.count;
    }
    return next == count;
}

}  // namespace volley::traffic::model
