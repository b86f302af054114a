#include "telemetry/render.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>

#include "telemetry/example.h"
#include "telemetry/json_writer.h"
#include "telemetry/report.h"

namespace volley::telemetry {
namespace {

using example::second;
using example::totals;
using nlohmann::ordered_json;
constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();

Snapshot snapshot_of(const Totals& now) {
    return make_snapshot(totals(0, 0), totals(0, 0), now, 256);
}

// Columns as a terminal counts them here: characters, without the end of line.
std::size_t columns(const std::string& line) {
    std::size_t out = 0;
    for (const char c : line) out += (static_cast<unsigned char>(c) & 0xC0) != 0x80 && c != '\n' ? 1 : 0;
    return out;
}

TEST(RenderJson, is_one_line_with_its_head_in_order) {
    const std::string line = render_json(snapshot_of(totals(1, 1000)));
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(
        line.rfind(
            "{\"type\":\"snapshot\",\"schema\":1,\"sequence\":0,\"run_id\":\"lab-1\",\"state\":\"running\","
            "\"time_unix_ns\":1700000001000000000,\"monotonic_ns\":5001000000000,\"generation\":1,"
            "\"warnings\":[]",
            0),
        0U)
        << line;
}

TEST(RenderJson, of_nothing_is_valid) {
    const auto json = ordered_json::parse(render_json({}));
    EXPECT_TRUE(json.at("ports").empty());
    EXPECT_TRUE(json.at("streams").is_array());
    EXPECT_TRUE(json.at("publishers").is_object());
}

TEST(RenderJson, integers_of_64_bits_are_exact) {
    Totals now = totals(1, 0);
    now.ports[0].tx = PortTx{top, top - 1, 9'007'199'254'740'993, 0, false};
    const auto tx = ordered_json::parse(render_json(snapshot_of(now))).at("ports").at(0).at("tx");
    EXPECT_EQ(tx.at("packets").get<std::uint64_t>(), top);
    EXPECT_EQ(tx.at("bytes").get<std::uint64_t>(), top - 1);
    EXPECT_EQ(tx.at("errors").get<std::uint64_t>(), 9'007'199'254'740'993U);
}

TEST(RenderJson, what_is_absent_is_null) {
    Totals now = totals(0, 0);
    now.ports[0].link = {};
    now.ports[0].numa_node.reset();
    now.ports[0].tx.reset();
    now.workers[0] = {};
    now.streams[0].target_pps.reset();
    const auto json = ordered_json::parse(render_json(snapshot_of(now)));
    const auto& port = json.at("ports").at(0);
    EXPECT_EQ(port.at("link").dump(), R"({"up":false,"speed_bps":null,"reason":null,"since_ns":0})");
    EXPECT_TRUE(port.at("tx").is_null());
    EXPECT_TRUE(port.at("rx").is_null());
    EXPECT_TRUE(port.at("numa_node").is_null());
    for (const char* key : {"tx", "busy_ratio", "cycles_per_packet", "ring", "mempool", "rx"}) {
        EXPECT_TRUE(json.at("workers").at(0).at(key).is_null()) << key;
    }
    for (const char* key : {"target_pps", "rate_error_ppm", "shortfall_packets", "lateness_ns", "rx"}) {
        EXPECT_TRUE(json.at("streams").at(0).at(key).is_null()) << key;
    }
    EXPECT_TRUE(json.at("streams").at(0).at("tx").at("pps").is_null());
}

TEST(RenderJson, a_report_names_the_points_of_time_that_latency_lies_between) {
    Snapshot snapshot = snapshot_of(totals(1, 1));
    EXPECT_FALSE(ordered_json::parse(render_json(snapshot)).contains("latency"));
    snapshot.report = true;
    const auto latency = ordered_json::parse(render_json(snapshot)).at("latency");
    EXPECT_EQ(latency.at("from"), "just before rte_eth_tx_burst");
    EXPECT_EQ(latency.at("to"), "just after rte_eth_rx_burst");
    EXPECT_EQ(latency.at("includes").size(), 4U);
}

TEST(RenderJson, names_of_any_bytes_make_valid_json) {
    Totals now = totals(1, 1);
    const std::string name = "käse \"\\/\x01\n\t\x7f\xff\xc3 漢\xed\xa0\x80";
    now.streams[0].name = name;
    now.ports[0].xstats = {{"a\"b", 1}};
    now.warnings = {std::string("nul\0byte", 8)};
    const std::string line = render_json(snapshot_of(now));
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const auto json = ordered_json::parse(line);
    const auto read = json.at("streams").at(0).at("name").get<std::string>();
    EXPECT_EQ(read.rfind("käse \"\\/\x01\n\t\x7f\uFFFD", 0), 0U) << read;
    EXPECT_EQ(json.at("ports").at(0).at("xstats").at("a\"b"), 1);
    EXPECT_EQ(json.at("warnings").at(0).get<std::string>().size(), 8U);
}

TEST(RenderJson, the_sum_of_other_streams_stands_last) {
    Totals now = totals(1, 10);
    now.streams.push_back(example::stream("second", 5));
    now.streams.push_back(example::stream("third", 6));
    const auto json = ordered_json::parse(render_json(make_snapshot(totals(0, 0), totals(0, 0), now, 1)));
    ASSERT_EQ(json.at("streams").size(), 2U);
    EXPECT_EQ(json.at("streams").at(1).at("name"), "_other");
    EXPECT_TRUE(json.at("streams").at(1).at("port").is_null());
    EXPECT_EQ(json.at("streams").at(1).at("tx").at("packets"), 11);
}

TEST(RenderJson, a_report_says_so_and_has_the_achieved_rates) {
    const auto json = ordered_json::parse(render_json(make_report(totals(0, 0), totals(1, 10), {}, true)));
    EXPECT_EQ(json.at("type"), "report");
    EXPECT_EQ(json.at("settled"), true);
    EXPECT_EQ(json.at("duration_ns"), second);
    EXPECT_EQ(json.at("streams").at(0).at("achieved_pps").dump(),
              R"({"samples":0,"mean":null,"stddev":null})");
}

TEST(RenderJson, every_sink_has_its_dropped_lines) {
    Snapshot snapshot;
    snapshot.publishers = {{"stdout", 0}, {"socket", 7}};
    EXPECT_EQ(ordered_json::parse(render_json(snapshot)).at("publishers").dump(),
              R"({"stdout":{"dropped_lines":0},"socket":{"dropped_lines":7}})");
}

TEST(RenderJson, a_small_rate_keeps_its_digits_and_a_large_one_has_three) {
    Snapshot snapshot;
    StreamView stream;
    stream.tx.rates.pps = 0.000277777;
    stream.tx.rates.l2_bps = 14'880'951.98765;
    stream.tx.rates.l1_bps = 1e15;
    snapshot.streams.push_back(stream);
    const std::string line = render_json(snapshot);
    EXPECT_NE(line.find("\"pps\":0.000277777,\"l2_bps\":14880951.988,\"l1_bps\":1e+15"), std::string::npos)
        << line;
}

TEST(RenderJson, a_report_of_twenty_thousand_streams_is_made_in_a_moment) {
    Totals now = totals(1, 1000);
    now.streams.clear();
    for (int i = 0; i < 20'000; ++i)
        now.streams.push_back(example::stream("stream-" + std::to_string(i), 1000));
    const auto start = std::chrono::steady_clock::now();
    const Snapshot report = make_report(totals(0, 0), now, {}, true);
    const auto middle = std::chrono::steady_clock::now();
    const std::string line = render_json(report);
    const auto end = std::chrono::steady_clock::now();
    using milliseconds = std::chrono::duration<double, std::milli>;
    std::cout << "report " << milliseconds(middle - start).count() << " ms, rendering "
              << milliseconds(end - middle).count() << " ms, " << line.size() << " bytes\n";
    // Counted in the text: the test's own parser would take longer than what is tested, most of all under
    // TSan.
    std::size_t streams = 0;
    for (std::size_t at = 0; (at = line.find("\"achieved_pps\"", at)) != std::string::npos; ++at) ++streams;
    EXPECT_EQ(streams, 20'000U);
}

TEST(JsonWriter, writes_no_number_that_json_lacks) {
    std::string out;
    JsonWriter json(out);
    json.begin_array()
        .value(std::numeric_limits<double>::quiet_NaN())
        .value(std::numeric_limits<double>::infinity());
    json.value(-std::numeric_limits<double>::infinity())
        .value(0.0)
        .value(-1.5)
        .value(1e300)
        .value(-3)
        .end_array();
    EXPECT_EQ(out, "[null,null,null,0,-1.5,1e+300,-3]");
}

TEST(RenderLive, shows_rate_bits_on_both_layers_and_the_part_of_what_was_asked) {
    Totals now = totals(2, 2000);
    now.streams[0].target_pps = Rational{1000, 1};
    EXPECT_EQ(render_live(snapshot_of(now)),
              "2.0 s  running  east  1.000 kpps  L1 672.000  L2 512.000 kbps  100.0 %\n");
}

TEST(RenderLive, says_no_per_cent_when_a_stream_asks_for_all_there_is) {
    Totals now = totals(2, 2000);
    now.streams.push_back(example::stream("max", 1));
    now.streams.back().target_pps.reset();
    EXPECT_EQ(render_live(snapshot_of(now)).find('%'), std::string::npos);
}

TEST(RenderLive, a_link_that_is_down_says_why) {
    Totals now = totals(1, 0);
    now.ports[0].link = {false, 0, "no module", 0};
    EXPECT_NE(render_live(snapshot_of(now)).find("east  DOWN no module"), std::string::npos);
}

TEST(RenderLive, fits_100_columns_for_one_port_whatever_it_says) {
    Totals now = totals(999'999, 0);
    now.state = "reloading";
    now.ports[0].name = "漢字漢字漢字漢字漢字漢字漢字";
    now.ports[0].tx = PortTx{top, top, 0, 0, true};
    now.warnings = {std::string(300, 'w'), "another"};
    EXPECT_LE(columns(render_live(snapshot_of(now))), 100U) << render_live(snapshot_of(now));
    EXPECT_LE(columns(render_live(make_report(totals(0, 0), now, {}, true))), 100U);
    now.ports[0].link = {false, 0, std::string(300, 'r'), 0};
    EXPECT_LE(columns(render_live(snapshot_of(now))), 100U);
}

TEST(RenderLive, shows_the_first_warning) {
    Totals now = totals(1, 1000);
    now.warnings = {"lcore 3 is on another NUMA node than port east"};
    const std::string line = render_live(snapshot_of(now));
    EXPECT_NE(line.find("! lcore 3"), std::string::npos) << line;
}

TEST(RenderLive, lets_no_control_byte_through_to_the_terminal) {
    Totals now = totals(1, 1000);
    now.ports[0].name = "a\x1b[2J\nb";
    const std::string line = render_live(snapshot_of(now));
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(RenderLive, lists_every_port) {
    Totals now = totals(1, 1000);
    now.ports.push_back(now.ports[0]);
    now.ports[1].name = "west";
    const std::string line = render_live(snapshot_of(now));
    EXPECT_NE(line.find("east"), std::string::npos);
    EXPECT_NE(line.find(" | west"), std::string::npos);
}

TEST(RenderLive, of_nothing_is_a_line_too) {
    EXPECT_EQ(render_live({}), "0.0 s  \n");
}

}  // namespace
}  // namespace volley::telemetry
