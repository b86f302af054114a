#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "worker/rx_counters.h"

namespace volley::daemon {

/// Packets of a stream that one RX worker expects, by group of lanes.
using ExpectedByLane = std::array<std::uint64_t, worker::StreamRx::lane_groups>;

/// Packets that a stream's receivers together expect of it: of each lane what the one does that saw furthest,
/// for each may see other lanes and other packets of them. Never less than arrived: `unique` different
/// packets.
inline std::uint64_t expected_of(std::span<const ExpectedByLane> workers, std::uint64_t unique) {
    std::uint64_t sum = 0;
    for (std::size_t lane = 0; lane < worker::StreamRx::lane_groups; ++lane) {
        std::uint64_t furthest = 0;
        for (const ExpectedByLane& worker : workers) furthest = std::max(furthest, worker[lane]);
        sum += furthest;
    }
    return std::max(sum, unique);
}

}  // namespace volley::daemon
