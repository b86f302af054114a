#include <gtest/gtest.h>

#include <cstdlib>

#include "system/soft_scene.h"

namespace volley::test {
namespace {

// 10^7 take minutes on a model of a NIC; VOLLEY_LONG asks for them.
std::uint64_t count() {
    return std::getenv("VOLLEY_LONG") != nullptr ? 10'000'000 : sanitized() ? 5'000 : 40'000;
}

json stream(const std::string& name, std::uint64_t packets, const json& size) {
    return {
        {"name", name},
        {"port", "east"},
        {"rate", std::getenv("VOLLEY_LONG") != nullptr ? "100kpps" : "20kpps"},
        {"count", packets},
        {"verify", "all"},
        {"expect_on", "west"},
        {"expect", {{"loss", 0}}},
        {"packet",
         {{"frame_size", size},
          {"payload", {{"random", {{"seed", 2}}}}},
          {"headers",
           json::array({{{"eth", {{"dst", "02:00:00:00:00:02"}}}},
                        {{"ipv4", {{"src", {{"increment", {{"from", "10.0.0.1"}, {"to", "10.0.0.250"}}}}}}}},
                        {{"udp", {{"src", {{"increment", {{"from", 1024}, {"to", 1123}}}}}}}}})}}}};
}

json wired(unsigned receivers, const std::string& mode = "poll") {
    json west{{"name", "west"}, {"device", "net_soft82599_1,id=10f7"}};
    json lcores = json::array();
    for (unsigned r = 0; r < receivers; ++r) lcores.push_back(first_worker + 1 + r);
    west["rx"] = {{"lcores", lcores}, {"mode", mode}};
    json config = configuration(
        1 + receivers, false, {port("east", "net_soft82599_0,id=10f7,peer=net_soft82599_1"), west},
        {stream("small", count() / 2, 64),
         stream("mixed", count() / 2, {{"increment", {{"from", 64}, {"to", 1518}}}})});
    config["run"]["settle_time"] = "300ms";
    return config;
}

void expect_all_received(const SceneResult& result) {
    EXPECT_EQ(result.status, 0) << result.error << result.log;
    ASSERT_FALSE(result.lines.empty());
    const json& report = result.lines.back();
    expect_consistent(report);
    EXPECT_EQ(report.at("warnings"), json::array());
    for (const json& stream : report.at("streams")) {
        const json& rx = stream.at("rx");
        EXPECT_EQ(rx.at("packets"), count() / 2);
        EXPECT_EQ(rx.at("verified"), count() / 2);
        for (const char* none : {"lost", "duplicates", "reordered", "corrupted"})
            EXPECT_EQ(rx.at(none), 0) << none;
    }
    const json& west = named(report.at("ports"), "west").at("rx");
    EXPECT_EQ(west.at("packets"), count());
    EXPECT_EQ(west.at("unmatched"), 0);
    for (const char* none : {"missed", "errors", "no_mbuf"}) EXPECT_EQ(west.at(none), 0) << none;
}

TEST(SoftReceive, two_ports_on_a_wire_lose_and_corrupt_nothing) {
    EXPECT_TRUE(in_child([] { expect_all_received(run_scene(wired(1), [](const Scene&) {})); }));
}

/// Long frames, of that size with FCS.
class SoftReceiveLong : public testing::TestWithParam<unsigned> {};

TEST_P(SoftReceiveLong, frames_arrive_whole_and_are_lost_and_corrupted_as_little_as_short_ones) {
    EXPECT_TRUE(in_child([] {
        json config = wired(1);
        config["streams"] = json::array({stream("long", 500, GetParam())});
        const SceneResult result = run_scene(config, [](const Scene&) {
            constexpr std::uint32_t srrctl = 0x2100;
            const std::uint32_t buffer = (Scene::nic(1).peek(srrctl) & 0x1F) << 10;
            EXPECT_GE(buffer + 4, GetParam()) << "a frame without its FCS fits one buffer";
        });
        EXPECT_EQ(result.status, 0) << result.error << result.log;
        ASSERT_FALSE(result.lines.empty());
        const json& report = result.lines.back();
        expect_consistent(report);
        const json& rx = report.at("streams").at(0).at("rx");
        EXPECT_EQ(rx.at("packets"), 500);
        EXPECT_EQ(rx.at("verified"), 500);
        EXPECT_EQ(rx.at("lost"), 0);
        EXPECT_EQ(rx.at("corrupted"), 0);
        EXPECT_EQ(named(report.at("ports"), "west").at("rx").at("unmatched"), 0);
    }));
}
INSTANTIATE_TEST_SUITE_P(Sizes, SoftReceiveLong, testing::Values(2100, 9000));

TEST(SoftReceive, what_rss_spreads_over_two_queues_adds_up_though_their_receivers_sleep) {
    EXPECT_TRUE(in_child([] {
        const SceneResult result = run_scene(wired(2, "adaptive"), [](const Scene&) {});
        expect_all_received(result);
        std::uint64_t interrupts = 0;
        for (const json& worker : result.lines.back().at("workers")) {
            if (worker.at("rx").is_object())
                interrupts += worker.at("rx").at("interrupts").get<std::uint64_t>();
        }
        EXPECT_GT(interrupts, 0U) << "the first packet of a queue ends a sleep";
    }));
}

}  // namespace
}  // namespace volley::test
