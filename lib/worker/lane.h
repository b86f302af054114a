#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/cache_line.h"
#include "base/counter.h"
#include "base/tsc.h"
#include "dpdk/ring.h"
#include "traffic/lane_schedule.h"
#include "worker/counters.h"

namespace volley::worker {

using BurstRing = dpdk::SpscRing<traffic::TemplateBurst>;

/// Bursts in the hand-off ring of one worker: a full ring is back-pressure, never loss.
inline constexpr unsigned ring_capacity = 256;

/// The producing side of one worker's ring: asks its LaneSchedule what is due and pushes it. Turned by the
/// dispatcher's lcore, or by the worker itself when dispatch is inline: the same code either way.
class Lane {
  public:
    /// done: the worker's count of finished bursts. horizon: how far ahead of its due tick a burst may be
    /// emitted, and so how soon a live change acts. inline_dispatch: the worker turns it, so a few bursts
    /// ahead are enough.
    Lane(BurstRing& ring, const Counter& done, Tsc horizon, bool inline_dispatch) noexcept
        : ring_(ring),
          done_(done),
          horizon_(horizon),
          most_ahead_(inline_dispatch ? 16U : ring_capacity - 64U) {
        next_due_.set(~Tsc{0});  // nothing to emit before the first offer
    }

    /// Where the slips of its streams are counted. Before the first offer.
    void count_in(StreamRows& rows) noexcept { rows_ = &rows; }

    /// Control: the schedule to adopt at the next turn (nullptr: emit nothing more), as generation
    /// `generation`. At most one is under way: wait for adopted() first. The release store is acquired by
    /// turn().
    void offer(traffic::LaneSchedule* schedule, std::uint64_t generation) noexcept {
        offered_ = {schedule, generation};
        offer_.store(&offered_, std::memory_order_release);
    }
    /// Control: the generation that the lane works on. Acquires what adopt released: the old schedule is at
    /// rest.
    [[nodiscard]] std::uint64_t adopted() const noexcept { return adopted_.load(std::memory_order_acquire); }
    /// Control, after adopted(): bursts emitted before the adoption. Once the worker has finished as many,
    /// nothing of an earlier plan is in use.
    [[nodiscard]] std::uint64_t emitted_before() const noexcept {
        return emitted_before_.load(std::memory_order_relaxed);
    }
    /// Control: nothing more will be emitted from the adopted schedule. Acquires the emitted() that belongs
    /// to it.
    [[nodiscard]] bool finished() const noexcept { return finished_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t emitted() const noexcept { return emitted_.get(); }

    /// The worker: no burst that is not in the ring yet falls due before this tick.
    [[nodiscard]] Tsc next_due() const noexcept { return next_due_.get(); }
    /// The same, acquired: a burst that the ring does not hold after this call was pushed later.
    [[nodiscard]] Tsc next_due_acquire() const noexcept { return next_due_.get_acquire(); }

    /// The lane's own thread: turn() has nothing to do before this tick, unless control offers something.
    [[nodiscard]] Tsc next_turn() const noexcept {
        const Tsc due = next_due_.get();
        return due == ~Tsc{0} || due < horizon_ ? due : due - horizon_ / 2;
    }

    /// The lane's own thread, once a loop turn. True when it emitted something.
    bool turn(Tsc now) noexcept {
        if (offer_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
            adopt(now);
        if (next_due_.get() <= now + horizon_ / 2) return emit(now);
        if (next_due_.get() == ~Tsc{0}) note_finished(now);
        return false;
    }

  private:
    struct Offer {
        traffic::LaneSchedule* schedule = nullptr;
        std::uint64_t generation = 0;
    };

    void adopt(Tsc now) noexcept;
    bool emit(Tsc now) noexcept;
    void note_finished(Tsc now) noexcept;
    void take_slips() noexcept;
    std::uint32_t allowed_ahead(Tsc now, std::uint64_t done) noexcept;

    BurstRing& ring_;
    const Counter& done_;  ///< written by the worker
    const Tsc horizon_;
    const std::uint32_t most_ahead_;

    // Written by control.
    alignas(cache_line) std::atomic<const Offer*> offer_{nullptr};  ///< cleared by the lane
    Offer offered_;

    // Written by the lane's thread, read by control and by the worker.
    alignas(cache_line) std::atomic<std::uint64_t> adopted_{0};
    std::atomic<std::uint64_t> emitted_before_{0};
    std::atomic<bool> finished_{true};
    Counter emitted_;
    Counter next_due_;

    // The lane's thread alone.
    traffic::LaneSchedule* schedule_ = nullptr;
    StreamRows* rows_ = nullptr;
    Tsc measured_at_ = 0;
    std::uint64_t measured_done_ = 0;
    std::uint32_t ahead_ = 1;
    std::array<traffic::TemplateBurst, 64> out_;
};

}  // namespace volley::worker
