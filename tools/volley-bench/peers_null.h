#pragma once

#include <string>
#include <vector>

#include "volley-bench/table.h"

namespace volley::bench {

struct NullRoad {
    Table table;
    std::vector<std::string> advice;  ///< what did not run here and why
};

/// volleyd beside the generators of DPDK on net_null, which has no far side: judged by each program's own
/// port statistics and the CPU time of its busiest thread. rounds: each runs every program once a row.
NullRoad compare_on_net_null(bool short_run, unsigned rounds, double seconds);

}  // namespace volley::bench
