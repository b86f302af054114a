#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "traffic/lane_schedule.h"
#include "volley-bench/pacing.h"
#include "volley-bench/rounds.h"

namespace volley::bench {
namespace {

constexpr std::uint64_t total_pps = 1'000'000;
constexpr std::uint64_t hz = 2'000'000'000;  // of the simulated clock
constexpr Tsc horizon = hz / 5000;

/// Streams of seven rates that come to total_pps, one packet a burst, seen by one lane.
std::vector<traffic::LaneStream> streams_of(std::uint32_t count, std::uint32_t lanes, std::uint32_t lane) {
    std::uint64_t weights = 0;
    for (std::uint32_t s = 0; s < count; ++s) weights += 1 + s % 7;
    std::vector<traffic::LaneStream> out(count);
    for (std::uint32_t s = 0; s < count; ++s) {
        traffic::LaneStream& stream = out[s];
        stream.slot = StreamSlot{s};
        stream.pps = reduced(total_pps * (1 + s % 7), weights);
        stream.lanes = lanes;
        stream.first = (lane + lanes - s % lanes) % lanes;
        stream.phase = std::uint64_t{s} * hz / total_pps % (hz * stream.pps.den / stream.pps.num + 1);
    }
    return out;
}

struct Cost {
    double cycles = 0;       ///< a burst
    double worst_error = 0;  ///< packets that a stream has sent more or less than its rate says
};

Cost cost_of(std::uint32_t count, std::uint32_t lanes, Tsc until) {
    std::vector<std::uint64_t> sent(count, 0);
    std::uint64_t cycles = 0;
    std::vector<traffic::TemplateBurst> out(64);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        traffic::LaneSchedule schedule(streams_of(count, lanes, lane), ~Tsc{0}, hz);
        schedule.adopt(nullptr, 0);
        const std::uint64_t before = thread_cycles();
        for (Tsc now = 0; now < until; now = std::min(now + horizon, until)) {
            const Tsc end = std::min(now + horizon, until) - 1;
            for (std::uint32_t n = 64; n == 64;) {
                n = schedule.fill(now, end, 64, 0, out.data());
                for (std::uint32_t i = 0; i < n; ++i) sent[out[i].stream] += out[i].count;
            }
        }
        cycles += thread_cycles() - before;
    }
    Cost cost;
    const std::uint64_t bursts = std::accumulate(sent.begin(), sent.end(), std::uint64_t{0});
    cost.cycles = static_cast<double>(cycles) / static_cast<double>(std::max<std::uint64_t>(bursts, 1));
    const auto streams = streams_of(count, 1, 0);
    for (std::uint32_t s = 0; s < count; ++s) {
        const double due = static_cast<double>(until) / static_cast<double>(hz) *
                           static_cast<double>(streams[s].pps.num) / static_cast<double>(streams[s].pps.den);
        cost.worst_error = std::max(cost.worst_error, std::abs(static_cast<double>(sent[s]) - due));
    }
    return cost;
}

}  // namespace

Table schedule_cost(bool short_run, unsigned repetitions) {
    Table table;
    table.name = "Schedule, streams of 7 rates that come to 1 Mpps, one packet a burst";
    table.unit = "cycles(tsc) a burst; packets";
    table.columns = {"1 lane", "4 lanes", "worst count error of a stream after the run"};
    table.notes = {"In simulated time: nothing is stamped or sent. Of several lanes the mean."};
    const Tsc until = short_run ? hz / 50 : 2 * hz;
    for (const std::uint32_t count : {1U, 10U, 1'000U, 20'000U}) {
        TableRow row{std::to_string(count) + (count == 1 ? " stream" : " streams"), {}};
        double worst = 0;
        for (const std::uint32_t lanes : {1U, 4U}) {
            std::vector<double> samples;
            for (unsigned i = 0; i < repetitions; ++i) {
                const Cost cost = cost_of(count, lanes, until);
                samples.push_back(cost.cycles);
                worst = std::max(worst, cost.worst_error);
            }
            row.cells.push_back(measured(summarize(std::move(samples))));
        }
        row.cells.push_back(number(worst));
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace volley::bench
