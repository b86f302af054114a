#pragma once

#include "volley-bench/table.h"

namespace volley::bench {

struct PacingOptions {
    bool short_run = false;  ///< few and brief repetitions: checks the format, not the machine
    OutputFiles files;
    unsigned repetitions = 9;
};

/// How late bursts leave by rate and burst, beside a bare loop that waits for the same ticks and sends
/// nothing: what that one shows is the machine. Then the same with both asleep between bursts, and what a
/// burst costs the schedule by the number of its streams. Returns the exit code. Throws dpdk::Error.
int run_pacing(const PacingOptions& options);

/// What a burst costs the schedule by the number of streams and lanes, in simulated time.
Table schedule_cost(bool short_run, unsigned repetitions);

}  // namespace volley::bench
