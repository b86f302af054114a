#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "daemon/expected.h"
#include "daemon/limiters.h"
#include "daemon/links.h"
#include "daemon/receivers.h"
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
    std::optional<telemetry::EvidenceTotals> evidence;
    telemetry::CaptureTotals captures;
    std::optional<std::uint64_t> run_started_ns;
    std::optional<std::uint64_t> run_ended_ns;
    std::vector<std::uint64_t> unsent;  ///< by port, since the process started
};

/// Reads every counter of the road: the one place where worker, port and stream counters become Totals.
class Collector : public telemetry::Source {
  public:
    Collector(const Road& road, const StreamBook& book, const Links& links, const Limiters& limiters,
              const Receivers& receivers)
        : road_(road), book_(book), links_(links), limiters_(limiters), receivers_(receivers) {}

    /// Control.
    void tell(Situation situation) {
        const std::lock_guard lock(mutex_);
        situation_ = std::move(situation);
    }
    /// The stats lcore.
    void collect(telemetry::Totals& out) override;
    void refresh() override;

  private:
    static void check_clock(telemetry::Totals& out);
    void collect_ports(telemetry::Totals& out, const Situation& situation);
    void collect_lanes(telemetry::Totals& out);
    void collect_streams(telemetry::Totals& out);
    void collect_rx(const StreamBook::Line& line, std::uint64_t sent, telemetry::StreamTotals& out);
    [[nodiscard]] telemetry::PortRx collect_rx(std::size_t port, const port::Statistics& device) const;

    /// How far a stream had come when the run began, so that what several workers expect is not added up.
    struct Before {
        std::vector<ExpectedByLane> expected;  ///< by RX worker
        std::vector<std::uint64_t> unique;     ///< received without duplicates, by port
        std::uint64_t told = 0;                ///< what this collector said then
        std::uint64_t copies_told = 0;         ///< and of packets that several ports received
        std::uint64_t sent = 0;                ///< signed
        std::uint64_t last = 0;                ///< what it said last
        std::uint64_t copies = 0;
    };

    const Road& road_;
    const StreamBook& book_;
    const Links& links_;
    const Limiters& limiters_;
    const Receivers& receivers_;
    std::string run_;  ///< that `before_` belongs to
    bool run_is_new_ = false;
    std::vector<Before> before_;                 ///< by slot; the stats lcore's own memory
    std::vector<std::string> at_several_ports_;  ///< streams of this reading
    std::mutex mutex_;
    Situation situation_;
};

}  // namespace volley::daemon
