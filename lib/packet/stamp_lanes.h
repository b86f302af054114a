#pragma once

// Vectors of the instruction set that the including file is compiled for. For stamp.cpp alone: everything
// lies in the unnamed namespace, so that no function is shared between instruction sets.

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "packet/plan.h"
#include "packet/prf.h"

namespace volley::packet {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

#if defined(__AVX512F__)
constexpr u32 lanes = 16;
#elif defined(__AVX2__)
constexpr u32 lanes = 8;
#else
constexpr u32 lanes = 4;
#endif
static_assert(chunk % lanes == 0 && lanes <= vector_group);

using Vector [[gnu::vector_size(lanes * 4)]] = u32;
using Loose [[gnu::vector_size(lanes * 4), gnu::aligned(4), gnu::may_alias]] = u32;

[[gnu::always_inline]] inline Vector load(const u32* from) {
    return *reinterpret_cast<const Loose*>(from);
}
[[gnu::always_inline]] inline void save(u32* to, Vector value) {
    *reinterpret_cast<Loose*>(to) = value;
}

alignas(64) constexpr u32 counting[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

[[gnu::always_inline]] inline Vector swapped_bytes(Vector value) {
#if defined(__AVX512BW__)
    const __m512i order = _mm512_set4_epi32(0x0c0d0e0f, 0x08090a0b, 0x04050607, 0x00010203);
    return reinterpret_cast<Vector>(_mm512_shuffle_epi8(reinterpret_cast<__m512i>(value), order));
#elif defined(__AVX2__)
    const __m256i order = _mm256_setr_epi32(0x00010203, 0x04050607, 0x08090a0b, 0x0c0d0e0f, 0x00010203,
                                            0x04050607, 0x08090a0b, 0x0c0d0e0f);
    return reinterpret_cast<Vector>(_mm256_shuffle_epi8(reinterpret_cast<__m256i>(value), order));
#else
    const Vector words = (value & 0x00ff00ff) << 8 | (value >> 8 & 0x00ff00ff);
    return words << 16 | words >> 16;
#endif
}

/// The two 16-bit words of each value added up.
[[gnu::always_inline]] inline Vector words_of(Vector stored) {
    return (stored & 0xffff) + (stored >> 16);
}

[[gnu::always_inline]] inline u32 words_of(u32 stored) {
    return (stored & 0xffff) + (stored >> 16);
}
[[gnu::always_inline]] inline u32 folded(u32 sum) {
    return words_of(words_of(sum));
}
[[gnu::always_inline]] inline u32 folded(u64 sum) {
    const u32 low = words_of(static_cast<u32>(sum));
    return folded(low + words_of(static_cast<u32>(sum >> 32)));
}

[[gnu::always_inline]] inline u32 smaller(u64 a, u32 b) {
    return a < b ? static_cast<u32>(a) : b;
}

[[gnu::always_inline]] inline u64 quotient(const Divider& by, u64 x) {
    const u64 q = static_cast<u64>(static_cast<Uint128>(x) * by.magic >> 64);
    return q + (x - q * by.divisor >= by.divisor);
}

[[gnu::always_inline]] inline u64 remainder(const Divider& by, u64 x) {
    return by.divisor == 0 ? x : x - quotient(by, x) * by.divisor;
}

// Where values go. A sink is called with groups of lanes in order: sink(g, values of packets g..g+lanes-1).

/// As they are, for another column to be merged in.
struct Plain {
    u32* out;
    [[gnu::always_inline]] void operator()(u32 g, Vector value) const { save(out + g, value); }
};

/// As they stand in memory.
struct Stored {
    u32* out;
    [[gnu::always_inline]] void operator()(u32 g, Vector value) const { save(out + g, swapped_bytes(value)); }
};

/// As they stand in memory, and added to a checksum.
struct Summed {
    u32* out;
    u32* sum;
    [[gnu::always_inline]] void operator()(u32 g, Vector value) const {
        const Vector stored = swapped_bytes(value);
        save(out + g, stored);
        save(sum + g, load(sum + g) + words_of(stored));
    }
};

#if defined(__AVX2__)
using Vector64 [[gnu::vector_size(lanes * 4)]] = u64;
alignas(64) constexpr u64 counting64[8] = {0, 1, 2, 3, 4, 5, 6, 7};
using Half [[gnu::vector_size(lanes * 2)]] = u32;
using LooseHalf [[gnu::vector_size(lanes * 2), gnu::aligned(4), gnu::may_alias]] = u32;

/// Product of the low halves; the compiler would multiply all 64 bits.
[[gnu::always_inline]] inline Vector64 product_of_low(Vector64 a, Vector64 b) {
#if defined(__AVX512F__)
    return reinterpret_cast<Vector64>(
        _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#else
    return reinterpret_cast<Vector64>(
        _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#endif
}

[[gnu::always_inline]] inline Vector64 mixed(Vector64 z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}
#endif

}  // namespace
}  // namespace volley::packet
