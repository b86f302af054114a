#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traffic/burst.h"
#include "traffic/plan.h"

namespace volley::traffic {

/// A burst as a worker would submit it.
struct PlayedBurst {
    std::uint32_t port = 0;    ///< index into Plan::lanes
    std::uint32_t worker = 0;  ///< of that port
    TemplateBurst burst{};     ///< due as the schedule has it, from the plan's epoch on
};

/// Plays a plan in simulated time: the bursts of all its lanes in the order in which they fall due, by the
/// same schedules and templates that workers use. Nothing is ever late. Streams at max are given what the
/// link carries beside the paced ones, frame by frame on the wire (L1).
class Playback {
  public:
    /// The plan is played once: its schedules move on. link_bps: of each port, 0 for 10 Gbit/s. tsc_hz: what
    /// the plan was compiled with. All must outlive the playback.
    Playback(const Plan& plan, std::vector<std::uint64_t> link_bps, std::uint64_t tsc_hz);

    /// The next burst, or nothing when the plan sends no more. Frames of a file that is read while it is sent
    /// can be written until the next call. Throws imports::Error when such a file cannot be read any more.
    std::optional<PlayedBurst> next();

  private:
    struct Lane {
        LaneSchedule* schedule = nullptr;
        std::uint32_t port = 0;
        std::uint32_t worker = 0;
        Tsc now = 0;
        std::vector<TemplateBurst> bursts;  ///< fetched and not handed out, from `head` on
        std::size_t head = 0;
        bool over = false;
    };
    /// When the wire is free again: `since` and the bits sent from then on.
    struct Wire {
        std::uint64_t bps = 0;
        Tsc since = 0;
        std::uint64_t bits = 0;
    };

    /// Frames of a window that are over and done with.
    struct Done {
        packet::FrameWindow* window = nullptr;
        std::uint64_t index = 0;
    };

    void await_files(const Lane& lane) const;
    void fetch(Lane& lane);
    [[nodiscard]] Tsc free_at(const Wire& wire) const;
    void occupy(Wire& wire, const TemplateBurst& burst) const;

    const Plan& plan_;
    std::vector<Lane> lanes_;
    std::vector<Wire> wires_;
    std::uint64_t tsc_hz_;
    Done done_;
};

}  // namespace volley::traffic
