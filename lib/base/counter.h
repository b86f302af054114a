#pragma once

#include <atomic>
#include <cstdint>

namespace volley {

/// A monotonic 64-bit counter with exactly one writing thread and any number of readers.
/// Relaxed on both sides: a reader wants a recent value of each counter, not an order between counters.
/// It only goes up; readers subtract a base line, so nobody needs a reset and no counter has two writers.
class Counter {
  public:
    /// Writer only. A plain load, add and store: no locked instruction is needed for a single writer.
    void add(std::uint64_t n) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    /// Writer only: what it did before is seen by whoever acquires this count. The same instructions on x86.
    void add_release(std::uint64_t n) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_release);
    }
    /// Any thread: acquires what the writer released with the count.
    [[nodiscard]] std::uint64_t get_acquire() const noexcept {
        return value_.load(std::memory_order_acquire);
    }
    /// Writer only: for gauges, the latest value.
    void set(std::uint64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }
    /// The same, by release: what the writer did before is seen by whoever acquires this value.
    void set_release(std::uint64_t n) noexcept { value_.store(n, std::memory_order_release); }
    /// Any thread.
    [[nodiscard]] std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

}  // namespace volley
