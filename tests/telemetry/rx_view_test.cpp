#include "telemetry/rx_view.h"

#include <gtest/gtest.h>

#include "base/log_buckets.h"
#include "telemetry/example.h"
#include "telemetry/report.h"

namespace volley::telemetry {
namespace {

StreamRxTotals received(std::uint64_t packets, std::uint64_t expected) {
    StreamRxTotals out;
    out.workers = 1;
    out.packets = packets;
    out.bytes = packets * 60;
    out.expected = expected;
    return out;
}

TEST(RxView, loss_is_what_was_expected_and_is_not_among_the_different_packets) {
    StreamRxTotals now = received(95, 100);
    now.duplicates = 3;
    EXPECT_EQ(rx_view({}, now, false).lost, 8U);
    now.tail = 20;
    EXPECT_EQ(rx_view({}, now, false).lost, 8U) << "what nothing has followed may still be under way";
    EXPECT_EQ(rx_view({}, now, true).lost, 28U);
}

TEST(RxView, a_base_line_within_the_run_takes_the_loss_before_it_off) {  // B53
    const StreamRxView out = rx_view(received(90, 100), received(190, 205), false);
    EXPECT_EQ(out.lost, 5U);
    EXPECT_EQ(out.traffic.packets, 100U);
}

TEST(RxView, is_never_negative_when_counters_were_read_while_they_moved) {
    EXPECT_EQ(rx_view({}, received(101, 100), false).lost, 0U);
}

TEST(RxView, one_per_cent_of_loss_is_shown) {  // B61
    EXPECT_EQ(rx_view({}, received(9'900, 10'000), true).lost, 100U);
}

TEST(RxView, without_samples_has_no_latency_no_jitter_and_no_outage) {
    const StreamRxView out = rx_view({}, received(0, 0), true);
    EXPECT_FALSE(out.latency);
    EXPECT_FALSE(out.jitter_ns);
    EXPECT_FALSE(out.interarrival);
    EXPECT_FALSE(out.loss_duration_ns);
}

TEST(RxView, percentiles_are_within_3_per_cent_and_in_order) {
    StreamRxTotals now = received(100'000, 100'000);
    now.latency.resize(LatencyBuckets::size);
    for (std::uint64_t i = 1; i <= 100'000; ++i) {
        ++now.latency[LatencyBuckets::index(i * 10)];
        now.latency_sum_ns += i * 10;
    }
    const LatencyView out = *rx_view({}, now, true).latency;
    EXPECT_EQ(out.count, 100'000U);
    EXPECT_NEAR(out.mean, 500'005, 0.001);
    const auto near = [](std::uint64_t seen, double truth) {
        EXPECT_NEAR(static_cast<double>(seen), truth, truth * 0.03);
    };
    near(out.p50, 500'000);
    near(out.p90, 900'000);
    near(out.p99, 990'000);
    near(out.p99_9, 999'000);
    near(out.p99_99, 999'900);
    near(out.max, 1'000'000);
    EXPECT_LE(out.min, out.p50);
    EXPECT_LE(out.p99_99, out.max);
}

TEST(RxView, tells_no_outage_from_before_its_base_line) {
    StreamRxTotals base = received(90, 100);
    base.outages = 1;
    base.outage_longest_ns = base.outage_last_ns = 5'000;
    StreamRxTotals now = base;
    now.expected += 10;
    EXPECT_EQ(rx_view(base, now, false).lost, 10U);
    EXPECT_EQ(rx_view(base, now, false).loss_duration_ns, std::nullopt);
    now.outages = 2;
    now.outage_last_ns = 700;
    EXPECT_EQ(rx_view(base, now, false).loss_duration_ns, 700U);
    EXPECT_EQ(rx_view(base, now, false).last_loss_duration_ns, 700U);
    now.outages = 3;
    now.outage_longest_ns = now.outage_last_ns = 9'000;
    EXPECT_EQ(rx_view(base, now, false).loss_duration_ns, 9'000U);
}

TEST(RxView, over_several_queues_says_nothing_of_outages) {
    StreamRxTotals now = received(90, 100);
    now.outages = 1;
    now.outage_longest_ns = now.outage_last_ns = 5'000;
    EXPECT_EQ(rx_view({}, now, true).loss_duration_ns, 5'000U);
    now.workers = 2;
    EXPECT_FALSE(rx_view({}, now, true).loss_duration_ns);
}

TEST(Report, warns_when_received_lost_and_sent_do_not_add_up) {
    Totals now = example::totals(2, 1000);
    now.ports[0].rx = PortRx{700, 700 * 60, 0, 0, 0, 0, 0};
    now.streams[0].rx = received(700, 700);
    now.streams[0].rx->sent = 1000;
    now.streams[0].rx->tail = 300;
    EXPECT_TRUE(make_report(example::totals(0, 0), now, {}, true).warnings.empty());
    now.streams[0].rx->tail = 299;
    EXPECT_EQ(make_report(example::totals(0, 0), now, {}, true).warnings.size(), 1U);
    now.streams[0].rx->tail = 300;
    now.ports[0].rx->unmatched = 1;
    EXPECT_EQ(make_report(example::totals(0, 0), now, {}, true).warnings.size(), 1U);
}

}  // namespace
}  // namespace volley::telemetry
