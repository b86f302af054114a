#pragma once

#include <cstdint>
#include <vector>

#include "base/cache_line.h"
#include "base/ids.h"
#include "base/tsc.h"
#include "base/units.h"
#include "packet/template.h"
#include "traffic/burst.h"
#include "traffic/due_heap.h"
#include "traffic/pace.h"

namespace volley::traffic {

inline constexpr std::uint64_t endless = ~std::uint64_t{0};
inline constexpr std::uint32_t no_stream = ~std::uint32_t{0};
/// A lane that is later than this gives the backlog of a stream up instead of sending it in one go: it slips.
inline constexpr Duration catch_up_limit{100'000'000};
/// Lanes of one stream at most.
inline constexpr std::uint32_t max_lanes = 255;

/// What one lane is told about one of its streams. Plain data, made by compile(); immutable.
struct LaneStream {
    const packet::PacketTemplate* packet = nullptr;  ///< handed on, never looked into
    StreamSlot slot;
    bool max = false;
    bool paused = false;                       ///< keeps its place, sends nothing
    Rational pps;                              ///< all lanes together; zero sends nothing; unused for max
    std::uint32_t burst = 1;                   ///< packets per TemplateBurst, 1 to packet::max_burst
    std::uint32_t lanes = 1;                   ///< n, 1 to max_lanes
    std::uint32_t first = 0;                   ///< this lane's first ordinal: (lane - slot) mod n
    std::uint64_t count = endless;             ///< packets of all lanes
    Duration duration{0};                      ///< 0: none
    std::uint64_t duration_packets = endless;  ///< ceil(duration * pps)
    Tsc start = 0;                             ///< own due tick of packet 0, before the phase
    Tsc phase = 0;                             ///< below one burst's interval: keeps equal streams apart
    Tsc stop = ~Tsc{0};                        ///< for max: start + duration
    std::uint32_t weight = 1;                  ///< share among streams at max, in packets
    std::uint32_t previous = no_stream;  ///< the same stream in the lane schedule that this one succeeds
};

/// The share of one worker (lane) in the schedule of a port. Burst o of stream s belongs to lane (o + s) mod
/// n and falls due at start + phase + o * burst * interval, exactly and rounded down to a tick, whatever the
/// number of lanes. Written by one thread only: the worker itself (inline dispatch) or the dispatcher;
/// compiled and freed by control. A pure state machine: it knows nothing of threads, rings or DPDK, and is
/// tested in simulated time.
class LaneSchedule {
  public:
    /// No packet is sent whose own due (without phase) is at or after `end`, and no burst falls due there:
    /// the last one is pulled to end - 1 if its phase would carry it over. An undisturbed stream thus sends
    /// exactly ceil((end - start) * pps) packets.
    LaneSchedule(const std::vector<LaneStream>& streams, Tsc end, std::uint64_t tsc_hz);

    /// Moves starts and end by `later` ticks (modulo 2^64: earlier too). Before adopt() only.
    void shift(Tsc later) noexcept;

    /// Carries the next own ordinal and the time base of every stream that continues from `previous`
    /// (nullptr: first plan), and starts the others on their own grid, at the first due that is not before
    /// `now`. Untouched streams keep their dues to the tick. A new rate scales what is left of the running
    /// interval (and of a duration), so the next burst falls due within one new lane interval and the number
    /// sent follows the integral of the rate. Slips not yet taken go along. Allocates nothing; to be called
    /// once, before fill().
    void adopt(const LaneSchedule* previous, Tsc now) noexcept;

    /// Writes up to `room` bursts that fall due by `until`, in due order, to out; returns how many.
    /// Streams at max fill what is left, at most max_room of the bursts, with due = now; beside them paced
    /// bursts are emitted only once they are due, for a burst that waits for its time would hold back those
    /// behind it. O(log streams) a burst. The sequence does not depend on how it is portioned.
    std::uint32_t fill(Tsc now, Tsc until, std::uint32_t room, std::uint32_t max_room,
                       TemplateBurst* out) noexcept;

    /// Every count is emitted, or the plan's end is reached: this lane will emit nothing more.
    /// Paused and zero-rate streams hold it open until the end.
    [[nodiscard]] bool finished(Tsc now) const noexcept;
    /// Tick at which the next burst falls due; now for an unfinished stream at max. When nothing is going to:
    /// the end for paused and zero-rate streams, ~0 otherwise.
    [[nodiscard]] Tsc next_due(Tsc now) const noexcept;
    /// Streams at max are being sent.
    [[nodiscard]] bool has_max() const noexcept { return !max_.empty(); }

