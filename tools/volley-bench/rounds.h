#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volley-bench/table.h"

namespace volley::bench {

/// TSC cycles of CPU time that this thread has used: time in which it was not on a CPU does not count.
std::uint64_t thread_cycles();

/// A case beside the bare loop of the same rounds: TSC cycles of the thread's own CPU time a packet.
struct Row {
    std::string label;
    Summary cycles;
    Summary floor;
    Summary ratio;  ///< of the two of the same round
};

/// Cycles a packet of each round, in the same order. Throws std::invalid_argument when they are not as many.
Row make_row(std::string label, const std::vector<double>& cycles, const std::vector<double>& floor);

/// Columns "cycles", "bare loop" and "ratio".
Table table_of(std::string name, const std::vector<Row>& rows);

}  // namespace volley::bench
