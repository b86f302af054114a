#pragma once

#include <cstdint>

#include "volley-bench/table.h"

namespace volley::bench {

struct BlackholeOptions {
    bool short_run = false;  ///< few packets: checks the format, not the speed
    OutputFiles files;
    std::uint64_t packets = 20'000'000;  ///< into net_null; a twentieth of it into the kernel
    unsigned repetitions = 10;
};

/// Two senders into a device that swallows everything, through one locked queue and through one each: the
/// dummy multiqueue posting of March 2014. Needs root for the kernel's device. Returns the exit code.
int run_blackhole(const BlackholeOptions& options);

}  // namespace volley::bench
