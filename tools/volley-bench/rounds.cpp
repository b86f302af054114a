#include "volley-bench/rounds.h"

#include <stdexcept>
#include <utility>

#include "base/clock.h"
#include "base/tsc.h"
#include "base/units.h"

namespace volley::bench {

std::uint64_t thread_cycles() {
    return mul_div(clock_ns(CLOCK_THREAD_CPUTIME_ID), tsc_hz(), 1'000'000'000);
}

Row make_row(std::string label, const std::vector<double>& cycles, const std::vector<double>& floor) {
    if (cycles.size() != floor.size())
        throw std::invalid_argument("rounds of " + label + " without their floor");
    std::vector<double> ratios;
    for (std::size_t i = 0; i < cycles.size(); ++i) ratios.push_back(cycles[i] / floor[i]);
    return {std::move(label), summarize(cycles), summarize(floor), summarize(std::move(ratios))};
}

Table table_of(std::string name, const std::vector<Row>& rows) {
    Table out;
    out.name = std::move(name);
    out.unit = "TSC cycles of the thread's CPU time a packet; ratio: by the bare loop of the same round";
    out.columns = {"cycles", "bare loop", "ratio"};
    for (const Row& row : rows)
        out.rows.push_back({row.label, {measured(row.cycles), measured(row.floor), measured(row.ratio)}});
    return out;
}

}  // namespace volley::bench
