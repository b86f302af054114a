#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volley-bench/table.h"

namespace volley::bench {

struct RingOptions {
    bool short_run = false;  ///< few and small repetitions: checks the format, not the speed
    OutputFiles files;
    std::vector<unsigned> bulks{1, 2, 4, 8, 16, 32};
    std::uint32_t queue_size = 65536;  ///< of the prefilled runs; a power of two
    unsigned repetitions = 15;
    std::string only;            ///< queues whose name contains it; empty: all
    bool all_cpus = false;       ///< each pair of CPUs in turn, and without pinning
    bool kernel_format = false;  ///< the kernel's and the posting's lines as well
};

/// Queues as the 2016 skb_array and alf_queue thread measured them. Needs neither EAL nor huge pages.
/// Throws std::invalid_argument for options that cannot be met. Returns the exit code.
int run_ring(const RingOptions& options);

}  // namespace volley::bench
