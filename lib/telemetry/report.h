#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "telemetry/snapshot.h"

namespace volley::telemetry {

/// Mean and standard deviation of each stream's achieved rate over the ticks of a run, without keeping the
/// samples (Welford, Technometrics 4/3, 1962).
class RateHistory {
  public:
    void reset() { streams_.clear(); }
    /// Takes a sample of every stream that runs at both ends of a tick that lies wholly between the run's
    /// start and end.
    void sample(const Totals& previous, const Totals& now);
    [[nodiscard]] RateSamples of(const std::string& stream) const;

  private:
    struct Moments {
        std::uint64_t samples = 0;
        double mean = 0;
        double squares = 0;  ///< sum of squared distances from the mean
    };
    std::unordered_map<std::string, Moments> streams_;
};

/// The last line of a run: counts of the run, rates over its whole duration, all streams in full. When it is
/// settled, disagreements between its sums join the warnings.
Snapshot make_report(const Totals& base, const Totals& now, const RateHistory& history, bool settled);

/// Every pair of sums in the report that should be equal and is not: packets of ports, their queues, workers
/// and streams, bytes of ports, workers and streams. Empty: every packet is accounted for in each view.
std::vector<std::string> disagreements(const Snapshot& report);

}  // namespace volley::telemetry
