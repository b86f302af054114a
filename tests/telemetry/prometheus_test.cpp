#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "base/log_buckets.h"
#include "telemetry/example.h"
#include "telemetry/render.h"

namespace volley::telemetry {
namespace {

std::string rendered(const Totals& totals, std::size_t in_full = 256) {
    return render_prometheus(totals, {{"stdout", 3}}, in_full,
                             {"1.2", "DPDK 22.11", 1'700'000'000'123'456'789});
}

bool has(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Prometheus, counters_are_absolute_and_bytes_count_the_fcs) {
    const std::string text = rendered(example::totals(10, 1000));
    EXPECT_TRUE(has(text, R"(volley_port_transmit_packets_total{port="east"} 1000)")) << text;
    EXPECT_TRUE(has(text, R"(volley_port_transmit_bytes_total{port="east"} 64000)"));
    EXPECT_TRUE(has(text, R"(volley_stream_transmit_bytes_total{stream="flood",port="east"} 64000)"));
    EXPECT_TRUE(has(text, R"(volley_queue_tail_writes_total{port="east",queue="0"} 31)"));
    EXPECT_TRUE(has(text, R"(volley_worker_turns_total{worker="tx-3",lcore="3",role="tx"} 1000)"));
    EXPECT_TRUE(has(text, R"(volley_port_speed_bytes{port="east"} 1250000000)"));
    EXPECT_TRUE(has(text, R"(volley_state{state="running"} 1)"));
    EXPECT_TRUE(has(text, R"(volley_state{state="idle"} 0)"));
    EXPECT_TRUE(has(text, R"(volley_telemetry_dropped_lines_total{sink="stdout"} 3)"));
    EXPECT_TRUE(has(text, "volley_start_time_seconds 1700000000.123456789"));
    EXPECT_TRUE(has(text, R"(volley_build_info{version="1.2",dpdk="DPDK 22.11"} 1)"));
}

TEST(Prometheus, each_family_is_told_once_and_stands_in_one_group) {
    std::istringstream text(rendered(example::totals(10, 1000)));
    std::string line;
    std::string family;
    std::set<std::string> seen;
    while (std::getline(text, line)) {
        if (line.starts_with("# HELP ")) {
            family = line.substr(7, line.find(' ', 7) - 7);
            EXPECT_TRUE(seen.insert(family).second) << family;
        } else if (line.starts_with("# TYPE ")) {
            EXPECT_EQ(line.find("# TYPE " + family + " "), 0U) << line;
        } else {
            EXPECT_EQ(line.substr(0, line.find_first_of("{ ")), family) << line;
        }
    }
    EXPECT_GT(seen.size(), 25U);
}

TEST(Prometheus, the_page_lists_each_family_with_its_type) {
    std::ifstream file(VOLLEY_SOURCE_ROOT "/docs/telemetry.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    Totals totals = example::totals(10, 1000);
    totals.ports[0].rx.emplace();
    totals.streams[0].rx.emplace();
    totals.reloads.last_unix_ns = 1;
    totals.queues[0].limiter.emplace();
    totals.evidence.emplace();
    std::istringstream text(rendered(totals));
    std::string line;
    while (std::getline(text, line)) {
        if (!line.starts_with("# TYPE ")) continue;
        const std::size_t blank = line.rfind(' ');
        const std::string row = "| `" + line.substr(7, blank - 7) + "` | " + line.substr(blank + 1) + " |";
        EXPECT_NE(page.find(row), std::string::npos) << row << " is not in docs/telemetry.md";
    }
}

TEST(Prometheus, captures_are_counted_and_evidence_where_it_is_asked_for_with_a_full_disk_apart) {
    Totals totals = example::totals(10, 1000);
    totals.captures = {3, 1, 40, 9000, 7, 2};
    totals.evidence.reset();
    EXPECT_EQ(rendered(totals).find("evidence"), std::string::npos);
    totals.evidence = EvidenceTotals{"lab.pcapng", 11, 2, 5, 4, 6, 70'000};
    const std::string text = rendered(totals);
    for (const char* line :
         {"captures_under_way 2", R"(captures_total{result="done"} 3)",
          R"(captures_total{result="failed"} 1)", "capture_packets_total 40", "capture_bytes_total 9000",
          "capture_dropped_packets_total 7", "evidence_files_total 6", "evidence_bytes_total 70000",
          R"(evidence_findings_total{result="written"} 11)", R"(evidence_findings_total{result="dropped"} 2)",
          R"(evidence_findings_total{result="disk_full"} 4)",
          R"(evidence_findings_total{result="failed"} 1)"})
        EXPECT_TRUE(has(text, std::string("volley_") + line)) << line;
}

TEST(Prometheus, slips_are_counted_and_limiters_tell_bytes_per_second_where_there_is_one) {
    Totals totals = example::totals(10, 1000);
    totals.streams[0].slips = 2;
    totals.streams[0].slipped_packets = 37;
    EXPECT_EQ(rendered(totals).find("limiter"), std::string::npos);
    totals.queues[0].limiter = LimiterTotals{100'400'000, 100'000'000, -3984};
    const std::string text = rendered(totals);
    EXPECT_TRUE(has(text, R"(volley_stream_slips_total{stream="flood",port="east"} 2)"));
    EXPECT_TRUE(has(text, R"(volley_stream_slipped_packets_total{stream="flood",port="east"} 37)"));
    EXPECT_TRUE(has(text, R"(volley_queue_limiter_asked_bytes_per_second{port="east",queue="0"} 12550000)"));
    EXPECT_TRUE(has(text, R"(volley_queue_limiter_set_bytes_per_second{port="east",queue="0"} 12500000)"));
}

TEST(Prometheus, label_values_are_escaped_and_integers_are_exact) {
    Totals totals = example::totals(10, 1000);
    totals.streams[0].name = "a\"b\\c\nd";
    totals.streams[0].tx.packets = ~std::uint64_t{0};
    EXPECT_TRUE(
        has(rendered(totals),
            R"(volley_stream_transmit_packets_total{stream="a\"b\\c\nd",port="east"} 18446744073709551615)"));
}

TEST(Prometheus, latency_is_a_histogram_of_cumulative_buckets_of_those_streams_that_are_received) {
    Totals totals = example::totals(10, 1000);
    EXPECT_EQ(rendered(totals).find("latency"), std::string::npos);
    StreamRxTotals rx;
    rx.latency.resize(LatencyBuckets::size);
    rx.latency[LatencyBuckets::index(1'100)] = 5;
    rx.latency[LatencyBuckets::index(2'000'000)] = 3;
    rx.latency[LatencyBuckets::index(3'000'000'000)] = 2;
    rx.latency_sum_ns = 6'006'004'500;
    totals.streams[0].rx = rx;
    totals.streams.push_back(example::stream("hidden", 7));
    totals.streams.back().rx = rx;
    const std::string text = rendered(totals, 1);
    const std::string metric = "volley_stream_receive_latency_seconds";
    EXPECT_TRUE(has(text, "# TYPE " + metric + " histogram"));
    for (const auto& [le, count] :
         {std::pair{"1e-06", 0}, {"2.5e-06", 5}, {"0.001", 5}, {"0.0025", 8}, {"0.01", 8}, {"+Inf", 10}}) {
        EXPECT_TRUE(has(text, metric + R"(_bucket{stream="flood",port="east",le=")" + le + "\"} " +
                                  std::to_string(count)))
            << le;
    }
    EXPECT_TRUE(has(text, metric + R"(_sum{stream="flood",port="east"} 6.006004500)"));
    EXPECT_TRUE(has(text, metric + R"(_count{stream="flood",port="east"} 10)"));
    EXPECT_TRUE(has(text, metric + R"(_count{stream="_other",port=""} 10)"));
}

TEST(Prometheus, streams_beyond_the_limit_are_one_sum) {
    Totals totals = example::totals(10, 1000);
    for (int i = 0; i < 20'000; ++i) totals.streams.push_back(example::stream("s" + std::to_string(i), 2));
    const std::string text = rendered(totals, 2);
    EXPECT_TRUE(has(text, R"(volley_stream_transmit_packets_total{stream="_other",port=""} 39998)"));
    EXPECT_TRUE(has(text, R"(volley_stream_transmit_packets_total{stream="s0",port="east"} 2)"));
    EXPECT_EQ(text.find("\"s1\""), std::string::npos);
    EXPECT_LT(text.size(), 20'000U);
}

TEST(Prometheus, what_a_port_does_not_have_makes_no_series) {
    Totals totals = example::totals(10, 1000);
    totals.ports[0].link.speed_bps = 0;
    totals.streams[0].target_pps.reset();
    totals.workers[0].rx.reset();
    const std::string text = rendered(totals);
    for (const char* absent : {"receive", "speed_bytes", "target_packets", "timestamp"})
        EXPECT_EQ(text.find(absent), std::string::npos) << absent;
}

}  // namespace
}  // namespace volley::telemetry
