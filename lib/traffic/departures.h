#pragma once

#include <cstdint>

#include "base/tsc.h"

namespace volley::traffic {

/// A span in ticks and 2^-32 parts.
struct Gap32 {
    Tsc whole;
    std::uint64_t fraction;
};

/// The exponential gap before burst `ordinal`, of mean `mean_ticks`. A pure function of its arguments: every
/// lane reckons the same dues.
Gap32 poisson_gap(std::uint64_t seed, std::uint64_t ordinal, double mean_ticks) noexcept;

/// How much later than its place the burst that begins with packet `index` leaves: uniform in [0, most).
Tsc jitter_of(std::uint64_t seed, std::uint64_t index, Tsc most) noexcept;

}  // namespace volley::traffic
