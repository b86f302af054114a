#include "volley-bench/pacing.h"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/log_buckets.h"
#include "base/tsc.h"
#include "dpdk/eal.h"
#include "packet/template.h"
#include "port/port.h"
#include "traffic/pace.h"
#include "volley-bench/rounds.h"
#include "worker/lcore_loop.h"
#include "worker/tx_lane.h"

namespace volley::bench {
namespace {

using Histogram = std::array<std::uint64_t, LatenessBuckets::size>;

/// What one repetition shows, in nanoseconds, and the share of a CPU that it took.
struct Seen {
    double p50 = 0;
    double p99 = 0;
    double cpu = 0;
};

double percentile(const Histogram& counts, std::uint64_t per_cent) {
    std::uint64_t total = 0;
    for (const std::uint64_t count : counts) total += count;
    const std::uint64_t rank = std::max<std::uint64_t>(1, (total * per_cent + 99) / 100);
    std::uint64_t sum = 0;
    std::size_t i = 0;
    while (i + 1 < counts.size() && (sum += counts[i]) < rank) ++i;
    return static_cast<double>(LatenessBuckets::upper(i));
}

std::uint64_t ns_of(Tsc ticks) {
    return mul_div(ticks, 1'000'000'000, tsc_hz());
}

void sleep_for(Tsc ticks) {
    const timespec span{0, static_cast<long>(std::min<std::uint64_t>(ns_of(ticks), 999'999'999))};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &span, nullptr);
}

/// One thing to pace: bursts at even distances for a while.
struct Pace {
    Rational pps{1, 1};
    std::uint32_t burst = 1;
    std::uint64_t bursts = 1;
    bool sleeps = false;
};

// What no pacer can be below: a loop that waits for the ticks of the same bursts and does nothing else.
Seen bare(const Pace& pace) {
    const traffic::Interval interval = traffic::interval_of(pace.pps, tsc_hz());
    Histogram counts{};
    const Tsc start = tsc_now() + tsc_hz() / 500;
    const std::uint64_t before = thread_cycles();
    const Tsc began = tsc_now();
    for (std::uint64_t o = 0; o < pace.bursts; ++o) {
        const Tsc due = start + traffic::span_of(interval, o * pace.burst).whole;
        Tsc now = tsc_now();
        while (now < due) {
            if (pace.sleeps) sleep_for(due - now);
            now = tsc_now();
        }
        ++counts[LatenessBuckets::index(ns_of(now - due))];
    }
    const auto used = static_cast<double>(thread_cycles() - before);
    return {percentile(counts, 50), percentile(counts, 99), used / static_cast<double>(tsc_now() - began)};
}

/// A net_null port with one inline lane, turned by this thread.
class Rig {
  public:
    Rig() : port_(settings()) {
        port_.start(60, "bench");
        packet::PacketModel model;
        packet::Program size;
        size.from = 64;
        model.frame_size = packet::SizeModel{size, {}};
        model.headers.emplace_back().kind = packet::HeaderKind::eth;
        auto built = packet::build(model);
        if (auto* problems = std::get_if<1>(&built)) throw std::runtime_error(problems->front().text);
        packet_ = std::move(std::get<0>(built));
        worker::TxWorker::Settings worker;
        worker.port = port_.id();
        lane_ = std::make_unique<worker::TxLane>(worker, "pacing", 1024, 60, port_.socket(),
                                                 traffic::ticks_of(worker::horizon, tsc_hz()), true);
        lane_->worker.rows().add(StreamSlot{0});
    }

    Seen run(const Pace& pace) {
        traffic::LaneStream stream;
        stream.packet = packet_.get();
        stream.pps = pace.pps;
        stream.burst = pace.burst;
        stream.count = pace.bursts * pace.burst;
        stream.start = tsc_now() + tsc_hz() / 500;
        traffic::LaneSchedule schedule({stream}, ~Tsc{0}, tsc_hz());
        worker::LcoreLoop loop(LcoreId{0}, false);
        if (pace.sleeps) loop.sleep_when_idle();
        loop.add(lane_->worker);
        const std::uint64_t goal = lane_->worker.counters().packets.get() + stream.count;
        const Histogram earlier = counts();
        lane_->lane.offer(&schedule, ++generation_);
        const std::uint64_t before = thread_cycles();
        const Tsc began = tsc_now();
        Tsc now = began;
        while (lane_->worker.counters().packets.get() < goal) loop.turn(now);
        const auto used = static_cast<double>(thread_cycles() - before);
        const auto span = static_cast<double>(tsc_now() - began);
        lane_->lane.offer(nullptr, ++generation_);
        while (lane_->lane.adopted() != generation_) loop.turn(now);
        Histogram of_run = counts();
        for (std::size_t i = 0; i < of_run.size(); ++i) of_run[i] -= earlier[i];
        return {percentile(of_run, 50), percentile(of_run, 99), used / span};
    }

