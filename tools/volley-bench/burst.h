#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/model.h"
#include "volley-bench/table.h"

namespace volley::bench {

struct BurstOptions {
    bool short_run = false;
    std::string device = "net_null0,copy=0,no-rx=1";
    std::string plugin;  ///< shared object with the device's driver or model
    std::vector<std::uint32_t> bursts{1, 2, 3, 4, 8, 32, 100, 128};
    std::uint32_t rs_thresh = 32;
    double doorbell_ns = 123;  ///< what a tail write is supposed to cost
    OutputFiles files;
};

/// The port that a burst is sent on, with rings of that many descriptors.
config::Port burst_port(const BurstOptions& options, std::uint32_t ring_size);

/// What a burst of b packets costs on any port, how many tail writes it makes, and what that would be worth
/// at a given price of a tail write: the xmit_more posting of September 2014. Returns the exit code.
int run_burst(const BurstOptions& options);

}  // namespace volley::bench
