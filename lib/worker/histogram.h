#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/counter.h"

namespace volley::worker {

/// A log-linear histogram of non-negative integers with one writer: 2^SubBits buckets an octave, so a bucket is at most
/// 1/2^SubBits of its value wide. Values at or above 2^MaxBits fall into the last bucket.
template <unsigned SubBits, unsigned MaxBits>
class Histogram {
  public:
    static constexpr unsigned sub = 1U << SubBits;
    static constexpr std::size_t buckets = static_cast<std::size_t>(MaxBits - SubBits + 1) * sub;

    static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
        if (value < sub) return static_cast<std::size_t>(value);
        const auto octave = static_cast<unsigned>(std::bit_width(value)) - SubBits - 1;
        if (octave >= MaxBits - SubBits) return buckets - 1;
        return static_cast<std::size_t>(octave + 1) * sub + static_cast<std::size_t>((value >> octave) & (sub - 1));
    }
    /// Smallest value of a bucket.
    static constexpr std::uint64_t floor_of(std::size_t bucket) noexcept {
        if (bucket < sub) return bucket;
        const auto octave = static_cast<unsigned>(bucket / sub) - 1;
        return (sub + static_cast<std::uint64_t>(bucket % sub)) << octave;
    }

    /// Writer only.
    void record(std::uint64_t value) noexcept {
        counts_[bucket_of(value)].add(1);
        if (value > max_.get()) max_.set(value);
    }
    /// Any thread.
    [[nodiscard]] std::uint64_t count(std::size_t bucket) const noexcept { return counts_[bucket].get(); }
    [[nodiscard]] std::uint64_t max() const noexcept { return max_.get(); }

  private:
    std::array<Counter, buckets> counts_;
    Counter max_;
};

}  // namespace volley::worker
