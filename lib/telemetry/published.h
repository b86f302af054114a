#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "telemetry/snapshot.h"

namespace volley::telemetry {

/// One tick, rendered. Immutable: any number of readers share it and none of them touches the data path.
struct Published {
    std::shared_ptr<const Totals> totals;    ///< absolute counters
    std::shared_ptr<const Totals> base;      ///< what the snapshot counts from
    std::shared_ptr<const Totals> previous;  ///< what its rates are measured from
    Snapshot snapshot;
    std::string line;     ///< JSON, one line, ends in '\n'
    std::string metrics;  ///< the counters in the text format of Prometheus
    std::string live;     ///< the same for a human on a terminal, ends in '\n'
};

/// The latest line: one thread stores, any thread loads, nobody waits longer than it takes to copy a pointer.
/// std::atomic<std::shared_ptr> would do, but libstdc++ 12 unlocks its load() with relaxed order, a race that
/// TSan reports.
class Latest {
  public:
    [[nodiscard]] std::shared_ptr<const Published> load() const noexcept {
        lock();
        std::shared_ptr<const Published> out = value_;
        unlock();
        return out;
    }
    void store(std::shared_ptr<const Published> value) noexcept {
        lock();
        value_.swap(value);
        unlock();
        // The old line is freed here if this was its last holder, outside the lock.
    }

  private:
    void lock() const noexcept {
        while (busy_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    void unlock() const noexcept { busy_.clear(std::memory_order_release); }

    mutable std::atomic_flag busy_;  ///< the clear releases value_ to the next test_and_set
    std::shared_ptr<const Published> value_;
};

}  // namespace volley::telemetry
