#pragma once

#include <string>
#include <vector>

#include "volley-bench/table.h"

namespace volley::bench {

struct FlushOptions {
    bool short_run = false;  ///< one short round of each: checks the format, not the speed
    OutputFiles files;
    std::vector<unsigned> thresholds{1, 2, 4, 8, 16, 32, 64};
    unsigned repetitions = 5;
    std::string trafgen_file;  ///< the packet; empty: the posting's UDP packet, built here
};

/// Deferred tail flushing over the kernel's packet socket, as the af_packet thread of August 2014 measured
/// it. Needs a network namespace of its own (root). Returns the exit code.
int run_flush(const FlushOptions& options);

}  // namespace volley::bench
