#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace volley::bench {

/// TSC cycles of CPU time that this thread has used: time in which it was not on a CPU does not count.
std::uint64_t thread_cycles();

double median(std::vector<double> values);
double lowest(const std::vector<double>& values);

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

std::string to_table(const std::vector<Row>& rows);
/// [{"case", "burst", "cycles", "floor_cycles", "ratio", "cycles_min", "floor_min"}, …]
std::string to_json(const std::vector<Row>& rows);

}  // namespace volley::bench
