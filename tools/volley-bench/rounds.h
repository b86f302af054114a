#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace volley::bench {

/// TSC cycles of CPU time that this thread has used: time in which it was not on a CPU does not count.
std::uint64_t thread_cycles();

/// One line of a table: a case beside the bare loop of the same rounds. cycles: TSC cycles of the thread's
/// own CPU time a packet, medians over the rounds.
struct Row {
    std::string name;
    std::uint32_t burst = 0;
    double cycles = 0;
    double floor_cycles = 0;
    double cycles_min = 0;
    double floor_min = 0;
    [[nodiscard]] double ratio() const { return cycles / floor_cycles; }
};

/// A row from the rounds of both, in cycles a packet.
Row make_row(const std::string& name, std::uint32_t burst, const std::vector<double>& cycles,
             const std::vector<double>& floor);

/// The table to stdout and, when json_file is not empty, the rows as
/// [{"case", "burst", "cycles", "floor_cycles", "ratio", "cycles_min", "floor_min"}, …] into it. Throws
/// std::runtime_error naming the file.
void publish_rows(const std::vector<Row>& rows, const std::string& json_file);

}  // namespace volley::bench
