#pragma once

#include <string>

#include "volley-bench/table.h"

namespace volley::bench {

/// Each measured cell that both results have, after by before: medians and their ratio, and whether the
/// spreads (min to p90) overlap, in which case the difference may be noise.
Result compare(const Result& before, const Result& after);

/// Throws std::invalid_argument for a file that is not a result, or results of different subcommands.
int run_compare(const std::string& before, const std::string& after, const OutputFiles& files);

}  // namespace volley::bench
