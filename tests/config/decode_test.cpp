#include <gtest/gtest.h>

#include "config/key.h"
#include "config/support.h"

namespace volley::config {
namespace {

using namespace std::string_literals;

TEST(Decode, fills_in_the_defaults_of_a_short_file) {
    const Model model = decoded(small_file("", R"(, "rate": "max")"));
    ASSERT_EQ(model.streams.size(), 1U);
    EXPECT_EQ(model.name, "volley");
    EXPECT_EQ(model.eal, Eal{});
    EXPECT_EQ(model.lcores, Lcores{});
    EXPECT_EQ(model.run, config::Run{});
    EXPECT_EQ(model.telemetry, Telemetry{});
    TxQueues tx;
    tx.lcores = {2, 3};
    EXPECT_EQ(model.ports[0].tx, tx);
    EXPECT_EQ(model.ports[0].pointer, "/ports/0");
    EXPECT_EQ(model.streams[0].rate->kind, Rate::Kind::max);
    EXPECT_EQ(model.streams[0].pointer, "/streams/0");
    EXPECT_EQ(model.streams[0].packet.frame_size->program->from, 64U);
    EXPECT_EQ(model.streams[0].packet.headers[0].pointer, "/streams/0/packet/headers/0");
}

TEST(Decode, takes_a_default_that_is_written_out_for_the_default) {
    const std::string without = small_file("", R"(, "rate": "1pps")");
    const std::string with = small_file(
        R"(, "oversubscribe": false, "rate": null)",
        R"(, "rate": "1pps", "weight": 1, "burst": "auto", "enabled": true, "start": {"delay": "0s"}, "count": null)");
    EXPECT_EQ(decoded(without), decoded(with));
    EXPECT_NE(problems_of(small_file("", "")).find("\"rate\" is missing"), std::string::npos);
}

TEST(Decode, reads_every_key_of_run_lcores_and_telemetry) {
    const Model model = decoded(
        R"({"version": 1, "name": "x", "eal": {"huge_pages": "no", "memory_mib": 64, "args": ["-a"], "plugins": ["p.so"]},
        "lcores": {"control": 5, "stats": 6, "dispatch": 7},
        "run": {"start": "manual", "duration": "1ms", "when_done": "idle", "multiplier": 2, "settle_time": "0s"},
        "ports": [{"name": "a", "device": "net_null0", "mac": "02:00:00:00:00:0a", "speed": "1Gbps"}],
        "telemetry": {"interval": "10ms", "file": "/tmp/t", "socket": "/tmp/s", "streams": 0}})");
    EXPECT_EQ(model.eal.memory_mib, 64U);
    EXPECT_EQ(model.lcores.dispatch, 7U);
    EXPECT_EQ(model.run.start, Start::manual);
    EXPECT_EQ(model.run.duration, Duration{1'000'000});
    EXPECT_EQ(model.run.when_done, WhenDone::idle);
    EXPECT_EQ(model.run.multiplier, 2.0);
    EXPECT_EQ(model.run.settle_time, Duration{0});
    EXPECT_EQ(model.ports[0].mac, packet::Value{0x02000000000a});
    EXPECT_EQ(model.ports[0].speed_bps, 1'000'000'000U);
    EXPECT_FALSE(model.ports[0].tx);
    EXPECT_EQ(model.telemetry, (Telemetry{Duration{10'000'000}, "/tmp/t", "/tmp/s", 0}));
}

TEST(Decode, tells_all_problems_at_once_each_with_its_place) {
    const std::string text =
        "{\"version\": 1,\n \"ports\": [{\"name\": \"a\", \"devise\": \"net_null0\"}],\n"
        " \"run\": {\"duration\": 5}}";
    try {
        parse(text, "x.json");
        FAIL() << "accepted";
    } catch (const Error& error) {
        ASSERT_EQ(error.problems.size(), 3U) << error.what();
        EXPECT_EQ(
            to_line(error.problems[0]),
            "x.json:2:12: /ports/0: \"device\" is missing: PCI address, or virtual device with its arguments "
            "such as \"net_af_packet0,iface=eth1\"");
        EXPECT_EQ(
            to_line(error.problems[1]),
            "x.json:2:26: /ports/0/devise: unknown key \"devise\" in ports[]; did you mean \"device\"?");
        EXPECT_EQ(to_line(error.problems[2]),
                  "x.json:3:22: /run/duration: is the number 5; a text with a unit such as \"10ms\" or "
                  "\"60s\" is needed");
    }
}

TEST(Decode, tells_each_slip_once_though_later_checks_stand_on_it) {
    EXPECT_EQ(problems_of(small_file("", R"(, "rate": "5")")).find('\n'), std::string::npos);
    EXPECT_EQ(problems_of(small_file(R"(, "rate": 5)", "")).find('\n'), std::string::npos);
    const std::string no_name =
        R"({"version": 1, "ports": [{"name": 5, "device": "net_null0", "tx": {"lcores": [2]}}],
            "streams": [{"name": "s", "port": "east", "rate": "1pps", "packet": {"headers": [{"eth": {}}]}}]})";
    EXPECT_EQ(problems_of(no_name).find('\n'), std::string::npos) << problems_of(no_name);
    const std::string bad_tx =
        R"({"version": 1, "ports": [{"name": "east", "device": "net_null0", "tx": {"lcores": 2}}],
            "streams": [{"name": "s", "port": "east", "rate": "1pps", "packet": {"headers": [{"eth": {}}, {"raw": {"hex": "00"}}]}}]})";
    EXPECT_EQ(problems_of(bad_tx).find('\n'), std::string::npos) << problems_of(bad_tx);
}

