#include "traffic/departures.h"

#include <cmath>

#include "base/int128.h"

namespace volley::traffic {
namespace {

// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): neighbouring indices give independent
// bits.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t x = seed + (index + 1) * 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

}  // namespace

Gap32 poisson_gap(std::uint64_t seed, std::uint64_t ordinal, double mean_ticks) noexcept {
    const double uniform = static_cast<double>((mixed(seed, ordinal) >> 11) + 1) * 0x1p-53;  // (0, 1]
    const double gap = -std::log(uniform) * mean_ticks;
    const auto whole = static_cast<Tsc>(gap);
    return {whole, static_cast<std::uint64_t>((gap - static_cast<double>(whole)) * 0x1p32)};
}

Tsc jitter_of(std::uint64_t seed, std::uint64_t index, Tsc most) noexcept {
    return static_cast<Tsc>((static_cast<Uint128>(mixed(seed, index)) * most) >> 64);
}

}  // namespace volley::traffic
