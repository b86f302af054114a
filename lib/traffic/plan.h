#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/tsc.h"
#include "base/units.h"
#include "packet/signature.h"
#include "packet/template.h"
#include "traffic/feed.h"
#include "traffic/file_identity.h"
#include "traffic/lane_schedule.h"
#include "traffic/recording.h"

namespace volley::traffic {

/// One stream, compiled: all thinking is done. Immutable once the Plan is handed to the lanes.
struct StreamPlan {
    std::string name;
    StreamSlot slot;                                       ///< stable by name over generations
    std::uint32_t port = 0;                                ///< index into config ports
    std::shared_ptr<const packet::PacketTemplate> packet;  ///< shared with the plan before while unchanged
    std::shared_ptr<packet::Signing> signing;              ///< nullptr: not signed
    Rational mean_l2_bytes;                                ///< of a frame, with FCS
    bool max = false;                                      ///< takes what the paced streams leave
    bool hardware = false;                                 ///< sent at max: the NIC's limiter keeps its pps
    bool paused = false;                                   ///< keeps its place in the lanes, sends nothing
    Rational pps;                                          ///< target over all workers; {0,1} for max
    std::uint32_t burst = 1;                               ///< packets per TemplateBurst
    bool burst_auto = false;                               ///< chosen from the rate, not by the operator
    std::uint64_t count = endless;
    Duration duration{0};  ///< 0: none
    Duration start_delay{0};
    Tsc start = 0;  ///< tick of the first packet's own due
    Tsc phase = 0;  ///< ticks by which its bursts are behind, to stay apart from equal streams
    std::uint32_t weight = 1;
    std::uint32_t epoch = 0;  ///< a life that began at index 0; changes when burst or workers change
    bool carried = false;     ///< goes on where the previous plan's stream of this name stands
    std::vector<std::uint32_t> workers;  ///< the n workers of the port that share it, in lane order

    Departure departure = Departure::constant;
    Duration jitter{0};
    bool fixed_start = false;  ///< at a time of day: does not move with the plan's epoch
    /// Of a stream that is more than one rate, or part of a chain; its pps is then the highest and only
    /// informs.
    std::shared_ptr<const Shape> shape;
    std::uint32_t next = no_stream;  ///< stream that begins when this one's shape is over
    std::uint32_t head = no_stream;  ///< first stream of its chain; none: not in a chain, or itself
    std::uint64_t loops = 1;         ///< of a head: runs of the chain; 0 endless
    bool route_kept = false;         ///< the chain goes on where the previous plan's stands

    /// Of a stream that keeps the timing of its capture; its pps is then the mean and only informs.
    std::shared_ptr<const Recording> recording;
    std::shared_ptr<ReplayClock> clock;  ///< of the stream's life
    std::shared_ptr<Feed> feed;          ///< of a capture that is read while it is sent; of the stream's life

    std::string file;       ///< that its packets come from; empty: none
    FileIdentity file_was;  ///< before it was read
};

/// Generation N of the traffic. Control compiles it; each lane mutates its own LaneSchedule only, from
/// adoption until it adopts N+1; control frees it when every lane has finished with it.
struct Plan {
    std::uint64_t generation = 0;
    Tsc epoch = 0;  ///< the schedule's zero: run start for its first plan, later plans carry it on
    std::uint64_t tsc_hz = 0;
    Tsc end = ~Tsc{0};  ///< no burst falls due at or after this tick (run.duration)
    std::vector<StreamPlan> streams;
    std::vector<std::string> warnings;  ///< what was found while compiling, for the log
    std::vector<std::vector<std::unique_ptr<LaneSchedule>>> lanes;  ///< [port][worker of that port]
};

/// A file that packets of the plan come from is not the one that was read: a reload of the same configuration
/// would change what is sent.
bool has_other_files(const Plan& plan);

}  // namespace volley::traffic
