#include <gtest/gtest.h>

#include "config/load.h"

namespace volley::config {
namespace {

// The least of a file, with what stands inside its port, its stream and its packet.
std::string file(const std::string& port, const std::string& stream,
                 const std::string& packet = "\"frame_size\": 64") {
    return R"({"version": 1, "ports": [{"name": "east", "device": "net_null0", "tx": {"lcores": [2]})" +
           port + R"(}], "streams": [{"name": "s", "port": "east")" + stream + R"(, "packet": {)" + packet +
           "}}]}";
}

Model decoded(const std::string& text) {
    try {
        return parse(text, "test.json");
    } catch (const Error& error) {
        ADD_FAILURE() << error.what();
        return {};
    }
}

TEST(Decode, fills_in_the_defaults_of_a_short_file) {
    const Model model = decoded(file("", R"(, "rate": "max")"));
    ASSERT_EQ(model.streams.size(), 1U);
    EXPECT_EQ(model.name, "volley");
    EXPECT_EQ(model.ports[0].tx->flush_threshold, 32U);
    EXPECT_EQ(model.streams[0].rate->kind, Rate::Kind::max);
    EXPECT_EQ(model.streams[0].packet.frame_size->program->from, 64U);
    EXPECT_EQ(model.telemetry.interval, Duration{1'000'000'000});
}

TEST(Decode, tells_all_problems_at_once_each_with_its_place) {
    try {
        parse(
            "{\"version\": 1,\n \"ports\": [{\"name\": \"a\", \"devise\": \"net_null0\"}],\n \"run\": "
            "{\"duration\": 5}}",
            "x.json");
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

}  // namespace
}  // namespace volley::config
