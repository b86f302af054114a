#pragma once

#include <cstdint>
#include <memory>

#include "base/cache_line.h"
#include "packet/signature.h"
#include "worker/evidence.h"
#include "worker/rx_counters.h"
#include "worker/sequence_tracker.h"

namespace volley::worker {

/// How a stream was sent: what tells the lane and the place in it of packet i.
struct SentAs {
    std::uint32_t slot = 0;
    std::uint8_t generation = 0;
    std::uint32_t lanes = 1;        ///< workers that share it
    std::uint32_t burst = 1;        ///< packets of a burst
    std::uint64_t sent_before = 0;  ///< packets of the stream that earlier lives sent
};

/// One life of one stream as one RX worker sees it: from signatures to counters. Burst o belongs to lane
/// (o + slot) mod n, and each lane is followed for itself, so workers that run apart are never taken for
/// loss or reordering. Knows nothing of ports or threads; tested in simulated time. Used by one worker.
class alignas(cache_line) RxStream {
  public:
    /// Packets further from the furthest one are not ours: a copy of an earlier run, or chance. After an
    /// outage in which more were sent it is counted from what its senders have sent.
    static constexpr std::uint64_t window = std::uint64_t{1} << 30;
    /// Packets that are taken in one go.
    static constexpr std::uint32_t most = 32;

    /// Cores of one machine agree on the time stamp counter to well under this.
    static constexpr std::uint64_t clock_slack_ns = 1'000'000;

    using Fate = SequenceTracker::Fate;

    /// Packets with this stream and generation that came at once, in their order. 1 ≤ count ≤ most.
    struct Run {
        const std::uint32_t* sequences = nullptr;
        const std::uint64_t* sent_ns = nullptr;  ///< 48 bits
        const std::uint32_t* lengths = nullptr;  ///< without FCS
        std::uint32_t count = 0;
        std::uint64_t now_ns = 0;  ///< of the receiver, same clock as the TX times
    };
    /// What became of them.
    struct Taken {
        std::uint32_t ours = 0;       ///< bit k: packet k was counted
        std::uint32_t unusual = 0;    ///< of these, those whose fate is not in_order
        std::uint64_t index[most];    ///< of those that are ours
        Fate fate[most];              ///< of those that are unusual, and
        std::uint64_t instead[most];  ///< the index of the packet that its lane should have brought
    };

    /// born_ns: before the first packet is signed. row: counts it, and outlives it.
    RxStream(const SentAs& sent, std::uint64_t born_ns, StreamRx& row);

    /// Counts packets. Those whose sequence lies outside the window, or that were sent before the life began
    /// or after now, are not ours, and nothing is counted of them.
    void take(const Run& run, Taken& out) noexcept;

    /// Has what take() is going to touch brought near; a row of calls over many streams waits for none.
    void prefetch() const noexcept { __builtin_prefetch(this, 1); }
    /// After that has come: where it counts the time since the packet before.
    void prefetch_arrival(std::uint64_t now_ns) const noexcept {
        __builtin_prefetch(&row_.arrival[ArrivalBuckets::index(now_ns - last_ns_)], 1);
    }
    /// The same of its row: what every packet changes, and the bucket of one that was sent then.
    static void prefetch(const StreamRx& row, std::uint64_t sent_ns, std::uint64_t now_ns) noexcept {
        __builtin_prefetch(&row, 1);
        __builtin_prefetch(&row.latency[LatencyBuckets::index(latency_of(sent_ns, now_ns))], 1);
    }
    /// Nanoseconds under way, of a TX time modulo 2^48. What is slightly in the future is a matter of two
    /// cores, and 0.
    [[nodiscard]] static std::uint64_t latency_of(std::uint64_t sent_ns, std::uint64_t now_ns) noexcept {
        const std::uint64_t latency = (now_ns - sent_ns) & packet::time_mask;
        return latency > packet::time_mask - clock_slack_ns ? 0 : latency;
    }

    /// Whether something of that kind is noted of this life.
    [[nodiscard]] bool is_noted(Finding kind) const noexcept { return (noted_ & bit(kind)) != 0; }
    void set_noted(Finding kind) noexcept { noted_ |= bit(kind); }

    [[nodiscard]] const SentAs& sent() const noexcept { return sent_; }
    [[nodiscard]] StreamRx& row() noexcept { return row_; }

  private:
    class Times;
    static constexpr std::uint8_t bit(Finding kind) noexcept {
        return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
    }
    /// What only streams that several workers share have.
    struct Lanes {
        std::unique_ptr<SequenceTracker[]> trackers;
        std::uint64_t furthest = 0;  ///< highest index so far
        std::uint64_t first = 0;     ///< of the burst of the packet before: index of its first packet,
        std::uint64_t position = 0;  ///< place of that in its lane,
        std::uint32_t lane = 0;      ///< and which that is. So only the first of a burst divides.
    };

    bool take_in_order(const Run& run, Taken& out) noexcept;
    void take_any(const Run& run, Taken& out) noexcept;
    [[nodiscard]] std::uint64_t furthest() const noexcept;
    [[nodiscard]] std::uint64_t reference() const noexcept;
    SequenceTracker& seek(std::uint64_t index, std::uint32_t& lane, std::uint64_t& position) noexcept;
    [[nodiscard]] std::uint64_t index_at(std::uint32_t lane, std::uint64_t position) const noexcept;
    void seek_burst(std::uint64_t index) noexcept;
    void count_times(const Times& times, std::uint64_t now_ns) noexcept;
    void begin() noexcept;
    void note_outage(Fate fate, const SequenceTracker& lane) noexcept;

    // To the tracker's first two fields: one cache line, all that packets in order touch.
    StreamRx& row_;
    const std::uint64_t born_ns_;
    std::unique_ptr<Lanes> lanes_;  ///< of a stream with several
    std::uint64_t last_ns_ = 0;     ///< arrival before; 0: none yet
    std::uint64_t last_latency_ = 0;
    std::uint64_t jitter_ = 0;  ///< times 16
    SequenceTracker lane_;      ///< of a stream with one
    const SentAs sent_;
    bool begun_ = false;      ///< a packet was taken
    std::uint8_t noted_ = 0;  ///< a bit a kind of finding
};
static_assert(sizeof(RxStream) == 2 * cache_line);

}  // namespace volley::worker