  private:
    static config::Port settings() {
        config::Port out;
        out.name = "null";
        out.device = "net_null0,copy=0,no-rx=1";
        out.tx = config::TxQueues{};
        out.tx->lcores = {0};
        return out;
    }
    Histogram counts() const {
        Histogram out{};
        const worker::StreamTx* row = lane_->worker.rows().find(StreamSlot{0});
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = row->lateness[i].get();
        return out;
    }

    port::Port port_;
    std::unique_ptr<const packet::PacketTemplate> packet_;
    std::unique_ptr<worker::TxLane> lane_;
    std::uint64_t generation_ = 0;
};

/// Repetitions of one row, ours and the bare loop in turn.
struct Samples {
    std::vector<double> p50;
    std::vector<double> p99;
    std::vector<double> cpu;
    void add(const Seen& seen) {
        p50.push_back(seen.p50);
        p99.push_back(seen.p99);
        cpu.push_back(seen.cpu * 100);
    }
};

class Bench {
  public:
    explicit Bench(const PacingOptions& options)
        : options_(options), repetitions_(options.short_run ? 2 : options.repetitions) {}

    Table polling() {
        Table table;
        table.name = "Lateness of a polling worker by rate and burst, beside a bare loop of the same ticks";
        table.unit = "ns; upper bounds of buckets 25 % wide";
        table.columns = {"volley p50", "bare p50", "volley p99", "bare p99"};
        table.notes = {
            "The bare loop waits for the same ticks and sends nothing: its lateness is the machine's own "
            "gaps, in which no thread of ours runs."};
        for (const std::uint64_t pps : {1'000ULL, 10'000ULL, 100'000ULL, 1'000'000ULL}) {
            for (const std::uint32_t burst : {1U, 32U}) {
                if (pps < 10'000 && burst != 1) continue;
                const auto [ours, theirs] = measure(pace(pps, burst, false));
                table.rows.push_back({std::to_string(pps) + " pps, burst " + std::to_string(burst),
                                      {cell(ours.p50), cell(theirs.p50), cell(ours.p99), cell(theirs.p99)}});
            }
        }
        return table;
    }

    Table sleeping() {
        ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
        Table table;
        table.name = "\"idle\": \"adaptive\", beside a bare loop that sleeps until the same ticks";
        table.unit = "ns; per cent of a CPU";
        table.columns = {"volley p50", "bare p50", "volley p99", "bare p99", "volley CPU %", "bare CPU %"};
        for (const std::uint64_t pps : {100ULL, 1'000ULL, 5'000ULL}) {
            const auto [ours, theirs] = measure(pace(pps, 1, true));
            table.rows.push_back({std::to_string(pps) + " pps",
                                  {cell(ours.p50), cell(theirs.p50), cell(ours.p99), cell(theirs.p99),
                                   cell(ours.cpu), cell(theirs.cpu)}});
        }
        return table;
    }

  private:
    static Cell cell(std::vector<double> samples) { return measured(summarize(std::move(samples))); }
    [[nodiscard]] Pace pace(std::uint64_t pps, std::uint32_t burst, bool sleeps) const {
        const std::uint64_t a_second = std::max<std::uint64_t>(pps / burst, 1);
        return {{pps, 1},
                burst,
                std::max<std::uint64_t>(options_.short_run ? a_second / 50 : a_second / 2, 10),
                sleeps};
    }
    std::pair<Samples, Samples> measure(const Pace& pace) {
        std::pair<Samples, Samples> out;
        for (unsigned i = 0; i < repetitions_; ++i) {
            out.first.add(rig_.run(pace));
            out.second.add(bare(pace));
        }
        return out;
    }

    const PacingOptions& options_;
    const unsigned repetitions_;
    Rig rig_;
};

}  // namespace

int run_pacing(const PacingOptions& options) {
    dpdk::EalOptions eal;
    eal.name = "volley-bench";
    eal.lcores = "0@0";
    eal.memory_mib = 128;
    const MachineWatch watch(options.short_run);
    const dpdk::Eal guard(eal);
    Result result;
    result.subcommand = "pacing";
    {
        Bench bench(options);
        result.tables.push_back(bench.polling());
        result.tables.push_back(bench.sleeping());
    }
    result.tables.push_back(schedule_cost(options.short_run, options.short_run ? 1 : 3));
    result.machine = watch.finish();
    publish(result, options.files);
    return 0;
}

}  // namespace volley::bench
