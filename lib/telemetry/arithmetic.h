#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "base/units.h"
#include "telemetry/snapshot.h"

namespace volley::telemetry {

/// Difference of two readings of a counter. A device that was reset counts from 0 again: that is 0, never
/// 2^64 - n.
constexpr std::uint64_t since(std::uint64_t earlier, std::uint64_t now) noexcept {
    return now > earlier ? now - earlier : 0;
}

/// Sums that reach 2^64 stay at 2^64 - 1: a number that is plainly at its end misleads less than a small one.
constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept {
    return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max()
                                                             : a + b;
}
constexpr std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b) noexcept {
    return b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b
               ? std::numeric_limits<std::uint64_t>::max()
               : a * b;
}

/// Bytes of frames with FCS, of a count without.
constexpr std::uint64_t l2_bytes(std::uint64_t bytes, std::uint64_t packets) noexcept {
    return saturating_add(bytes, saturating_mul(packets, fcs_bytes));
}

/// Rates of packets and bytes (without FCS) counted in elapsed_ns; none when no time passed.
inline Rates rates_of(std::uint64_t packets, std::uint64_t bytes, std::uint64_t elapsed_ns) noexcept {
    if (elapsed_ns == 0) return {};
    const double per_second = 1e9 / static_cast<double>(elapsed_ns);
    const auto count = static_cast<double>(packets);
    const double l2 = static_cast<double>(bytes) + count * fcs_bytes;
    return {count * per_second, l2 * 8 * per_second, (l2 + count * l1_overhead_bytes) * 8 * per_second};
}

/// The value of an exact rate; none for a denominator of 0, which a Rational never has.
inline std::optional<double> value_of(const Rational& rate) noexcept {
    if (rate.den == 0) return std::nullopt;
    return static_cast<double>(rate.num) / static_cast<double>(rate.den);
}

}  // namespace volley::telemetry
