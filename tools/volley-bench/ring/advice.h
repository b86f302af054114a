#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "volley-bench/ring/runs.h"
#include "volley-bench/table.h"

namespace volley::bench {

/// The smallest column from which on the row's medians all lie below `reference`; none when the last one does
/// not.
std::optional<std::size_t> break_even(const TableRow& row, double reference);

/// What the numbers of the two-CPU table mean for whoever chooses a queue: one sentence each, for the rows
/// that are there.
std::vector<std::string> advice_from(const Table& pairs);

/// The lines of the kernel's time_bench (prototype-kernel, lib/time_bench.c): cycles truncated to integers,
/// nanoseconds with three decimals, the sum line averaging the truncated figures. Then the form that the
/// posting gives them.
std::string kernel_lines(const std::string& name, unsigned bulk, const PairRun& run, std::uint64_t tsc_hz);

/// The posting's hand-edited line, from a median: truncated, as the kernel does.
std::string posting_line(const std::string& name, unsigned bulk, double cycles);

}  // namespace volley::bench
