#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.h"
#include "telemetry/published.h"
#include "telemetry/render.h"
#include "telemetry/sink.h"
#include "telemetry/totals.h"

namespace volley::telemetry {

/// The stats lcore: collects every counter at a fixed interval, makes the snapshot, publishes it and feeds
/// the sinks. run() is given a thread of its own. All other members are for control and the service, from any
/// thread.
class StatsLoop {
  public:
    struct Options {
        Duration interval{1'000'000'000};
        std::size_t streams_in_full = 256;
        /// After stop(), how long a reader may take nothing and still get the lines that it was given; 10
        /// times that in all.
        Duration flush_time{1'000'000'000};
        MetricsContext metrics{};
        /// The longest time between two readings of the devices' registers, whatever the interval.
        Duration refresh_interval{1'000'000'000};
    };
    using Line = std::shared_ptr<const Published>;

    /// source must outlive the loop. Sinks must have different names. Throws std::system_error when the
    /// kernel gives no timer or event descriptor, std::invalid_argument for an interval of 0.
    StatsLoop(Source& source, const Options& options, std::vector<std::unique_ptr<Sink>> sinks);
    ~StatsLoop();
    StatsLoop(const StatsLoop&) = delete;
    StatsLoop& operator=(const StatsLoop&) = delete;

    /// Ticks until stop(). Ticks stand on absolute deadlines: a late one is made once and delays no other.
    void run() noexcept;

    /// The following wait until the stats lcore has done it, at most `patience`; then they give up and return
    /// nullptr. Takes the base line of a new run and starts its ticks. Call it before the first packet may
    /// leave.
    Line begin_run(std::chrono::milliseconds patience);
    /// An extra tick now.
    Line tick(std::chrono::milliseconds patience);
    /// Lines count from now on, the report still from the start of the run.
    Line clear(std::chrono::milliseconds patience);
    /// Publishes the report of the run; ticks go on. settled: nothing is in flight any more.
    Line report(bool settled, std::chrono::milliseconds patience);
    /// The same as the very last line, then stop().
    Line finish(bool settled, std::chrono::milliseconds patience);

    /// These return at once; a signal handler may call them.
    void reopen();   ///< files, by SIGUSR1
    void refresh();  ///< the stats lcore reads the devices' registers now
    void
    stop();  ///< run() returns after the tick at hand and the time that readers still need; see flush_time

    /// The latest tick, and the report of the last run that has one; nullptr before the first.
    [[nodiscard]] Line latest() const;
    [[nodiscard]] Line latest_report() const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace volley::telemetry
