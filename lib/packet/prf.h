#pragma once

#include <cstdint>

#include "base/int128.h"

namespace volley::packet {

// Every draw is a function of (key, counter) alone: packet i of a stream must be the same for any worker, at
// any time, in any order. The functions are always inlined, because the stamping code is compiled for several
// instruction sets and must not share an out-of-line copy with code for an older one.

inline constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

/// A bijection of 64 bits in which every input bit reaches every output bit (the finaliser of SplitMix64:
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
[[gnu::always_inline]] constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/// 64 random bits of draw number `counter`.
[[gnu::always_inline]] constexpr std::uint64_t draw(std::uint64_t key, std::uint64_t counter) {
    return mix(key + counter * golden);
}

/// Scales 64 random bits to [0, range), range at most 2^32. The bias is below range / 2^64.
[[gnu::always_inline]] constexpr std::uint64_t scale(std::uint64_t bits, std::uint64_t range) {
    return ((bits >> 32) * range + (((bits & 0xffffffff) * range) >> 32)) >> 32;
}

/// A key that differs for every (seed, name), so that fields of equal seed draw independently.
std::uint64_t key_of(std::uint64_t seed, const char* name, std::size_t length);

/// Uniform draw from [0, last] for any width, without bias (rejection; two rounds on average at most).
Uint128 draw_wide(std::uint64_t key, std::uint64_t counter, Uint128 last);

/// Permutation of [0, last]: a Feistel network over the next even power of two, walked until it falls in
/// range.
Uint128 permuted(std::uint64_t key, Uint128 x, Uint128 last);

}  // namespace volley::packet
