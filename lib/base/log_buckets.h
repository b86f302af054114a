#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace volley {

/// Log-linear histogram buckets for times in nanoseconds: every octave is cut in 2^SubBits equal parts, so a
/// bucket is at most 2^-SubBits of its value wide, and values under 2^SubBits have a bucket each. Values of
/// 2^MaxBits and more share the last bucket. Only the arithmetic: whoever counts keeps the array, whoever
/// reads merges bucket by bucket.
template <unsigned SubBits, unsigned MaxBits>
struct LogBuckets {
    static_assert(SubBits < MaxBits && MaxBits < 64);
    static constexpr std::size_t size = (std::size_t{MaxBits - SubBits} + 1) << SubBits;

    /// No branch but the two range checks: one count of leading zeros and two shifts.
    static constexpr std::size_t index(std::uint64_t value) noexcept {
        if (value < (std::uint64_t{1} << SubBits)) return static_cast<std::size_t>(value);
        const unsigned octave = static_cast<unsigned>(std::bit_width(value)) - 1 - SubBits;
        if (octave >= MaxBits - SubBits) return size - 1;
        return (static_cast<std::size_t>(octave) << SubBits) + static_cast<std::size_t>(value >> octave);
    }
    /// The least value that falls into bucket i.
    static constexpr std::uint64_t lower(std::size_t i) noexcept {
        if (i < (std::size_t{1} << SubBits)) return i;
        const std::size_t octave = (i >> SubBits) - 1;
        return ((i & ((std::size_t{1} << SubBits) - 1)) + (std::uint64_t{1} << SubBits)) << octave;
    }
    /// The largest value that falls into bucket i; of the last one the largest that is still told apart.
    static constexpr std::uint64_t upper(std::size_t i) noexcept {
        if (i < (std::size_t{1} << SubBits)) return i;
        const std::size_t octave = (i >> SubBits) - 1;
        const std::uint64_t part = (i & ((std::size_t{1} << SubBits) - 1)) + (std::size_t{1} << SubBits);
        return ((part + 1) << octave) - 1;
    }
};

/// Latency: 32 buckets an octave up to 17 s, so the middle of a bucket is within 1.6 %.
using LatencyBuckets = LogBuckets<5, 34>;
/// Time between two packets of a stream.
using ArrivalBuckets = LogBuckets<2, 34>;
/// How late bursts leave: 25 % wide buckets up to 17 s, 132 counters a stream.
using LatenessBuckets = LogBuckets<2, 34>;

}  // namespace volley
