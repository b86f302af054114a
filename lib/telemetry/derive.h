#pragma once

#include <cstddef>
#include <cstdint>

#include "telemetry/snapshot.h"

namespace volley::telemetry {

/// Nanoseconds of traffic in the run that `base` is the base line of, up to `now` or the end of traffic.
std::uint64_t run_duration(const Totals& base, const Totals& now);

/// The common part of a snapshot and a report: rates are (now - previous) / elapsed_ns.
Snapshot derive(const Totals& base, const Totals& previous, const Totals& now, std::uint64_t elapsed_ns,
                std::size_t streams_in_full);

}  // namespace volley::telemetry
