#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "daemon/limiters.h"
#include "daemon/links.h"
#include "daemon/road.h"
#include "daemon/stream_book.h"
#include "telemetry/totals.h"

namespace volley::daemon {

/// What control tells the stats lcore about the process as a whole. Written by control, read by the stats
/// lcore.
struct Situation {
    std::string state;
    std::string run_id;
    std::uint64_t generation = 0;
    std::vector<std::string> warnings;
    telemetry::Reloads reloads;
    std::optional<std::uint64_t> run_started_ns;
    std::optional<std::uint64_t> run_ended_ns;
    std::vector<std::uint64_t> unsent;  ///< by port, since the process started
};

/// Reads every counter of the road: the one place where worker, port and stream counters become Totals.
class Collector : public telemetry::Source {
  public:
    Collector(const Road& road, const StreamBook& book, const Links& links, const Limiters& limiters)
        : road_(road), book_(book), links_(links), limiters_(limiters) {}

    /// Control.
    void tell(Situation situation) {
        const std::lock_guard lock(mutex_);
        situation_ = std::move(situation);
    }
    /// The stats lcore.
    void collect(telemetry::Totals& out) override;
    void refresh() override;

  private:
    void collect_ports(telemetry::Totals& out, const Situation& situation);
    void collect_lanes(telemetry::Totals& out);
    void collect_streams(telemetry::Totals& out);

    const Road& road_;
    const StreamBook& book_;
    const Links& links_;
    const Limiters& limiters_;
    std::mutex mutex_;
    Situation situation_;
};

}  // namespace volley::daemon
