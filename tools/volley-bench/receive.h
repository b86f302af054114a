#pragma once

#include "volley-bench/table.h"

namespace volley::bench {

struct ReceiveOptions {
    bool short_run = false;  ///< one short round of each: checks the format, not the speed
    OutputFiles files;
    unsigned repetitions = 5;
    double seconds = 1;  ///< of each repetition
};

/// How a consumer of a tap interface waits for packets, as the tun_do_read patch of May 2014 asked. Needs a
/// network namespace of its own (root), /dev/net/tun and the kernel's bridge. Returns the exit code.
int run_receive(const ReceiveOptions& options);

}  // namespace volley::bench
