#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>

#include "worker/rx_counters.h"

namespace volley::daemon {

/// Packets of a stream that one RX worker expects, by group of lanes.
using ExpectedByLane = std::array<std::uint64_t, worker::StreamRx::lane_groups>;

/// Packets that a stream's receivers together expect of it: of each lane what the one does that saw furthest,
/// for each may see other lanes and other packets of them.
inline std::uint64_t expected_of(std::span<const ExpectedByLane> workers) {
    std::uint64_t sum = 0;
    for (std::size_t lane = 0; lane < worker::StreamRx::lane_groups; ++lane) {
        std::uint64_t furthest = 0;
        for (const ExpectedByLane& worker : workers) furthest = std::max(furthest, worker[lane]);
        sum += furthest;
    }
    return sum;
}

/// How many of the packets that ports received, each without its own duplicates, are copies of what another
/// one received. Where together they have more than was expected of the stream, the one that has most tells
/// what arrived of it at all, for what the others have besides is not known: a mirror, a flooding bridge.
/// Where not, the stream is spread over them, and none is a copy.
inline std::uint64_t copies_among(std::span<const std::uint64_t> ports, std::uint64_t expected) {
    const std::uint64_t sum = std::accumulate(ports.begin(), ports.end(), std::uint64_t{0});
    return sum > expected ? sum - *std::max_element(ports.begin(), ports.end()) : 0;
}

}  // namespace volley::daemon
