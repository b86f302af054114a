#pragma once

#include <cstdint>
#include <vector>

#include "base/tsc.h"
#include "base/units.h"
#include "traffic/pace.h"

namespace volley::traffic {

/// A tick and its 2^-64 parts: a common ground for lines of different denominators. What it is off adds up to
/// less than a tick in 2^64 legs.
struct Instant {
    Tsc whole = 0;
    std::uint64_t fraction = 0;
    bool operator==(const Instant&) const = default;
};
constexpr Instant operator+(Instant a, Instant b) noexcept {
    const std::uint64_t fraction = a.fraction + b.fraction;
    return {a.whole + b.whole + (fraction < a.fraction ? 1 : 0), fraction};
}
/// num/den ticks. The quotient must be below 2^64.
Instant instant_of(Uint128 num, std::uint64_t den) noexcept;
Instant instant_of(Ticks ticks, std::uint64_t den) noexcept;
/// Rounded down to a fraction over den.
Ticks ticks_over(Instant instant, std::uint64_t den) noexcept;

/// A stretch of a stream's time line: so many packets at one rate, or at a rate that changes evenly; then,
/// `span` after its first packet's due, the next leg begins.
struct Leg {
    std::uint64_t packets = 0;  ///< may be none: a pause
    Interval interval;          ///< constant rate; num 0: all packets are due at once
    bool ramp = false;
    double from = 0;   ///< ramp: packets per tick at its begin
    double slope = 0;  ///< ramp: packets per tick, per tick
    Instant span;
    bool timed = false;  ///< span is given, packets follow from the rate (otherwise the reverse)

    /// Ticks after the leg's begin at which packet `offset` of it falls due, before rounding. Ramps: within
    /// 1e-4 ticks.
    [[nodiscard]] double time_of(double offset) const noexcept;
    /// Packets due before `ticks` after the begin.
    [[nodiscard]] double packets_by(double ticks) const noexcept;
    /// Ticks per packet around that packet.
    [[nodiscard]] double interval_at(double offset) const noexcept;
    bool operator==(const Leg&) const = default;
};

/// A stream's time line where it is more than one rate for ever: legs one after the other, again and again
/// for `rounds` rounds, cut off after `packets`. Immutable.
struct Shape {
    std::vector<Leg> legs;
    std::uint64_t rounds = 1;                   ///< 0: endless
    std::uint64_t packets = ~std::uint64_t{0};  ///< of one run through the shape
    bool operator==(const Shape&) const = default;
};

/// Packets of the whole shape, `packets` included; ~0: endless.
std::uint64_t total_packets(const Shape& shape);
/// Packets due in the first `ticks` of the shape; exact but for ramps, where it is within one.
std::uint64_t packets_before(const Shape& shape, Instant ticks);

}  // namespace volley::traffic
