#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "system/soft_scene.h"

namespace volley::test {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t count = 3000;

json on(const std::string& device, bool endless = false) {
    json stream{{"name", "flood"}, {"port", "east"}, {"rate", "20kpps"}, {"packet", raw_packet()}};
    if (!endless) stream["count"] = count;
    return configuration(1, false, {port("east", device)}, {stream});
}

bool waits_for(const json& line, const std::string& what) {
    const json& link = line.at("ports")[0].at("link");
    return line.at("state") == "starting" && link.at("reason").is_string() &&
           link.at("reason").get<std::string>().find(what) != std::string::npos;
}

void expect_all_sent(const SceneResult& result) {
    EXPECT_EQ(result.status, 0) << result.error << result.log;
    ASSERT_FALSE(result.lines.empty());
    expect_consistent(result.lines.back());
    EXPECT_EQ(sum(result.lines.back().at("streams"), "/tx/packets"), count);
}

TEST(SoftLink, that_comes_late_is_waited_for_and_nothing_is_sent_before) {
    EXPECT_TRUE(in_child([] {
        const SceneResult result = run_scene(on("net_soft82599_0,id=10f7,link=down"), [](const Scene& scene) {
            EXPECT_TRUE(scene.wait_for_line([](const json& line) { return waits_for(line, "no link"); }));
            EXPECT_EQ(Scene::nic().tx_queue(0).packets, 0U);
            EXPECT_EQ(Scene::nic().tx_queue(0).tail_writes, 0U);
            Scene::nic().set_link(true);
        });
        expect_all_sent(result);
        EXPECT_NE(result.log.find("port east waits: no link: check cable and module"), std::string::npos);
        EXPECT_NE(result.log.find("port east: link up at 10Gbps"), std::string::npos);
    }));
}

TEST(SoftLink, that_flaps_is_taken_when_it_has_stayed_up) {
    EXPECT_TRUE(in_child([] {
        const SceneResult result = run_scene(on("net_soft82599_0,id=10f7,link=down"), [](const Scene& scene) {
            for (int i = 0; i < 12; ++i) {
                Scene::nic().set_link(i % 2 == 1);
                std::this_thread::sleep_for(milliseconds(60));
                EXPECT_EQ(Scene::nic().tx_queue(0).tail_writes, 0U);
            }
            Scene::nic().set_link(false);
            EXPECT_TRUE(scene.wait_for_line([](const json& line) { return waits_for(line, "flaps"); }));
            Scene::nic().set_link(true);
        });
        expect_all_sent(result);
    }));
}

TEST(SoftLink, of_an_absent_module_holds_no_stop) {
    EXPECT_TRUE(in_child([] {
        std::chrono::steady_clock::time_point stopped;
        const SceneResult result =
            run_scene(on("net_soft82599_0,id=10fb,sfp=absent"), [&](const Scene& scene) {
                EXPECT_TRUE(scene.wait_for_line([](const json& line) { return waits_for(line, "module"); }));
                stopped = std::chrono::steady_clock::now();
                Scene::signal(SIGTERM);
            });
        // The link would have been waited for ten seconds.
        EXPECT_LT(std::chrono::steady_clock::now() - stopped, std::chrono::seconds(5));
        EXPECT_EQ(result.status, 0) << result.error;
        EXPECT_NE(result.log.find("starting -> stopping"), std::string::npos) << result.log;
        EXPECT_EQ(result.log.find("running"), std::string::npos);
    }));
}

TEST(SoftLink, of_unknown_speed_is_taken_without_when_none_comes) {
    EXPECT_TRUE(in_child([] {
        // The speed can be made unknown only once the model is there, so the link is down until then.
        const SceneResult result = run_scene(on("net_soft82599_0,id=10f7,link=down"), [](const Scene& scene) {
            Scene::nic().set_speed(soft82599::LinkSpeed::unknown);
            Scene::nic().set_link(true);
            EXPECT_TRUE(
                scene.wait_for_line([](const json& line) { return waits_for(line, "not known yet"); }));
        });
        expect_all_sent(result);
        EXPECT_TRUE(result.lines.back().at("ports")[0].at("link").at("speed_bps").is_null());
    }));
}

TEST(SoftLink, of_another_speed_than_the_file_says_is_refused_with_both) {
    if (std::getenv("VOLLEY_LONG") == nullptr) GTEST_SKIP() << "set VOLLEY_LONG";
    EXPECT_TRUE(in_child([] {
        json config = on("net_soft82599_0,id=10f7,link=down");
        config["ports"][0]["speed"] = "10Gbps";
        const SceneResult result = run_scene(config, [](const Scene&) {
            Scene::nic().set_speed(soft82599::LinkSpeed::one_gigabit);
            Scene::nic().set_link(true);
        });
        EXPECT_NE(result.error.find("a link of 1Gbps, but the port's \"speed\" is 10Gbps"), std::string::npos)
            << result.error;
    }));
}

TEST(SoftLink, lost_while_sending_is_shown_and_its_packets_leave_when_it_returns) {
    EXPECT_TRUE(in_child([] {
        const SceneResult result = run_scene(on("net_soft82599_0,id=10f7", true), [](const Scene& scene) {
            const auto& nic = Scene::nic();
            EXPECT_TRUE(Scene::wait_until([&] { return nic.tx_queue(0).packets > 100; }));
            Scene::nic().set_link(false);
            EXPECT_TRUE(scene.wait_for_line([](const json& line) {
                const json& link = line.at("ports")[0].at("link");
                return link.at("up") == false &&
                       link.at("reason").get<std::string>().starts_with("link lost");
            }));
            Scene::nic().set_link(true);
            const std::uint64_t before = nic.tx_queue(0).packets;
            EXPECT_TRUE(Scene::wait_until([&] { return nic.tx_queue(0).packets > before + 100; }));
            Scene::signal(SIGTERM);
        });
        EXPECT_EQ(result.status, 0) << result.error << result.log;
        expect_consistent(result.lines.back());
        EXPECT_NE(result.log.find("port east: link lost"), std::string::npos);
    }));
}

}  // namespace
}  // namespace volley::test
