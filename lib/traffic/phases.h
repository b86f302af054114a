#pragma once

#include <cstdint>
#include <span>

#include "base/tsc.h"
#include "traffic/pace.h"

namespace volley::traffic {

/// One paced stream of a port on its way to a phase.
struct PhaseSeat {
    Interval interval;
    std::uint32_t burst = 1;
    Tsc start = 0;
    std::uint64_t delay_ns =
        0;  ///< streams with different start delays are not kept apart: the operator placed them
    bool placed = false;  ///< start is the operator's: the first of such a group fires just then
    bool kept = false;    ///< phase is given and stays: the stream is running already
    Tsc phase = 0;        ///< result, below one burst's interval
};

/// Gives every seat of one port that has none a phase. Streams of equal rate, burst and delay fire evenly
/// staggered, never together; those that join later take the middle of the widest gaps. Between groups of
/// different rates the offsets follow the van der Corput sequence, within about eight mean burst gaps of the
/// port a group, so that a start is never a volley and no slow stream waits long. A pure function of the
/// seats, in their order.
void assign_phases(std::span<PhaseSeat> seats);

}  // namespace volley::traffic
