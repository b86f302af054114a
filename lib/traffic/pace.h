#pragma once

#include <cstdint>

#include "base/int128.h"
#include "base/tsc.h"
#include "base/units.h"

namespace volley::traffic {

/// The exact time between two packets of a stream: num/den ticks. Every due tick is a floor of an exact sum
/// of these, so nothing drifts however long a run is: a due is before a whole tick T if and only if its floor
/// is.
struct Interval {
    Uint128 num = 0;        ///< below 2^98: tsc_hz (below 2^34) times a 64-bit denominator
    std::uint64_t den = 1;  ///< below 2^63, so that the sum of two fractions fits 64 bits
    bool operator==(const Interval&) const = default;
};

/// A point or span of time: whole ticks and fraction/den of the next, over the den of an Interval.
struct Ticks {
    std::uint64_t whole = 0;
    std::uint64_t fraction = 0;
    bool operator==(const Ticks&) const = default;
};

/// Spans at and above this are refused at compile time, so that no due tick ever wraps.
inline constexpr std::uint64_t longest_step = std::uint64_t{1} << 60;

/// The interval of `pps` packets per second on a clock of tsc_hz (below 2^34). pps must not be zero. A
/// numerator of 64 bits loses its last bit (a part in 2^63).
Interval interval_of(Rational pps, std::uint64_t tsc_hz) noexcept;

/// Exactly `packets` intervals; whole saturates at ~0.
Ticks span_of(Interval interval, std::uint64_t packets) noexcept;

/// at + span, both over the same den.
constexpr Ticks plus(Ticks at, Ticks span, std::uint64_t den) noexcept {
    at.whole += span.whole;
    at.fraction += span.fraction;
    if (at.fraction >= den) {
        at.fraction -= den;
        ++at.whole;
    }
    return at;
}

/// How many packets of a line whose next one is at `next` fall due before tick `end`; saturates at ~0.
std::uint64_t packets_before(Ticks next, Tsc end, Interval interval) noexcept;

/// The fewest whole steps of `packets` intervals that bring `at` to `now` or later; 0 if it is there already.
std::uint64_t steps_until(Ticks at, Tsc now, Interval interval, std::uint64_t packets) noexcept;

/// at + steps * packets intervals, exactly. The sum must stay below 2^64 ticks.
Ticks after_steps(Ticks at, std::uint64_t steps, Interval interval, std::uint64_t packets) noexcept;

/// Packets due in [0, duration): ceil(duration * pps), exactly; saturates at ~0.
std::uint64_t packets_in(Duration duration, Rational pps) noexcept;

/// Whole ticks of a duration, rounded down: `packets_before` then agrees with `packets_in` whenever duration
/// * pps is whole.
constexpr Tsc ticks_of(Duration duration, std::uint64_t tsc_hz) noexcept {
    const Uint128 ticks = static_cast<Uint128>(duration.ns) * tsc_hz / 1'000'000'000;
    return ticks > ~Tsc{0} ? ~Tsc{0} : static_cast<Tsc>(ticks);
}

/// Ticks per packet as a floating value, for ratios of rates; never for a schedule.
double approximate(Interval interval) noexcept;

}  // namespace volley::traffic
