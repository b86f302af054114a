#pragma once

#include <cstdint>
#include <vector>

#include "packet/signature.h"
#include "worker/evidence.h"
#include "worker/rx_counters.h"
#include "worker/sequence_tracker.h"

namespace volley::worker {

/// How a stream was sent: what tells the lane and the place in it of packet i.
struct SentAs {
    std::uint32_t slot = 0;
    std::uint8_t generation = 0;
    std::uint32_t lanes = 1;                  ///< workers that share it
    std::uint32_t burst = 1;                  ///< packets of a burst
    std::uint64_t count = ~std::uint64_t{0};  ///< packets in all
};

/// One life of one stream as one RX worker sees it: from signatures to counters. Burst o belongs to lane
/// (o + slot) mod n, and each lane is followed for itself, so workers that run apart are never taken for
/// loss or reordering. Knows nothing of ports or threads; tested in simulated time. Used by one worker.
class RxStream {
  public:
    /// Packets further from the furthest one are not ours: a copy of an earlier run, or chance.
    static constexpr std::uint64_t window = std::uint64_t{1} << 30;

    struct Arrival {
        packet::Signature signature;
        std::uint64_t now_ns = 0;  ///< of the receiver, same clock as the TX time
        std::uint32_t length = 0;  ///< without FCS
    };

    /// born_ns: before the first packet is signed. row: counts it, and outlives it.
    RxStream(const SentAs& sent, std::uint64_t born_ns, StreamRx& row);

    /// Counts the packet, whose stream and generation are ours. False, and nothing is counted, when its
    /// sequence lies outside the window or it was sent before the life began or after now.
    bool take(const Arrival& arrival) noexcept;
    /// Index of the packet that was taken last.
    [[nodiscard]] std::uint64_t index() const noexcept { return index_; }
    /// What became of it.
    [[nodiscard]] SequenceTracker::Fate fate() const noexcept { return fate_; }
    /// When it was not in order: index of the packet that its lane should have brought instead.
    [[nodiscard]] std::uint64_t expected() const noexcept { return expected_; }
    /// True once a kind: nothing of it was found in this life before.
    [[nodiscard]] bool is_first(Finding kind) noexcept {
        const auto bit = static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
        const bool first = (found_ & bit) == 0;
        found_ |= bit;
        return first;
    }

    [[nodiscard]] const SentAs& sent() const noexcept { return sent_; }
    [[nodiscard]] StreamRx& row() noexcept { return row_; }

  private:
    [[nodiscard]] bool place(std::uint32_t sequence) noexcept;
    void count_times(std::uint64_t latency, std::uint64_t now_ns) noexcept;
    void begin() noexcept;
    void note_outage(const SequenceTracker& lane) noexcept;
    [[nodiscard]] std::uint64_t index_at(std::uint32_t lane, std::uint64_t position) const noexcept;

    const SentAs sent_;
    const std::uint64_t born_ns_;
    StreamRx& row_;
    bool begun_ = false;          ///< a packet was taken
    std::uint64_t furthest_ = 0;  ///< highest index so far
    std::uint64_t index_ = 0;
    std::uint64_t expected_ = 0;
    std::uint8_t found_ = 0;  ///< a bit a kind of finding
    SequenceTracker::Fate fate_ = SequenceTracker::Fate::in_order;
    std::uint64_t last_ns_ = 0;  ///< arrival before; 0: none yet
    std::uint64_t last_latency_ = 0;
    std::uint64_t jitter_ = 0;  ///< times 16
    std::vector<SequenceTracker> lanes_;
};

}  // namespace volley::worker
