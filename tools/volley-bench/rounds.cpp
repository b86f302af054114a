#include "volley-bench/rounds.h"

#include <cstdio>

#include "base/clock.h"
#include "base/tsc.h"
#include "base/units.h"
#include "volley-bench/table.h"

namespace volley::bench {
namespace {

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

}  // namespace

std::uint64_t thread_cycles() {
    return mul_div(clock_ns(CLOCK_THREAD_CPUTIME_ID), tsc_hz(), 1'000'000'000);
}

Row make_row(const std::string& name, std::uint32_t burst, const std::vector<double>& cycles,
             const std::vector<double>& floor) {
    const Summary road = summarize(cycles);
    const Summary bare = summarize(floor);
    return {name, burst, road.median, bare.median, road.min, bare.min};
}

void publish_rows(const std::vector<Row>& rows, const std::string& json_file) {
    std::fputs(to_table(rows).c_str(), stdout);
    write_file(json_file, to_json(rows));
}

}  // namespace volley::bench
