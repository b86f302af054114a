#pragma once

#include <memory>
#include <string>

#include "telemetry/snapshot.h"

namespace volley::telemetry {

/// One tick, rendered. Immutable: any number of readers share it and none of them touches the data path.
struct Published {
    std::shared_ptr<const Totals> totals;  ///< absolute counters, for metrics that a scraper subtracts itself
    Snapshot snapshot;
    std::string line;  ///< JSON, one line, ends in '\n'
    std::string live;  ///< the same for a human on a terminal, ends in '\n'
};

}  // namespace volley::telemetry
