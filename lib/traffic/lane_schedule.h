#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/tsc.h"
#include "base/units.h"
#include "traffic/burst.h"
#include "traffic/due_heap.h"
#include "traffic/lane_state.h"
#include "traffic/lane_stream.h"

namespace volley::traffic {

/// A lane that is later than this gives the backlog of a stream up instead of sending it in one go: it slips.
inline constexpr Duration catch_up_limit{100'000'000};

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
    /// Streams that begin owe nothing that was due before `zero`.
    LaneSchedule(const std::vector<LaneStream>& streams, Tsc end, std::uint64_t tsc_hz, Tsc zero = 0);

    /// Moves zero, starts and end by `later` ticks (modulo 2^64: earlier too). Before adopt() only.
    void shift(Tsc later) noexcept;

    /// Carries the next own ordinal and the time base of every stream that continues from `previous`
    /// (nullptr: first plan), and starts the others on their own grid: what fell due since `zero` is owed, as
    /// by a lane that was held up. Untouched streams keep their dues to the tick. A new rate scales what is
    /// left of the running interval (and of a duration) behind what was emitted ahead, so the next burst
    /// falls due within one new lane interval and the number sent follows the integral of the rate. Slips not
    /// yet taken go along. Allocates nothing; to be called once, before fill().
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

    /// A file that is read while it is sent has not been read as far as the next burst and what follows it.
    /// Only playback, which can wait, asks.
    [[nodiscard]] bool starved() const noexcept;
    /// Some stream's file is read while it is sent.
    [[nodiscard]] bool fed() const noexcept;

    /// There are slips that take_slips() has not handed over.
    [[nodiscard]] bool has_slips() const noexcept { return slipped_ != no_stream; }
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
    using Line = lane::Line;
    using Terms = lane::Terms;
    using Route = lane::Route;

    // lane_adopt.cpp
    void set_line(std::uint32_t stream, std::uint64_t tsc_hz) noexcept;
    void set_interval(std::uint32_t stream, Interval interval) noexcept;
    void start(std::uint32_t stream, Tsc now) noexcept;
    void begin_late(std::uint32_t stream, Tsc& due, Tsc now) noexcept;
    void carry(std::uint32_t stream, const LaneSchedule& previous, Tsc due, bool parked, Tsc now) noexcept;
    Tsc carry_due(std::uint32_t stream, const LaneSchedule& previous, Tsc due, bool parked, Tsc now) noexcept;
    void carry_duration(std::uint32_t stream, const LaneSchedule& previous, Tsc now) noexcept;
    Tsc begin_line(std::uint32_t stream, Tsc at, std::uint64_t ordinals) noexcept;
    Tsc first_random_due(std::uint32_t stream, Tsc at, std::uint64_t ordinals) noexcept;

    // lane_route.cpp
    Route& route_of(std::uint32_t stream) noexcept { return routes_[terms_[stream].route]; }
    std::uint64_t first_own(std::uint32_t stream, std::uint64_t from) const noexcept;
    Tsc due_in_leg(std::uint32_t stream) noexcept;
    void set_leg(std::uint32_t stream, std::uint64_t index) noexcept;
    bool enter_leg(std::uint32_t stream) noexcept;
    bool leave_leg(std::uint32_t stream) noexcept;
    bool begin_run(std::uint32_t stream) noexcept;
    std::uint32_t pass_on(std::uint32_t stream) noexcept;
    void follow_route(std::uint32_t stream, bool on, Tsc now) noexcept;
    void leave_limit(std::uint32_t stream, Tsc now) noexcept;
    void leave_max(std::uint32_t stream, Tsc now) noexcept;
    void start_route(std::uint32_t stream) noexcept;
    void settle_routes(Tsc now) noexcept;
    void carry_route(std::uint32_t stream, const LaneSchedule& previous, Tsc due, bool parked,
                     Tsc now) noexcept;
    Tsc carry_leg(std::uint32_t stream, const LaneSchedule& previous, Tsc due) noexcept;
    std::uint64_t move_route(std::uint32_t stream, Tsc& due, Tsc now) noexcept;

    // replay_lane.cpp
    Tsc recorded_due(std::uint32_t stream, Tsc now) const noexcept;
    Tsc start_recorded(std::uint32_t stream, Tsc now) noexcept;
    Tsc carry_recorded(std::uint32_t stream, bool parked, Tsc now) noexcept;
    std::uint64_t move_recorded(std::uint32_t stream, Tsc& due, Tsc now) noexcept;
    bool put_off(std::uint32_t stream, Tsc now) noexcept;
    std::uint32_t fill_recorded(std::uint32_t stream, Due top, Tsc now, TemplateBurst* out) noexcept;

    // lane_line.cpp
    void limit_by_end(std::uint32_t stream, Tsc due) noexcept;
    void set_limit(std::uint32_t stream) noexcept;
    std::uint64_t move_line(std::uint32_t stream, Tsc& due, Tsc now) noexcept;
    void place(std::uint32_t stream, Tsc due, Tsc now) noexcept;
    void stand(Due due) noexcept;
    void retire(std::uint32_t stream, Tsc due) noexcept;
    void note_slips(std::uint32_t stream, std::uint64_t slips, std::uint64_t packets) noexcept;
    void begin_max(std::uint32_t stream, Tsc served) noexcept;
    TemplateBurst take_special(std::uint32_t stream, Tsc due) noexcept;
    Tsc due_after(std::uint32_t stream, Tsc due, std::uint64_t from) noexcept;

    // lane_schedule.cpp
    void slip_top(Tsc now) noexcept;
    std::uint32_t fill_special(Tsc now, TemplateBurst* out) noexcept;
    std::uint32_t fill_paced(Tsc now, Tsc until, std::uint32_t room, TemplateBurst* out) noexcept;
    std::uint32_t run_alone(Tsc now, Tsc until, std::uint32_t room, TemplateBurst* out) noexcept;
    std::uint32_t fill_max(Tsc now, std::uint32_t room, TemplateBurst* out) noexcept;

    std::vector<Line> lines_;
    std::vector<Terms> terms_;
    std::vector<Route> routes_;
    DueHeap paced_;  ///< and streams at max that have not started yet
    DueHeap max_;    ///< tick: packets sent by weight, so that the least served is next
    std::vector<std::uint32_t> successor_;  ///< stream of the previous schedule -> stream here
    Tsc zero_;
    Tsc end_;
    Tsc last_tick_;                      ///< end - 1: no burst falls due later
    Tsc catch_up_;                       ///< ticks
    Tsc until_ = 0;                      ///< of the last fill(): what falls due up to there is emitted
    Tsc change_at_ = 0;                  ///< from here on a new rate holds: what was emitted ahead stays
    Tsc latest_stop_ = 0;                ///< when the last of the streams at max stops
    std::uint32_t held_ = 0;             ///< unfinished streams that are paused or have rate zero
    std::uint32_t slipped_ = no_stream;  ///< head of the list of streams with slips to report
    bool ordered_ = false;               ///< paced_ is a heap already: adoption is over
};

}  // namespace volley::traffic
