#include <gtest/gtest.h>

#include <csignal>

#include "system/soft_scene.h"

namespace volley::test {
namespace {

constexpr std::uint32_t limiter_register = 0x4984;  // RTTBCNRC of the queue that was written last
constexpr std::uint32_t enabled = 0x8000'0000;

json limited(const std::string& rate, const std::string& pacing = "hardware") {
    return {{"name", "held"},   {"port", "east"}, {"rate", rate},
            {"pacing", pacing}, {"workers", {0}}, {"packet", raw_packet()}};
}

/// A factor of 14 binary places, as the driver reckons it.
std::uint32_t factor(std::uint32_t link_mbps, std::uint32_t mbps) {
    return enabled | link_mbps / mbps << 14 | (link_mbps % mbps << 14) / mbps;
}

bool register_is(std::uint32_t value) {
    return Scene::wait_until([&] { return Scene::nic().peek(limiter_register) == value; });
}

bool says(const Scene& scene, const std::string& warning) {
    return scene.wait_for_line(
        [&](const json& line) { return line.at("warnings").dump().find(warning) != std::string::npos; });
}

TEST(SoftLimiter, is_set_at_start_after_each_link_and_by_each_reload_and_is_shown) {
    EXPECT_TRUE(in_child([] {
        const json other{{"name", "other"},
                         {"port", "east"},
                         {"rate", "1kpps"},
                         {"workers", {1}},
                         {"packet", raw_packet()}};
        json config = configuration(2, false, {port("east", "net_soft82599_0,id=10f7", 2)},
                                    {limited("100.4Mbps"), other});
        const SceneResult result = run_scene(config, [&](const Scene& scene) {
            EXPECT_TRUE(register_is(factor(10'000, 100)));
            EXPECT_TRUE(scene.wait_for_line([](const json& line) {
                const json& limiter = line.at("queues")[0].at("limiter");
                return limiter.is_object() && limiter.at("asked_bps") == 100'400'000 &&
                       limiter.at("set_bps") == 100'000'000 && limiter.at("error_ppm") < -3984 &&
                       limiter.at("error_ppm") > -3985 && line.at("queues")[1].at("limiter").is_null();
            }));
            Scene::nic().set_link(false);
            EXPECT_TRUE(scene.wait_for_line(
                [](const json& line) { return line.at("ports")[0].at("link").at("up") == false; }));
            Scene::nic().set_speed(soft82599::LinkSpeed::one_gigabit);
            Scene::nic().set_link(true);
            EXPECT_TRUE(register_is(factor(1000, 100))) << "reckoned again from the new speed";
            config["streams"][0] = limited("200Mbps");
            scene.reload(config);
            EXPECT_TRUE(register_is(factor(1000, 200)));
            config["streams"][0] = limited("1kpps", "software");
            scene.reload(config);
            EXPECT_TRUE(register_is(0));
            EXPECT_TRUE(scene.wait_for_line([](const json& line) {
                return line.at("generation") == 3 && line.at("queues")[0].at("limiter").is_null();
            }));
            Scene::signal(SIGTERM);
        });
        EXPECT_EQ(result.status, 0) << result.error << result.log;
        ASSERT_FALSE(result.lines.empty());
        expect_consistent(result.lines.back());
    }));
}

// The second port's link is slower than what is asked of it, so the first one's limiter stays what it was.
TEST(SoftLimiter, of_every_port_stays_as_it_was_when_one_refuses_the_new_rate) {
    EXPECT_TRUE(in_child([] {
        const auto config_with = [](const std::string& east, const std::string& west) {
            json other = limited(west);
            other.update({{"name", "other"}, {"port", "west"}});
            json ports = {port("east", "net_soft82599_0,id=10f7"), port("west", "net_soft82599_1,id=10f7")};
            ports[1]["oversubscribe"] = true;
            return configuration(1, false, ports, {limited(east), other});
        };
        bool refused = false;
        std::uint32_t left = 0;
        const SceneResult result = run_scene(config_with("100Mbps", "300Mbps"), [&](const Scene& scene) {
            register_is(factor(10'000, 100));
            scene.reload(config_with("200Mbps", "20Gbps"));
            refused = says(scene, "the link is slower");
            left = Scene::nic().peek(limiter_register);
            Scene::signal(SIGTERM);
        });
        EXPECT_TRUE(refused) << result.log;
        EXPECT_EQ(left, factor(10'000, 100));
        EXPECT_EQ(result.status, 0) << result.error << result.log;
        ASSERT_FALSE(result.lines.empty());
        const json& report = result.lines.back();
        EXPECT_EQ(report.at("generation"), 1);
        EXPECT_EQ(report.at("queues")[0].at("limiter").at("set_bps"), 100'000'000);
    }));
}

}  // namespace
}  // namespace volley::test
