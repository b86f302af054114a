#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/tsc.h"
#include "base/units.h"
#include "packet/template.h"
#include "traffic/lane_schedule.h"

namespace volley::traffic {

inline constexpr std::uint64_t endless = ~std::uint64_t{0};

/// One stream, compiled: all thinking is done. Immutable once the Plan is handed to the lanes.
struct StreamPlan {
    std::string name;
    StreamSlot slot;            ///< stable by name over generations
    std::uint32_t port = 0;     ///< index into config ports
    std::unique_ptr<const packet::PacketTemplate> packet;
    bool max = false;           ///< takes what the paced streams leave
    Rational pps;               ///< target over all workers; {0,1} for max
    std::uint32_t burst = 1;    ///< packets per TemplateBurst
    std::uint64_t count = endless;
    Tsc start_delay = 0;        ///< ticks after the epoch
    std::uint32_t weight = 1;
    std::uint32_t epoch = 0;    ///< changes when burst or workers change: index starts again at 0
    std::vector<std::uint32_t> workers;  ///< the n workers of the port that share it, in lane order
};

/// Generation N of the traffic. Control compiles it; each lane mutates its own LaneSchedule only, from adoption until
/// it adopts N+1; control frees it when every lane has finished with it.
struct Plan {
    std::uint64_t generation = 0;
    Tsc epoch = 0;           ///< the schedule's zero: run start for its first plan, later plans carry it on
    Tsc end = ~Tsc{0};       ///< no burst falls due at or after this tick (run.duration)
    std::vector<StreamPlan> streams;
    std::vector<std::vector<std::unique_ptr<LaneSchedule>>> lanes;  ///< [port][worker of that port]
};

}  // namespace volley::traffic
