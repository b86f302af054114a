#include <gtest/gtest.h>

#include <fstream>

#include "system/volleyd.h"

namespace volley::test {
namespace {

json udp_packet(const json& size) {
    return {
        {"frame_size", size},
        {"payload", {{"random", {{"seed", 5}}}}},
        {"headers",
         json::array({{{"eth", {{"src", "02:00:00:00:00:01"}, {"dst", "02:00:00:00:00:02"}}}},
                      {{"ipv4", {{"src", {{"increment", {{"from", "10.0.0.1"}, {"to", "10.0.0.250"}}}}}}}},
                      {{"udp", {{"src", {{"random", {{"from", 1024}, {"to", 65535}}}}}}}}})}};
}

json stream(const std::string& name, unsigned count, const json& size) {
    return {{"name", name},    {"port", "east"},          {"rate", "20kpps"},          {"count", count},
            {"verify", "all"}, {"expect", {{"loss", 0}}}, {"packet", udp_packet(size)}};
}

// A net_ring is its own far side: queue i receives what queue i sends.
json loop(unsigned workers) {
    json out = port("east", "net_ring0", workers);
    out["rx"] = {{"lcores", out["tx"]["lcores"]}};
    return out;
}

json with_settle_time(json config) {
    config["run"]["settle_time"] = "200ms";
    return config;
}

TEST(Loop, of_a_stream_over_two_workers_with_a_receiver_each_loses_nothing) {
    json wide = stream("wide", 3'001, 64);
    wide["workers"] = json::array({0, 1});
    wide["burst"] = 7;
    const json report = run_volleyd(with_settle_time(configuration(2, false, {loop(2)}, {wide})));
    const json& rx = named(report.at("streams"), "wide").at("rx");
    EXPECT_EQ(rx.at("packets"), 3'001);
    EXPECT_EQ(rx.at("lost"), 0);
    EXPECT_EQ(report.at("warnings"), json::array());
}

/// Workers, dispatch lcore or inline. Each lcore sends and receives in turn.
class Loop : public testing::TestWithParam<std::tuple<unsigned, bool>> {};

TEST_P(Loop, receives_verifies_and_accounts_for_every_packet) {
    const auto [workers, dispatch] = GetParam();
    json latency = stream("latency", 500, 64);
    latency["latency"] = true;
    latency["rate"] = "1kpps";
    json plain = stream("plain", 700, 64);
    plain.erase("verify");
    plain.erase("expect");
    const json report = run_volleyd(with_settle_time(configuration(
        workers, dispatch, {loop(workers)},
        {stream("small", 9'001, 64), stream("mixed", 9'002, {{"increment", {{"from", 64}, {"to", 1518}}}}),
         latency, plain})));
    expect_consistent(report);
    EXPECT_EQ(report.at("warnings"), json::array());
    for (const auto& [name, count] : {std::pair("small", 9'001), {"mixed", 9'002}, {"latency", 500}}) {
        SCOPED_TRACE(name);
        const json& seen = named(report.at("streams"), name);
        const json& rx = seen.at("rx");
        EXPECT_EQ(rx.at("packets"), count);
        EXPECT_EQ(rx.at("l2_bytes"), seen.at("tx").at("l2_bytes"));  // B17: the same rule on both sides
        EXPECT_EQ(rx.at("verified"), count);
        EXPECT_EQ(rx.at("latency_ns").at("count"), count);
        for (const char* none : {"lost", "duplicates", "reordered", "corrupted"})
            EXPECT_EQ(rx.at(none), 0) << none;
        EXPECT_TRUE(rx.at("loss_duration_ns").is_null());
    }
    EXPECT_TRUE(named(report.at("streams"), "plain").at("rx").is_null());
    if (workers == 2) {
        // What measures latency has the last queue for itself, and each of its packets is a batch.
        const json& tx = report.at("queues").at(1).at("tx");
        EXPECT_EQ(tx.at("packets"), 500);
        EXPECT_EQ(tx.at("tx_burst_calls"), 500);
    }
    const json& received = named(report.at("ports"), "east").at("rx");
    EXPECT_EQ(received.at("packets"), 9'001 + 9'002 + 500 + 700);
    EXPECT_EQ(received.at("unmatched"), 700);  // B58, B59: what is not ours is apart
    EXPECT_EQ(received.at("bytes"), named(report.at("ports"), "east").at("tx").at("bytes"));
}

INSTANTIATE_TEST_SUITE_P(OneAndTwoWorkers, Loop, testing::Combine(testing::Values(1U, 2U), testing::Bool()),
                         [](const auto& param_info) {
                             return std::to_string(std::get<0>(param_info.param)) + "_worker_" +
                                    (std::get<1>(param_info.param) ? "dispatched" : "inline");
                         });

// The trailer stands behind what a file gives; every byte before it is compared.
TEST(Loop, verifies_packets_from_files_and_in_sequence) {
    const TempDir dir;
    std::ofstream(dir.file("in.cfg")) << "{ eth(), ipv4(da=dinc(1,200)), udp(sp=7), \"odd\" }\n"
                                         "{ eth(), ipv4(), tcp(), drnd(33) }\n";
    json source = stream("source", 40, {{"increment", {{"from", 64}, {"to", 1400}, {"step", 97}}}});
    source.erase("verify");
    source.erase("expect");
    source["port"] = "east";
    std::ofstream(dir.file("source.json")) << configuration(1, true, {port("east", "net_null0")}, {source});
    const Result made = run({volleyctl_path(), "render", dir.file("source.json"), "-o", dir.file("in.pcap")});
    ASSERT_EQ(made.status, 0) << made.err;
    const json pcap = {{"file", dir.file("in.pcap")}, {"loop", 0}};
    json rewritten = pcap;
    rewritten["rewrite"] = {{"ipv4.dst", {{"increment", {{"from", "10.9.0.1"}, {"to", "10.9.0.9"}}}}}};
    json recorded = pcap;
    recorded["timing"] = "recorded";
    json streams = json::array();
    const auto add = [&](const std::string& name, const json& packet) {
        streams.push_back(stream(name, 1'500, 64));
        streams.back()["packet"] = packet;
    };
    add("trafgen", {{"trafgen", dir.file("in.cfg")}});
    add("sequence", {{"packets", json::array({udp_packet(64), udp_packet(101), udp_packet(1400)})}});
    add("random", {{"order", "random"}, {"packets", json::array({udp_packet(90), udp_packet(1200)})}});
    add("capture", {{"pcap", pcap}});
    add("rewritten", {{"pcap", rewritten}});
    add("recorded", {{"pcap", recorded}});
    streams.back().erase("rate");
    streams.back()["workers"] = json::array({0});
    const json report = run_volleyd(with_settle_time(configuration(2, false, {loop(2)}, streams)));
    for (const json& sent : streams) {
        SCOPED_TRACE(sent.at("name"));
        const json& rx = named(report.at("streams"), sent.at("name")).at("rx");
        EXPECT_EQ(rx.at("packets"), 1'500);
        EXPECT_EQ(rx.at("verified"), 1'500);
        for (const char* none : {"lost", "duplicates", "reordered", "corrupted"})
            EXPECT_EQ(rx.at(none), 0) << none;
    }
}

TEST(Expect, loss_above_what_is_allowed_ends_with_1_and_what_never_came_is_lost) {
    json west = port("west", "net_ring0");
    west["rx"] = west["tx"];
    west.erase("tx");
    json sent = stream("gone", 1'000, 64);
    sent["expect_on"] = "west";
    json config = configuration(1, false, {port("east", "net_null0,copy=0,no-rx=1"), west}, {sent});
    const json report = run_volleyd(config, 1);
    const json& rx = named(report.at("streams"), "gone").at("rx");
    EXPECT_EQ(rx.at("lost"), 1'000);
    EXPECT_EQ(rx.at("packets"), 0);
    EXPECT_TRUE(rx.at("latency_ns").is_null());  // B65
    EXPECT_TRUE(rx.at("jitter_ns").is_null());
    config["streams"][0]["expect"]["loss"] = 1'000;
    run_volleyd(config, 0);
}

TEST(Expect, a_rate_that_falls_short_ends_with_2) {
    json sent = stream("fast", 1, 1518);
    sent.erase("verify");
    sent.erase("count");
    sent["rate"] = "2000Mpps";
    sent["expect"] = {{"rate_error_ppm", 1'000}};
    json config = configuration(1, false, {port("east", "net_null0,copy=0,no-rx=1")}, {sent});
    config["run"]["duration"] = "500ms";
    config["ports"][0]["oversubscribe"] = true;
    run_volleyd(config, 2);
}

TEST(Receive, frames_of_9000_bytes_arrive_whole) {  // B21, B23
    json latency = stream("long", 300, 4'004);
    latency["latency"] = true;
    json config = configuration(1, false, {loop(1)},
                                {stream("large", 300, 9'000), latency, stream("baby", 300, 1'600)});
    const json report = run_volleyd(with_settle_time(config));
    for (const char* name : {"large", "long", "baby"}) {
        const json& rx = named(report.at("streams"), name).at("rx");
        EXPECT_EQ(rx.at("latency_ns").at("count"), 300);
        EXPECT_EQ(rx.at("packets"), 300);
        EXPECT_EQ(rx.at("verified"), 300);
        EXPECT_EQ(rx.at("lost"), 0);
        EXPECT_EQ(rx.at("corrupted"), 0);
    }
}

// B54: what an earlier run left behind is neither counted nor missing in the next. B55: nothing is unknown
// before the first.
TEST(Receive, each_run_of_a_process_counts_what_is_its_own) {
    json config = with_settle_time(configuration(1, false, {loop(1)}, {stream("small", 400, 64)}));
    config["run"]["start"] = "manual";
    config["run"]["when_done"] = "idle";
    config["service"] = {{"unix", "auto"}};
    config["streams"][0].erase("expect");
    Volleyd volleyd(config);
    const auto idle = volleyd.wait_for_line([](const json& line) { return line.at("state") == "idle"; });
    ASSERT_TRUE(idle) << volleyd.process().err();
    const json before = volleyd.lines().at(*idle);
    EXPECT_EQ(named(before.at("ports"), "east").at("rx").at("packets"), 0);
    for (const json& seen : before.at("streams")) {
        EXPECT_EQ(seen.at("tx").at("packets"), 0);
        EXPECT_TRUE(seen.at("rx").is_null() || seen.at("rx").at("latency_ns").is_null());
    }
    for (int i = 0; i < 2; ++i) {
        SCOPED_TRACE(i);
        const Result done =
            run({volleyctl_path(), "--socket", volleyd.dir().file("test.control.sock"), "run", "--json"});
        ASSERT_EQ(done.status, 0) << done.err;
        const json report = json::parse(done.out);
        expect_consistent(report);
        const json& rx = named(report.at("streams"), "small").at("rx");
        EXPECT_EQ(rx.at("packets"), 400);
        EXPECT_EQ(rx.at("latency_ns").at("count"), 400);
        for (const char* none : {"lost", "duplicates", "reordered", "corrupted"})
            EXPECT_EQ(rx.at(none), 0) << none;
        EXPECT_EQ(named(report.at("ports"), "east").at("rx").at("packets"), 400);
    }
}

// What went unsigned can be neither received nor lost; an earlier run's packets are not this run's.
TEST(Receive, a_signature_that_comes_and_goes_with_reloads_makes_no_loss) {
    json config = with_settle_time(configuration(1, false, {loop(1)}, {stream("s", 400, 64)}));
    json& sent = config["streams"][0];
    sent.erase("verify");
    sent.erase("expect");
    sent.erase("count");
    config["run"]["duration"] = "200ms";
    config["run"]["start"] = "manual";
    config["run"]["when_done"] = "idle";
    config["service"] = {{"unix", "auto"}};
    const json unsigned_config = config;
    sent["signature"] = true;
    Volleyd volleyd(config);
    ASSERT_TRUE(volleyd.wait_for_line([](const json& line) { return line.at("state") == "idle"; }));
    const auto ctl = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {volleyctl_path(), "--socket", volleyd.dir().file("test.control.sock")});
        return run(words);
    };
    const auto check = [&](bool is_signed) {
        const Result done = ctl({"run", "--json"});
        ASSERT_EQ(done.status, 0) << done.err;
        const json report = json::parse(done.out);
        expect_consistent(report);
        const json& one = named(report.at("streams"), "s");
        EXPECT_EQ(report.at("warnings"), json::array());
        if (!is_signed) {
            EXPECT_TRUE(one.at("rx").is_null());
            return;
        }
        EXPECT_EQ(one.at("rx").at("packets"), one.at("tx").at("packets"));
        EXPECT_EQ(one.at("rx").at("lost"), 0);
    };
    check(true);
    for (const bool is_signed : {false, true}) {
        SCOPED_TRACE(is_signed);
        volleyd.rewrite(is_signed ? config : unsigned_config);
        ASSERT_EQ(ctl({"reload"}).status, 0);
        check(is_signed);
    }
    json endless = unsigned_config;
    endless["run"]["duration"] = "60s";
    volleyd.rewrite(endless);
    ASSERT_EQ(ctl({"reload"}).status, 0);
    ASSERT_EQ(ctl({"start"}).status, 0);
    ASSERT_TRUE(volleyd.wait_for_line([](const json& line) { return line.at("state") == "running"; }));
    endless["streams"][0]["signature"] = true;
    volleyd.rewrite(endless);
    ASSERT_EQ(ctl({"reload"}).status, 0);
    ASSERT_TRUE(volleyd.wait_for_line([](const json& line) {
        if (line.at("state") != "running") return false;
        const json& rx = named(line.at("streams"), "s").at("rx");
        return !rx.is_null() && rx.at("packets") > 100;
    }));
    ASSERT_EQ(ctl({"stop"}).status, 0);
    const auto line = volleyd.wait_for_line([](const json& seen) {
        if (seen.at("type") != "report") return false;
        const json& one = named(seen.at("streams"), "s");
        return !one.at("rx").is_null() && one.at("rx").at("packets") < one.at("tx").at("packets");
    });
    ASSERT_TRUE(line);
    EXPECT_EQ(named(volleyd.lines().at(*line).at("streams"), "s").at("rx").at("lost"), 0);
    EXPECT_EQ(volleyd.lines().at(*line).at("warnings"), json::array());
}

}  // namespace
}  // namespace volley::test
