#pragma once

#include <array>
#include <cstdint>

#include "base/ids.h"
#include "base/tsc.h"
#include "worker/counters.h"
#include "worker/lane.h"
#include "worker/offload.h"
#include "worker/replies.h"
#include "worker/tx_batch.h"
#include "worker/tx_pool.h"

namespace volley::worker {

/// Drives one TX queue: pulls due bursts from its ring, stamps them into its own mbufs, submits them in
/// batches. turn() is called by one lcore; counters are read by the stats lcore.
class TxWorker {
  public:
    struct Settings {
        PortId port;
        QueueId queue;
        std::uint32_t flush_threshold = 32;        ///< packets
        Tsc flush_timeout = 0;                     ///< ticks
        std::uint32_t packets_per_tail_write = 0;  ///< 0: one tail write a call, whatever it carries
        std::uint64_t offloads = 0;                ///< checksums that the port was configured to compute
    };

    /// lane: turned by this worker (inline dispatch), or nullptr when a dispatcher turns it; it must outlive
    /// the worker.
    TxWorker(const Settings& settings, TxPool& pool, BurstRing& ring) noexcept;
    /// Inline dispatch: this worker turns the lane too. feed: the lane in either case, for its next due tick.
    void attach(Lane& feed, bool inline_dispatch) noexcept {
        feed_ = &feed;
        inline_ = inline_dispatch;
    }

    /// Before launch: sends what the port says for itself; outlives the worker.
    void set_replies(Replies& replies) noexcept { replies_ = &replies; }

    /// One turn of the hot loop at tick `now`. True when it did any work.
    bool turn(Tsc now) noexcept;

    /// turn() has nothing to do before this tick, unless control offers a plan. Same thread as turn().
    [[nodiscard]] Tsc next_turn() noexcept;

    [[nodiscard]] const TxCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] TxCounters& counters() noexcept { return counters_; }
    [[nodiscard]] StreamRows& rows() noexcept { return rows_; }
    [[nodiscard]] const StreamRows& rows() const noexcept { return rows_; }
    /// Bursts of which every packet was accepted by the NIC. Writer: this worker, once a turn, by release:
    /// nothing of the templates that they were made of is in use any more. Readers: its lane, and control,
    /// which acquires.
    [[nodiscard]] const Counter& bursts_done() const noexcept { return bursts_done_; }
    /// Control, after the worker's lcore has ended: gives back what is still pending. Returns how many
    /// packets.
    std::uint32_t discard_pending() noexcept;

  private:
    bool work(Tsc now) noexcept;
    bool refill() noexcept;
    void send_replies() noexcept;
    bool add(const traffic::TemplateBurst& burst) noexcept;
    bool flush_due(Tsc now) noexcept;
    bool send(Tsc now) noexcept;
    void watch_progress(std::uint32_t sent, Tsc now) noexcept;

    const Settings settings_;
    TxPool& pool_;
    BurstRing& ring_;
    Lane* feed_ = nullptr;
    Replies* replies_ = nullptr;
    bool inline_ = false;
    int id_offset_;
    const Tsc second_;
    const TscClock clock_;
    std::uint32_t finished_ = 0;  ///< bursts that are done and not yet in bursts_done_
    bool close_ = false;          ///< the burst that was added last waits for no other

    std::array<traffic::TemplateBurst, 32> hand_;  ///< pulled and not yet due, or due and without room
    std::uint32_t next_ = 0;
    std::uint32_t have_ = 0;
    Tsc stuck_since_ = 0;  ///< the NIC has taken none of the pending packets since then; 0: it takes all
    TxBatch batch_;
    ChecksumOffload offload_;

    alignas(cache_line) Counter bursts_done_;
    TxCounters counters_;
    StreamRows rows_;
};

}  // namespace volley::worker