    /// Hands over the slips since the last call, add(StreamSlot, slips, packets) for each stream that had
    /// any: `packets` is what the lane gave up. Same thread as fill(); its counters live in the stream
    /// table's rows.
    template <class Add>
    void take_slips(Add&& add) noexcept {
        for (; slipped_ != no_stream; slipped_ = terms_[slipped_].next_slipped) {
            Terms& terms = terms_[slipped_];
            add(terms.spec.slot, terms.slips, terms.slipped_packets);
            terms.slips = terms.slipped_packets = 0;
        }
    }

  private:
    /// What each burst reads and writes: one cache line. The due tick is in the heap.
    struct alignas(cache_line) Line {
        std::uint64_t fraction;       ///< of the due tick, over denominator
        std::uint64_t step_whole;     ///< one lane step: lanes * burst * interval; max: its stride
        std::uint64_t step_fraction;  ///< over denominator
        std::uint64_t denominator;
        std::uint64_t index;  ///< first packet of the next own burst
        std::uint64_t limit;  ///< no packet from here on: count, duration and end, whichever is first
        const packet::PacketTemplate* packet;
        std::uint32_t slot;
        std::uint16_t burst;
        std::uint8_t lanes;
        std::uint8_t special;  ///< bits below; 0 for the paced streams that make up the hot path
    };
    static_assert(sizeof(Line) == cache_line);
    static constexpr std::uint8_t at_max = 1;
    static constexpr std::uint8_t broken = 2;  ///< a limit that has moved on since cut the burst at index

    /// What is needed when something changes: start, slip, adoption.
    struct Terms {
        LaneStream spec;
        Interval interval;
        Tsc due = 0;     ///< of a stream that stands in no heap
        Tsc served = 0;  ///< max: packets by weight at adoption, counted from the least served
        Tsc lead = 0;    ///< how far the due is behind the packet's own due: the phase, scaled with the rate
        std::uint64_t end_limit = endless;
        std::uint64_t duration_limit = endless;
        std::uint64_t slips = 0;
        std::uint64_t slipped_packets = 0;
        std::uint32_t next_slipped = no_stream;
        bool placed = false;  ///< adopt() is done with it
    };

    void set_line(std::uint32_t stream, std::uint64_t tsc_hz) noexcept;
    void start(std::uint32_t stream, Tsc now) noexcept;
    void carry(std::uint32_t stream, const LaneSchedule& previous, Tsc due, bool parked, Tsc now) noexcept;
    Tsc carry_due(std::uint32_t stream, const LaneSchedule& previous, Tsc due, bool parked, Tsc now) noexcept;
    void carry_duration(std::uint32_t stream, const LaneSchedule& previous, Tsc now) noexcept;
    Tsc begin_line(std::uint32_t stream, Tsc at, std::uint64_t ordinals) noexcept;
    std::uint64_t move_line(std::uint32_t stream, Tsc& due, Tsc now) noexcept;
    void limit_by_end(std::uint32_t stream, Tsc due) noexcept;
    void place(std::uint32_t stream, Tsc due, Tsc now) noexcept;
    void slip_top(Tsc now) noexcept;
    void retire(std::uint32_t stream, Tsc due) noexcept;
    static TemplateBurst take_rest(Line& line, Tsc due) noexcept;
    void note_slips(std::uint32_t stream, std::uint64_t slips, std::uint64_t packets) noexcept;
    void begin_max(std::uint32_t stream, Tsc served) noexcept;
    std::uint32_t fill_paced(Tsc now, Tsc until, std::uint32_t room, TemplateBurst* out) noexcept;
    std::uint32_t run_alone(Tsc now, Tsc until, std::uint32_t room, TemplateBurst* out) noexcept;
    std::uint32_t fill_max(Tsc now, std::uint32_t room, TemplateBurst* out) noexcept;

    std::vector<Line> lines_;
    std::vector<Terms> terms_;
    DueHeap paced_;  ///< and streams at max that have not started yet
    DueHeap max_;    ///< tick: packets sent by weight, so that the least served is next
    std::vector<std::uint32_t> successor_;  ///< stream of the previous schedule -> stream here
    Tsc end_;
    Tsc last_tick_;                      ///< end - 1: no burst falls due later
    Tsc catch_up_;                       ///< ticks
    Tsc latest_stop_ = 0;                ///< when the last of the streams at max stops
    std::uint32_t held_ = 0;             ///< unfinished streams that are paused or have rate zero
    std::uint32_t slipped_ = no_stream;  ///< head of the list of streams with slips to report
};

}  // namespace volley::traffic
