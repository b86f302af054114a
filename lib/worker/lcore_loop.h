#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/cache_line.h"
#include "base/counter.h"
#include "base/fd.h"
#include "base/ids.h"
#include "base/units.h"
#include "worker/lane.h"
#include "worker/rx_worker.h"
#include "worker/tx_worker.h"

namespace volley::worker {

/// What one data path lcore does for ever: turn the lanes that it dispatches and the workers that it drives,
/// each in turn, until control says stop. Nothing in run() allocates, locks, logs or throws.
class LcoreLoop {
  public:
    /// yield: another lcore shares this one's CPU, so an idle turn gives the CPU away.
    LcoreLoop(LcoreId lcore, bool yield);
    /// Before launch only: sleep until something falls due instead of looking for it. At most `longest_sleep`
    /// at a time, so that offers and stop() are seen.
    void sleep_when_idle() noexcept { sleeps_ = true; }
    static constexpr Duration longest_sleep{1'000'000};

    /// Before launch only.
    void add(Lane& lane) { lanes_.push_back(&lane); }
    void add(TxWorker& worker) { workers_.push_back(&worker); }
    void add(RxWorker& worker) { receivers_.push_back(&worker); }
    /// Before launch only, after all receivers were added. Sleeps for a bounded time when it has found
    /// nothing for a while; only an lcore that does nothing but receive does so, for a sender must not be
    /// late. interrupts: the next packet ends the sleep, provided that all its queues can raise interrupts;
    /// then their ports are stopped before this goes.
    void set_adaptive(bool interrupts);
    static constexpr std::uint32_t idle_turns_before_rest = 1'000;
    /// For so long it sleeps, with an interrupt to end it and without; so control waits for it no longer.
    static constexpr int longest_wait_ms = 10;
    static constexpr long rest_ns = 50'000;

    [[nodiscard]] LcoreId lcore() const noexcept { return lcore_; }

    /// Turns until stop().
    void run() noexcept;
    /// One turn at tick `now`, which moves on to the tick at its end. Same thread as run().
    void turn(Tsc& now) noexcept;

    /// Control. The release is acquired by run().
    void stop() noexcept { stop_.store(true, std::memory_order_release); }
    /// Control. Acquires everything that run() wrote.
    [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }

    /// Turns of the loop: moves as long as the lcore lives. Writer: the lcore. Readers: stats lcore,
    /// watchdog.
    [[nodiscard]] const Counter& heartbeat() const noexcept { return heartbeat_; }
    /// TSC ticks of turns in which a dispatched lane emitted something.
    [[nodiscard]] const Counter& dispatch_busy() const noexcept { return dispatch_busy_; }

  private:
    bool turn_receivers(Tsc& now) noexcept;
    void rest(Tsc& now) noexcept;
    void wait_for_interrupt(Tsc& now) noexcept;
    void sleep_until_due(Tsc now) noexcept;

    const LcoreId lcore_;
    const bool yield_;
    bool sleeps_ = false;
    double ns_a_tick_;
    std::vector<Lane*> lanes_;
    std::vector<TxWorker*> workers_;
    std::vector<RxWorker*> receivers_;
    bool adaptive_ = false;
    Fd interrupts_;  ///< epoll over the queues' interrupts; none: sleeps end by time alone
    std::uint32_t idle_turns_ = 0;
    alignas(cache_line) std::atomic<bool> stop_{false};  ///< written by control
    alignas(cache_line) Counter heartbeat_;              ///< this line: written by the lcore
    Counter dispatch_busy_;
    std::atomic<bool> ended_{false};
};

}  // namespace volley::worker