TEST(Decode, bounds_what_it_tells_of_a_file_that_is_all_wrong) {
    std::string list = "0x1";
    for (int i = 0; i < 20'000; ++i) list += R"(", "x)";
    const std::string text =
        small_file("", R"(, "rate": "1pps")",
                   R"("frame_size": 64, "headers": [{"eth": {"dst": {"list": [")" + list + R"("]}}}])");
    try {
        parse(text, "f");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.problems.size(), Problems::most + 1);
        EXPECT_EQ(error.problems.back().text, "and 19900 more problems");
    }
}

TEST(Decode, takes_relative_paths_from_the_folder_of_the_file) {
    ParseOptions options;
    options.base_directory = "/etc/volley";
    const std::string text = R"({"version": 1, "ports": [{"name": "a", "device": "net_null0"}],
        "eal": {"plugins": ["librte_x.so", "./mine.so"]}, "telemetry": {"file": "../log/t.jsonl", "socket": "t.sock"}})";
    const Model model = decoded(text, options);
    EXPECT_EQ(model.telemetry.file, "/etc/log/t.jsonl");
    EXPECT_EQ(model.telemetry.socket, "/etc/volley/t.sock");
    EXPECT_EQ(model.eal.plugins, (std::vector<std::string>{"librte_x.so", "/etc/volley/mine.so"}));
    EXPECT_EQ(decoded(text).telemetry.file, "../log/t.jsonl");
}

TEST(Decode, a_stream_without_rate_equals_one_with_the_share_it_stands_for) {
    const Model shared = decoded(small_file(R"(, "rate": "10%")", ""));
    const Model written = decoded(small_file(R"(, "rate": "10%")", R"(, "rate": null, "weight": 1)"));
    EXPECT_EQ(shared, written);
}

TEST(Decode, later_keys_are_refused_unless_they_ask_for_nothing) {
    for (const LaterKey& key : later_keys()) {
        const auto text = [&](const std::string& value) {
            const std::string member = ", \"" + std::string(key.name) + "\": " + value;
            if (key.object == "service") {
                return R"({"version": 1, "ports": [{"name": "a", "device": "net_null0"}], "service": {)" +
                       member.substr(2) + "}}";
            }
            if (key.object == "ports[]") return small_file(member, R"(, "rate": "1pps")");
            if (key.object == "streams[]") return small_file("", R"(, "rate": "1pps")" + member);
            if (key.object == "streams[].start")
                return small_file("", R"(, "rate": "1pps", "start": {)" + member.substr(2) + "}");
            if (key.object == "ports[].tx") {
                return R"({"version": 1, "ports": [{"name": "a", "device": "net_null0", "tx": {"lcores": [2])" +
                       member + "}}]}";
            }
            if (key.object == "streams[].packet.pcap") {
                return small_file("", R"(, "rate": "1pps")", R"("pcap": {"file": "x")" + member + "}");
            }
            EXPECT_EQ(key.object, "streams[].packet");
            return small_file("", R"(, "rate": "1pps")",
                              R"("frame_size": 64, "headers": [{"eth": {}}])" + member);
        };
        if (!key.standard.empty()) {
            EXPECT_EQ(problems_of(text(std::string(key.standard))), "") << key.name;
        }
        EXPECT_NE(problems_of(text("[\"something\"]")).find("is not available in this version"),
                  std::string::npos)
            << key.object << '.' << key.name;
    }
}

}  // namespace
}  // namespace volley::config
