#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/tsc.h"
#include "base/units.h"
#include "packet/template.h"
#include "traffic/recording.h"
#include "traffic/shape.h"

namespace volley::traffic {

inline constexpr std::uint64_t endless = ~std::uint64_t{0};
inline constexpr std::uint32_t no_stream = ~std::uint32_t{0};
/// Lanes of one stream at most.
inline constexpr std::uint32_t max_lanes = 255;

/// When bursts leave, seen from their even places on the time line.
enum class Departure : std::uint8_t {
    constant,
    poisson,  ///< exponential gaps of the same mean: the long-run rate is met as a random walk meets it,
              ///< within sqrt(n)
    jitter,   ///< later by a uniform part of a given time
};

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
    bool fixed_start = false;                  ///< start is a time of day: it does not move with the plan
    Tsc phase = 0;                             ///< below one burst's interval: keeps equal streams apart
    Tsc stop = ~Tsc{0};                        ///< for max: start + duration
    std::uint32_t weight = 1;                  ///< share among streams at max, in packets
    std::uint32_t previous = no_stream;  ///< the same stream in the lane schedule that this one succeeds

    Departure departure = Departure::constant;
    Tsc jitter = 0;          ///< departure jitter: below this
    std::uint64_t seed = 0;  ///< of departures

    /// Set for streams that are more than one rate: count, duration and pps are then in the shape. At max,
    /// the one leg says how many packets or, timed, how long.
    const Shape* shape = nullptr;
    bool follows = false;            ///< begins when another stream's shape is over, not at start
    std::uint32_t next = no_stream;  ///< stream of this lane that begins when the shape is over
    std::uint32_t head = no_stream;  ///< first stream of the chain; none: this one
    std::uint64_t loops = 1;         ///< of a head: times that its chain is run; 0 endless
    bool route_kept = false;         ///< the chain is made of the same streams as in the schedule before

    /// Set for streams that keep the timing of a capture: their dues come from here; pps only informs, and
    /// burst and lanes are 1, for the recording says which packets are this lane's.
    const Recording* recording = nullptr;
    Tsc replay_stop = ~Tsc{0};     ///< with recording: nothing is sent that is due so long after packet 0
    ReplayClock* clock = nullptr;  ///< with recording: shared by the stream's lanes, all turned by one thread
    std::uint32_t lane = 0;        ///< with recording: which of its lanes this is
};

}  // namespace volley::traffic
