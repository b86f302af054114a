#include "volley-bench/rounds.h"

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/tsc.h"
#include "base/units.h"

namespace volley::bench {

std::uint64_t thread_cycles() {
    return mul_div(clock_ns(CLOCK_THREAD_CPUTIME_ID), tsc_hz(), 1'000'000'000);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double lowest(const std::vector<double>& values) {
    return *std::min_element(values.begin(), values.end());
}

std::string to_table(const std::vector<Row>& rows) {
    std::string out = "case                  burst   cycles (min)     floor (min)      ratio\n";
    for (const Row& row : rows) {
        char line[128];
        std::snprintf(line, sizeof(line), "%-20s %6u %8.1f (%5.1f) %8.1f (%5.1f) %8.2f\n", row.name.c_str(),
                      row.burst, row.cycles, row.cycles_min, row.floor_cycles, row.floor_min, row.ratio());
        out += line;
    }
    return out;
}

std::string to_json(const std::vector<Row>& rows) {
    std::string out = "[";
    for (const Row& row : rows) {
        char text[256];
        std::snprintf(text, sizeof(text),
                      "%s\n  {\"case\": \"%s\", \"burst\": %u, \"cycles\": %.2f, \"floor_cycles\": %.2f, "
                      "\"ratio\": %.4f, "
                      "\"cycles_min\": %.2f, \"floor_min\": %.2f}",
                      out.size() > 1 ? "," : "", row.name.c_str(), row.burst, row.cycles, row.floor_cycles,
                      row.ratio(), row.cycles_min, row.floor_min);
        out += text;
    }
    return out + "\n]\n";
}

}  // namespace volley::bench
