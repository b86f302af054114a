#pragma once

#include "volley-bench/table.h"

namespace volley::bench {

struct PeersOptions {
    bool short_run = false;  ///< one short round: checks the format, not the speed
    OutputFiles files;
    unsigned rounds = 5;
    double seconds = 2;  ///< that each program is watched in a round
};

/// volleyd beside the generators that are installed, in alternation on the same veth with the same 64-byte
/// UDP packets, judged by the far end's counters. Needs root. Returns the exit code.
int run_peers(const PeersOptions& options);

}  // namespace volley::bench
