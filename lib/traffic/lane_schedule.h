#pragma once

#include <cstdint>
#include <vector>

#include "base/int128.h"
#include "base/tsc.h"
#include "traffic/burst.h"

namespace volley::traffic {

/// The share of one worker (lane) in the schedule of a port. Burst o of stream s belongs to lane (o + s) mod n.
/// Written by one thread only: the worker itself (inline dispatch) or the dispatcher; compiled and freed by control.
/// A pure state machine: it knows nothing of threads, rings or DPDK, and is tested in simulated time.
class LaneSchedule {
  public:
    /// Carries {next own ordinal, time base} of every stream that continues from `previous` (nullptr: first plan),
    /// and starts the others at max(their start, now). Allocates nothing.
    void adopt(const LaneSchedule* previous, Tsc now) noexcept;

    /// Writes up to `room` bursts that fall due by `until`, in due order, to out; returns how many.
    /// Streams at max fill what is left, at most max_room of the bursts, with due = now. O(log streams) a burst.
    std::uint32_t fill(Tsc now, Tsc until, std::uint32_t room, std::uint32_t max_room, TemplateBurst* out) noexcept;

    /// Every count is emitted, or the plan's end is reached: this lane will emit nothing more.
    [[nodiscard]] bool finished(Tsc now) const noexcept;
    /// Tick at which the next burst falls due; now for an unfinished stream at max; ~0 when finished.
    [[nodiscard]] Tsc next_due(Tsc now) const noexcept;
    [[nodiscard]] bool has_max() const noexcept;
};

}  // namespace volley::traffic
