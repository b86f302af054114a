#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "base/cache_line.h"
#include "base/counter.h"
#include "base/ids.h"
#include "base/log_buckets.h"

namespace volley::worker {

/// What one TX worker counts. Writer: that worker's lcore. Readers: the stats lcore, and control while
/// draining.
struct alignas(cache_line) TxCounters {
    Counter packets;               ///< accepted by rte_eth_tx_burst
    Counter bytes;                 ///< sum of their pkt_len (no FCS)
    Counter calls;                 ///< rte_eth_tx_burst calls that offered packets
    Counter tail_writes;           ///< tail register writes those calls made, by the driver's rule
    Counter backpressure_packets;  ///< offered but not taken, summed over calls
    Counter busy_cycles;           ///< TSC ticks of turns that did work
    Counter empty_polls;           ///< turns that found the ring empty
    Counter stalled;               ///< gauge: 1 while pending packets made no progress for 1 s
};
static_assert(sizeof(TxCounters) == cache_line);

/// What is counted for one stream in one worker. Readers: the stats lcore.
struct alignas(cache_line) StreamTx {
    Counter packets;  ///< to the end of lateness: written by the worker
    Counter bytes;
    Counter signed_packets;                               ///< of the packets
    std::array<Counter, LatenessBuckets::size> lateness;  ///< bursts by nanoseconds from due to submission

    alignas(cache_line) Counter slips;  ///< this line: written by whoever turns the worker's lane
    Counter slipped_packets;            ///< what the lane gave up with them
};

/// The rows of one worker by StreamSlot. Rows outlive plans, so counters never fall. Control adds rows before
/// it hands a plan that uses them to a lane (the hand-over releases them to the worker); each chunk pointer
/// is released to the stats lcore by add(), which find() acquires.
class StreamRows {
  public:
    static constexpr std::uint32_t chunk_rows = 64;
    static constexpr std::uint32_t max_chunks = 1024;  // 65,536 streams over the life of the process

    StreamRows() = default;
    ~StreamRows() {
        for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
    }
    StreamRows(const StreamRows&) = delete;
    StreamRows& operator=(const StreamRows&) = delete;

    /// Control. False when the table is full.
    bool add(StreamSlot slot) {
        const std::uint32_t index = slot.value / chunk_rows;
        if (index >= max_chunks) return false;
        if (chunks_[index].load(std::memory_order_relaxed) == nullptr) {
            chunks_[index].store(new StreamTx[chunk_rows], std::memory_order_release);
        }
        return true;
    }
    /// The worker, for slots of its plan only.
    StreamTx& row(std::uint32_t slot) noexcept {
        return chunks_[slot / chunk_rows].load(std::memory_order_relaxed)[slot % chunk_rows];
    }
    /// Any thread; nullptr where no row was added.
    [[nodiscard]] const StreamTx* find(StreamSlot slot) const noexcept {
        const std::uint32_t index = slot.value / chunk_rows;
        if (index >= max_chunks) return nullptr;
        const StreamTx* chunk = chunks_[index].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : &chunk[slot.value % chunk_rows];
    }

  private:
    std::array<std::atomic<StreamTx*>, max_chunks> chunks_{};
};

}  // namespace volley::worker
