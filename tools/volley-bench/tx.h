#pragma once

#include <string>

#include "volley-bench/table.h"

namespace volley::bench {

struct TxOptions {
    bool short_run = false;  ///< fewer and shorter rounds: checks the format, not the speed
    OutputFiles files;
    std::string only;  ///< case to run; empty: all
};

/// The whole road from plan to tx_burst beside the bare floor loop, in alternation in one process on
/// net_null. Returns the exit code.
int run_tx(const TxOptions& options);

}  // namespace volley::bench
