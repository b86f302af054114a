#pragma once

#include <string>

#include "volley-bench/table.h"

namespace volley::bench {

struct RxOptions {
    bool short_run = false;  ///< fewer rounds: checks the format, not the speed
    OutputFiles files;
    std::string only;  ///< case to run; empty: all
};

/// The receiver's turn (rx_burst, recognise, account, free) beside a bare loop of rx_burst and free, in
/// alternation in one process on net_ring. Returns the exit code.
int run_rx(const RxOptions& options);

}  // namespace volley::bench
