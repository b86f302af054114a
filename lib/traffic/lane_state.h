#pragma once

#include <cstdint>

#include "base/cache_line.h"
#include "base/tsc.h"
#include "packet/template.h"
#include "traffic/lane_stream.h"
#include "traffic/pace.h"
#include "traffic/shape.h"

namespace volley::traffic::lane {

// What is special about a line; none of it for the plain paced streams that make up the hot path.
inline constexpr std::uint8_t at_max = 1;
inline constexpr std::uint8_t broken = 2;  ///< index stands within an own burst, of which the rest is next
inline constexpr std::uint8_t curved = 4;  ///< on a ramp: dues come from a formula, not from a step
inline constexpr std::uint8_t random = 8;  ///< Poisson departures: fraction is in 2^-32 ticks
inline constexpr std::uint8_t jittered = 16;
inline constexpr std::uint8_t recorded = 32;  ///< dues and the next index come from a recording

/// What each burst reads and writes: one cache line. The due tick is in the heap.
struct alignas(cache_line) Line {
    std::uint64_t fraction;       ///< of the due tick, over denominator
    std::uint64_t step_whole;     ///< one lane step: lanes * burst * interval; max: its stride
    std::uint64_t step_fraction;  ///< over denominator
    std::uint64_t denominator;
    std::uint64_t index;  ///< first packet of the next own burst
    std::uint64_t limit;  ///< no packet from here on: count, duration, leg and end, whichever is first
    const packet::PacketTemplate* packet;
    std::uint32_t slot;
    std::uint16_t burst;
    std::uint8_t lanes;
    std::uint8_t special;
};
static_assert(sizeof(Line) == cache_line);

/// What is needed when something changes: start, slip, adoption.
struct Terms {
    LaneStream spec;
    Interval interval;
    Tsc due = 0;         ///< of a stream that stands in no heap; jittered: its place on the time line, always
    Tsc served = 0;      ///< max: packets by weight at adoption, counted from the least served
    Tsc lead = 0;        ///< how far the due is behind the packet's own due: the phase, scaled with the rate
    Tsc begin = 0;       ///< max: not before
    Tsc stop = ~Tsc{0};  ///< max: not from here on
    std::uint64_t end_limit = endless;
    std::uint64_t duration_limit = endless;
    std::uint64_t leg_limit = endless;
    std::uint64_t slips = 0;
    std::uint64_t slipped_packets = 0;
    std::uint32_t next_slipped = no_stream;
    std::uint32_t route = no_stream;  ///< of a stream with a shape
    bool placed = false;              ///< adopt() is done with it
};

/// Where a stream stands in its shape, and a chain in its loops.
struct Route {
    Instant origin;  ///< when the leg begins, the phase included
    std::uint64_t leg_base =
        0;  ///< index of the leg's first packet (modulo 2^64: a changed rate may set it before 0)
    std::uint64_t run_base =
        0;  ///< index of the first packet of this run through the shape, or of the next one
    std::uint64_t round = 0;
    std::uint64_t loop = 0;  ///< of a chain's head: runs of the chain that are over
    std::uint32_t leg = 0;
    bool active = false;  ///< its turn in the chain
    /// Left to do once all streams are carried, for it may be another's turn then.
    enum class Then : std::uint8_t { nothing, begin, leave } then = Then::nothing;
};

}  // namespace volley::traffic::lane
