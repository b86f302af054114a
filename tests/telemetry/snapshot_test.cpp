#include "telemetry/snapshot.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/log_buckets.h"
#include "telemetry/example.h"

namespace volley::telemetry {
namespace {

using example::second;
using example::totals;
constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();

Snapshot between(const Totals& base, const Totals& previous, const Totals& now) {
    return make_snapshot(base, previous, now, 256);
}

TEST(Snapshot, counts_are_of_the_run_and_rates_of_the_last_tick) {
    const Snapshot out = between(totals(10, 5000), totals(13, 9000), totals(15, 14'000));
    const Traffic& tx = out.ports.at(0).tx->traffic;
    EXPECT_EQ(tx.packets, 9000U);
    EXPECT_EQ(tx.bytes, 9000U * 60);
    EXPECT_EQ(tx.l2_bytes, 9000U * 64);
    EXPECT_EQ(tx.rates.pps, 2500.0);
    EXPECT_EQ(tx.rates.l2_bps, 2500.0 * 64 * 8);
    EXPECT_EQ(tx.rates.l1_bps, 2500.0 * 84 * 8);
    EXPECT_EQ(out.queues.at(0).packets, 9000U);
    EXPECT_EQ(out.queues.at(0).tail_writes, 14'000U / 32 - 5000 / 32);
    EXPECT_EQ(out.workers.at(0).tx->packets, 9000U);
    EXPECT_EQ(out.streams.at(0).tx.packets, 9000U);
    EXPECT_EQ(out.duration_ns, 5 * second);
}

TEST(Snapshot, rates_divide_by_the_measured_time_not_by_the_interval) {
    Totals now = totals(2, 3000);
    now.monotonic_ns += 500'000'000;
    EXPECT_EQ(between(totals(0, 0), totals(1, 0), now).ports.at(0).tx->traffic.rates.pps, 2000.0);
}

TEST(Snapshot, without_time_there_are_no_rates_and_no_errors) {
    const Snapshot out = between(totals(5, 100), totals(5, 100), totals(5, 100));
    EXPECT_FALSE(out.ports.at(0).tx->traffic.rates.pps);
    EXPECT_FALSE(out.ports.at(0).tx->traffic.rates.l1_bps);
    EXPECT_FALSE(out.workers.at(0).busy_ratio);
    EXPECT_FALSE(out.workers.at(0).cycles_per_packet);
    EXPECT_FALSE(out.streams.at(0).rate_error_ppm);
    EXPECT_FALSE(out.streams.at(0).lateness);
    EXPECT_EQ(out.duration_ns, 0U);
}

TEST(Snapshot, a_clock_that_steps_back_gives_no_rates) {
    EXPECT_FALSE(between(totals(0, 0), totals(3, 100), totals(2, 200)).streams.at(0).tx.rates.pps);
}

TEST(Snapshot, a_counter_that_falls_is_zero_never_huge) {
    const Snapshot out = between(totals(0, 500), totals(1, 600), totals(2, 7));
    EXPECT_EQ(out.ports.at(0).tx->traffic.packets, 0U);
    EXPECT_EQ(out.ports.at(0).tx->traffic.rates.pps, 0.0);
    EXPECT_EQ(out.streams.at(0).tx.packets, 0U);
}

TEST(Snapshot, counts_of_two_to_the_64_less_one_stay_there) {
    Totals now = totals(1, 0);
    now.ports[0].tx = PortTx{top, top, top, top, true};
    now.streams[0].tx = {top, top};
    const Snapshot out = between(totals(0, 0), totals(0, 0), now);
    EXPECT_EQ(out.ports.at(0).tx->traffic.packets, top);
    EXPECT_EQ(out.ports.at(0).tx->traffic.bytes, top);
    EXPECT_EQ(out.ports.at(0).tx->traffic.l2_bytes, top);
    EXPECT_EQ(out.ports.at(0).tx->errors, top);
    EXPECT_NEAR(out.streams.at(0).tx.rates.pps.value(), 18446744073709551615.0, 1e4);
}

TEST(Snapshot, busy_ratio_and_cycles_per_packet_are_of_the_last_tick) {
    Totals previous = totals(1, 100);
    previous.workers[0].busy_cycles = 1000;
    previous.workers[0].total_cycles = 8000;
    Totals now = totals(2, 150);
    now.workers[0].busy_cycles = 2000;
    now.workers[0].total_cycles = 10'000;
    const WorkerView worker = between(totals(0, 0), previous, now).workers.at(0);
    EXPECT_EQ(worker.busy_ratio, 0.5);
    EXPECT_EQ(worker.cycles_per_packet, 20.0);
}

TEST(Snapshot, a_worker_that_sends_nothing_has_no_cycles_per_packet) {
    Totals previous = totals(1, 100);
    Totals now = totals(2, 100);
    now.workers[0].tx.reset();
    EXPECT_FALSE(between(totals(0, 0), previous, totals(2, 100)).workers.at(0).cycles_per_packet);
    EXPECT_FALSE(between(totals(0, 0), previous, now).workers.at(0).tx);
}

TEST(Snapshot, busy_cycles_read_ahead_of_all_cycles_make_no_ratio_above_one) {
    Totals now = totals(1, 10);
    now.workers[0].busy_cycles = now.workers[0].total_cycles + 5;
    EXPECT_EQ(between(totals(0, 0), totals(0, 0), now).workers.at(0).busy_ratio, 1.0);
}

TEST(Snapshot, ring_and_pool_are_gauges_and_empty_polls_are_of_the_run) {
    const WorkerView worker = between(totals(10, 0), totals(11, 0), totals(12, 0)).workers.at(0);
    EXPECT_EQ(worker.ring->occupancy, 4U);
    EXPECT_EQ(worker.ring->empty_polls, 2U);
    EXPECT_EQ(worker.mempool->free, 1000U);
    EXPECT_EQ(worker.heartbeat, 1200U);
}

TEST(Snapshot, what_a_workers_receivers_counted_is_of_the_run) {
    const WorkerView worker = between(totals(10, 0), totals(11, 0), totals(12, 0)).workers.at(0);
    EXPECT_EQ(worker.rx->packets, 24U);
    EXPECT_EQ(worker.rx->sleeps, 14U);
    EXPECT_EQ(worker.rx->interrupts, 10U);
}

TEST(Snapshot, the_rate_error_holds_what_was_sent_against_what_was_due) {
    Totals now = totals(10, 9990);
    now.streams[0].due_packets = 10'000;
    const StreamView stream = between(totals(0, 0), totals(9, 9000), now).streams.at(0);
    EXPECT_NEAR(stream.rate_error_ppm.value(), -1000.0, 1e-6);
    EXPECT_EQ(stream.shortfall_packets, 10U);
}

TEST(Snapshot, without_a_due_count_the_rate_error_is_of_the_mean_rate_of_the_run) {
    const StreamView stream = between(totals(0, 0), totals(9, 9000), totals(10, 10'001)).streams.at(0);
    EXPECT_NEAR(stream.rate_error_ppm.value(), 100.0, 1e-6);
    EXPECT_FALSE(stream.shortfall_packets);
}

TEST(Snapshot, a_stream_ahead_of_its_schedule_has_no_shortfall) {
    Totals now = totals(1, 1001);
    now.streams[0].due_packets = 1000;
    EXPECT_EQ(between(totals(0, 0), totals(0, 0), now).streams.at(0).shortfall_packets, 0U);
}

TEST(Snapshot, a_stream_at_max_has_neither_target_nor_error) {
    Totals now = totals(1, 1000);
    now.streams[0].target_pps.reset();
    const StreamView stream = between(totals(0, 0), totals(0, 0), now).streams.at(0);
    EXPECT_FALSE(stream.target_pps);
    EXPECT_FALSE(stream.rate_error_ppm);
    EXPECT_FALSE(stream.shortfall_packets);
}

TEST(Snapshot, one_packet_of_a_slow_stream_is_seen) {
    Totals now = totals(3600, 1);
    now.streams[0].target_pps = Rational{1, 3600};
    const StreamView stream = between(totals(0, 0), totals(0, 0), now).streams.at(0);
    EXPECT_NEAR(stream.tx.rates.pps.value(), 1.0 / 3600, 1e-12);
    EXPECT_NEAR(stream.target_pps.value(), 1.0 / 3600, 1e-12);
    EXPECT_NEAR(stream.rate_error_ppm.value(), 0, 1e-6);
}

TEST(Snapshot, late_bursts_slips_and_the_histogram_are_of_the_run) {
    Totals base = totals(0, 0);
    base.streams[0].lateness.assign(LatenessBuckets::size, 3);
    base.streams[0].slips = 2;
    base.streams[0].slipped_packets = 500;
    Totals now = totals(1, 0);
    now.streams[0].lateness = base.streams[0].lateness;
    now.streams[0].lateness[LatenessBuckets::index(late_ns - 1)] += 5;
    now.streams[0].lateness[LatenessBuckets::index(late_ns)] += 7;
    now.streams[0].slips = 3;
    now.streams[0].slipped_packets = 900;
    const StreamView view = between(base, base, now).streams.at(0);
    EXPECT_EQ(view.late_bursts, 7U);
    ASSERT_EQ(view.late_histogram.size(), 2U);
    EXPECT_EQ(view.late_histogram[0].to_ns, late_ns - 1);
    EXPECT_EQ(view.late_histogram[0].bursts, 5U);
    EXPECT_GE(view.late_histogram[1].to_ns, late_ns);
    EXPECT_EQ(view.late_histogram[1].bursts, 7U);
    EXPECT_EQ(view.slips, 1U);
    EXPECT_EQ(view.slipped_packets, 400U);
}

TEST(Snapshot, lateness_is_of_the_run_and_never_below_the_truth) {
    Totals base = totals(0, 0);
    base.streams[0].lateness.assign(LatenessBuckets::size, 7);
    Totals now = totals(1, 100);
    now.streams[0].lateness = base.streams[0].lateness;
    now.streams[0].lateness[LatenessBuckets::index(100)] += 98;
    now.streams[0].lateness[LatenessBuckets::index(5000)] += 1;
    now.streams[0].lateness[LatenessBuckets::index(70'000)] += 1;
    const LatenessView late = between(base, base, now).streams.at(0).lateness.value();
    EXPECT_EQ(late.p50, LatenessBuckets::upper(LatenessBuckets::index(100)));
    EXPECT_EQ(late.p99, LatenessBuckets::upper(LatenessBuckets::index(5000)));
    EXPECT_EQ(late.max, LatenessBuckets::upper(LatenessBuckets::index(70'000)));
}

TEST(Snapshot, percentiles_of_few_bursts_are_rounded_to_the_later_one) {
    Totals now = totals(1, 3);
    now.streams[0].lateness.assign(4, 0);
    now.streams[0].lateness[1] = 1;
    now.streams[0].lateness[2] = 1;
    now.streams[0].lateness[3] = 1;
    const LatenessView late = between(totals(0, 0), totals(0, 0), now).streams.at(0).lateness.value();
    EXPECT_EQ(late.p50, 2U);
    EXPECT_EQ(late.p99, 3U);
    EXPECT_EQ(late.max, 3U);
}

TEST(Snapshot, a_single_late_burst_is_its_own_median_and_maximum) {
    Totals now = totals(1, 1);
    now.streams[0].lateness.assign(1, 1);
    const LatenessView late = between(totals(0, 0), totals(0, 0), now).streams.at(0).lateness.value();
    EXPECT_EQ(late.p50, 0U);
    EXPECT_EQ(late.max, 0U);
}

TEST(Snapshot, rows_are_matched_by_name_when_a_reload_moved_them) {
    Totals base = totals(0, 0);
    base.streams = {example::stream("a", 10), example::stream("b", 20)};
    Totals now = totals(1, 0);
    now.streams = {example::stream("new", 3), example::stream("b", 25), example::stream("a", 11)};
    const Snapshot out = between(base, base, now);
    EXPECT_EQ(out.streams.at(0).tx.packets, 3U);
    EXPECT_EQ(out.streams.at(1).tx.packets, 5U);
    EXPECT_EQ(out.streams.at(2).tx.packets, 1U);
}

TEST(Snapshot, streams_beyond_the_limit_are_summed) {
    Totals base = totals(0, 0);
    base.streams.clear();
    Totals now = totals(1, 0);
    now.streams.clear();
    for (int i = 0; i < 10; ++i) {
        base.streams.push_back(example::stream("s" + std::to_string(i), 5));
        now.streams.push_back(example::stream("s" + std::to_string(i), 5 + 100));
        now.streams.back().lateness.assign(1, 1);
        now.streams.back().due_packets = 101;
    }
    const Snapshot out = make_snapshot(base, base, now, 4);
    EXPECT_EQ(out.streams.size(), 4U);
    EXPECT_EQ(out.other->name, "_other");
    EXPECT_EQ(out.other->tx.packets, 600U);
    EXPECT_EQ(out.other->tx.l2_bytes, 600U * 64);
    EXPECT_EQ(out.other->tx.rates.pps, 600.0);
    EXPECT_EQ(out.other->target_pps, 6000.0);
    EXPECT_EQ(out.other->shortfall_packets, 6U);
    EXPECT_TRUE(out.other->lateness);
    EXPECT_FALSE(make_snapshot(base, base, now, 10).other);
}

TEST(Snapshot, a_removed_stream_stays_while_the_run_counts_packets_of_it) {
    Totals base = totals(0, 100);
    Totals now = totals(1, 100);
    now.streams[0].state = "removed";
    EXPECT_TRUE(between(base, base, now).streams.empty());
    now.streams[0].tx.packets = 101;
    EXPECT_EQ(between(base, base, now).streams.at(0).tx.packets, 1U);
}

TEST(Snapshot, xstats_are_of_the_run_non_zero_and_each_name_once) {  // B63
    Totals base = totals(0, 0);
    base.ports[0].xstats = {{"drops", 4}, {"same", 3}};
    Totals now = totals(1, 0);
    now.ports[0].xstats = {{"same", 3}, {"twice", 1}, {"drops", 9}, {"twice", 2}};
    const auto xstats = between(base, base, now).ports.at(0).xstats;
    ASSERT_EQ(xstats.size(), 2U);
    EXPECT_EQ(xstats[0].name, "twice");
    EXPECT_EQ(xstats[0].count, 3U);
    EXPECT_EQ(xstats[1].name, "drops");
    EXPECT_EQ(xstats[1].count, 5U);
}

TEST(Snapshot, the_duration_ends_with_the_traffic_not_with_the_tick) {
    Totals now = totals(9, 0);
    now.run_started_ns = totals(2, 0).monotonic_ns;
    EXPECT_EQ(between(totals(0, 0), totals(8, 0), now).duration_ns, 7 * second);
    now.run_ended_ns = totals(7, 0).monotonic_ns;
    EXPECT_EQ(between(totals(0, 0), totals(8, 0), now).duration_ns, 5 * second);
    now.run_started_ns = totals(20, 0).monotonic_ns;
    EXPECT_EQ(between(totals(0, 0), totals(8, 0), now).duration_ns, 0U);
}

TEST(Snapshot, nothing_at_all_is_a_snapshot_too) {  // B55
    const Snapshot out = between({}, {}, {});
    EXPECT_TRUE(out.ports.empty());
    EXPECT_TRUE(out.streams.empty());
    EXPECT_FALSE(out.other);
}

}  // namespace
}  // namespace volley::telemetry
