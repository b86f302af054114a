#include "telemetry/report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "telemetry/example.h"

namespace volley::telemetry {
namespace {

using example::second;
using example::totals;

TEST(Report, counts_and_rates_are_those_of_the_whole_run) {
    Totals now = totals(12, 20'500);
    now.run_started_ns = totals(1, 0).monotonic_ns;
    now.run_ended_ns = totals(11, 0).monotonic_ns;
    const Snapshot report = make_report(totals(0, 500), now, {}, true);
    EXPECT_TRUE(report.report);
    EXPECT_TRUE(report.settled);
    EXPECT_EQ(report.duration_ns, 10 * second);
    EXPECT_EQ(report.ports.at(0).tx->traffic.packets, 20'000U);
    EXPECT_EQ(report.ports.at(0).tx->traffic.rates.pps, 2000.0);
    EXPECT_EQ(report.streams.at(0).tx.rates.pps, 2000.0);
}

TEST(Report, of_a_run_without_time_or_packets_has_no_rates) {
    const Snapshot report = make_report(totals(5, 10), totals(5, 10), {}, true);
    EXPECT_FALSE(report.ports.at(0).tx->traffic.rates.pps);
    EXPECT_EQ(report.streams.at(0).achieved->samples, 0U);
    EXPECT_FALSE(report.streams.at(0).achieved->mean);
    EXPECT_FALSE(report.streams.at(0).achieved->stddev);
}

TEST(Report, holds_every_stream_however_many) {
    Totals now = totals(1, 0);
    for (int i = 0; i < 2000; ++i) now.streams.push_back(example::stream("s" + std::to_string(i), 0));
    const Snapshot report = make_report(totals(0, 0), now, {}, false);
    EXPECT_EQ(report.streams.size(), 2001U);
    EXPECT_FALSE(report.other);
}

TEST(RateHistory, gives_mean_and_standard_deviation_of_the_ticks) {
    RateHistory history;
    const std::uint64_t counts[] = {0, 1000, 1900, 3000};  // 1000, 900 and 1100 packets a second
    for (std::uint64_t i = 1; i < 4; ++i) history.sample(totals(i - 1, counts[i - 1]), totals(i, counts[i]));
    const RateSamples rate = history.of("flood");
    EXPECT_EQ(rate.samples, 3U);
    EXPECT_NEAR(rate.mean.value(), 1000.0, 1e-9);
    EXPECT_NEAR(rate.stddev.value(), 100.0, 1e-9);
}

TEST(RateHistory, one_tick_has_a_mean_and_no_deviation) {
    RateHistory history;
    history.sample(totals(0, 0), totals(1, 1000));
    EXPECT_EQ(history.of("flood").mean, 1000.0);
    EXPECT_FALSE(history.of("flood").stddev);
    EXPECT_EQ(history.of("nobody").samples, 0U);
    history.reset();
    EXPECT_EQ(history.of("flood").samples, 0U);
}

TEST(RateHistory, keeps_its_precision_over_a_long_run_at_line_rate) {
    RateHistory history;
    std::uint64_t count = 0;
    for (std::uint64_t i = 1; i <= 20'000; ++i) {
        const std::uint64_t next = count + 14'880'952 + i % 2;
        history.sample(totals(i - 1, count), totals(i, next));
        count = next;
    }
    EXPECT_NEAR(history.of("flood").mean.value(), 14'880'952.5, 1e-3);
    EXPECT_NEAR(history.of("flood").stddev.value(), 0.5, 1e-3);
}

TEST(RateHistory, takes_no_sample_from_ticks_that_the_run_does_not_fill) {
    RateHistory history;
    Totals early = totals(1, 100);
    early.run_started_ns = totals(0, 0).monotonic_ns + 1;
    history.sample(totals(0, 0), early);
    Totals late = totals(3, 100);
    late.run_ended_ns = late.monotonic_ns - 1;
    history.sample(totals(2, 0), late);
    history.sample(totals(2, 0), totals(2, 100));
    EXPECT_EQ(history.of("flood").samples, 0U);
}

TEST(RateHistory, takes_no_sample_of_a_stream_that_ran_for_part_of_the_tick) {
    RateHistory history;
    Totals waiting = totals(0, 0);
    waiting.streams[0].state = "waiting";
    Totals finished = totals(2, 150);
    finished.streams[0].state = "finished";
    history.sample(waiting, totals(1, 100));
    history.sample(totals(1, 100), finished);
    EXPECT_EQ(history.of("flood").samples, 0U);
}

TEST(Disagreements, there_are_none_when_every_view_counts_alike) {
    EXPECT_TRUE(disagreements(make_report(totals(0, 10), totals(1, 1000), {}, true)).empty());
    EXPECT_TRUE(disagreements(make_report({}, {}, {}, true)).empty());
}

TEST(Disagreements, each_view_that_counts_otherwise_is_named_with_both_numbers) {
    const auto with = [](auto change) {
        Totals now = totals(1, 1000);
        change(now);
        std::string all;
        for (const std::string& text : disagreements(make_report(totals(0, 0), now, {}, true)))
            all += text + "\n";
        return all;
    };
    EXPECT_EQ(with([](Totals& t) { t.queues[0].packets = 999; }),
              "port east sent 1000 packets, its queues 999\n");
    EXPECT_EQ(with([](Totals& t) { t.workers[0].tx->packets = 999; }),
              "the ports sent 1000 packets, the workers 999\n");
    EXPECT_EQ(with([](Totals& t) { t.workers[0].tx->bytes = 59'999; }),
              "the ports sent 60000 bytes, the workers 59999\n");
    EXPECT_EQ(
        with([](Totals& t) { t.streams[0].tx.packets = 1001; }),
        "port east sent 1000 packets, its streams 1001\nthe ports sent 1000 packets, the streams 1001\n");
    EXPECT_EQ(with([](Totals& t) { t.streams[0].port = "west"; }),
              "port east sent 1000 packets, its streams 0\nport east sent 60000 bytes, its streams 0\n");
}

TEST(Disagreements, stand_among_the_warnings_of_a_settled_report_only) {
    Totals now = totals(1, 1000);
    now.warnings = {"first"};
    now.queues[0].packets = 1;
    EXPECT_EQ(make_report(totals(0, 0), now, {}, true).warnings.size(), 2U);
    EXPECT_EQ(make_report(totals(0, 0), now, {}, false).warnings.size(), 1U);
}

}  // namespace
}  // namespace volley::telemetry
