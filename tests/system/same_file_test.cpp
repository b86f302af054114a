#include <dlfcn.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "soft82599/control.h"
#include "system/soft_scene.h"

namespace volley::test {
namespace {

constexpr std::uint64_t count = 2000;

/// The file of docs/hardware.md: no word of it depends on the device.
json file(const std::string& device) {
    const json stream{
        {"name", "flood"},
        {"port", "east"},
        {"rate", "1%"},
        {"count", count},
        {"packet",
         {{"frame_size", 128},
          {"headers",
           json::array({{{"eth", {{"dst", "02:00:00:00:00:02"}}}},
                        {{"ipv4", {{"src", {{"increment", {{"from", "10.0.0.1"}, {"to", "10.0.0.100"}}}}}}}},
                        {{"udp", {{"dst", 9}}}}})}}}};
    json out = configuration(1, false, {port("east", device)}, {stream});
    out["ports"][0]["speed"] = "10Gbps";
    out["ports"][0]["mac"] = "02:00:00:00:00:01";
    out["ports"][0]["tx"]["require_fast_path"] = true;
    return out;
}

/// Folder and name of the model's shared object. The EAL takes no path below a folder that all may write to,
/// but a bare name in the library path.
std::filesystem::path plugin() {
    Dl_info info{};
    EXPECT_NE(dladdr(reinterpret_cast<void*>(&soft82599::volley_soft82599_find), &info), 0);
    return std::filesystem::canonical(info.dli_fname);
}

void expect_ran(const json& report, const std::string& driver, const std::string& tx_path) {
    expect_consistent(report);
    EXPECT_EQ(sum(report.at("streams"), "/tx/packets"), count);
    EXPECT_EQ(sum(report.at("streams"), "/tx/l2_bytes"), count * 128);
    const json& east = report.at("ports")[0];
    EXPECT_EQ(east.at("driver"), driver);
    EXPECT_EQ(east.at("tx_path"), tx_path);
    EXPECT_EQ(east.at("link").at("speed_bps"), 10'000'000'000);
}

TEST(SameFile, runs_on_net_null) {
    expect_ran(run_volleyd(file("net_null0")), "net_null", "default");
}

TEST(SameFile, runs_on_the_soft_82599_where_only_device_and_plugins_differ) {
    json config = file("net_soft82599_0,id=10fb");
    config["eal"]["plugins"] = json::array({plugin().filename().string()});
    Volleyd::Options options;
    options.prefix = {"env", "LD_LIBRARY_PATH=" + plugin().parent_path().string()};
    Volleyd volleyd(config, options);
    EXPECT_EQ(volleyd.wait(), 0) << volleyd.process().err();
    const json report = volleyd.report();
    expect_ran(report, "net_ixgbe", "vector");
    EXPECT_EQ(report.at("ports")[0].at("xstats").at("tx_q0_packets"), count);
    EXPECT_EQ(report.at("ports")[0].at("xstats").at("tx_good_bytes"), count * 124);
    EXPECT_NE(volleyd.process().err().find("vector"), std::string::npos) << "the log tells the path";
}

TEST(SameFile, is_checked_for_a_pci_address_and_says_what_to_do_where_there_is_none) {
    const json config = file("ffff:1f:1f.7");
    Volleyd::Options options;
    options.arguments = {"--check"};
    Volleyd checked(config, options);
    EXPECT_EQ(checked.wait(), 0) << checked.process().err();
    Volleyd started(config);
    EXPECT_EQ(started.wait(), 69) << started.process().err();
    EXPECT_NE(started.process().err().find("vfio-pci"), std::string::npos) << started.process().err();
}

TEST(SameFile, stuck_in_the_nic_is_reported_unsent_with_75_and_holds_no_stop) {
    EXPECT_TRUE(in_child([] {
        json config = file("net_soft82599_0,id=10f7");
        config["streams"][0].erase("count");
        std::uint64_t sent = 0;
        const SceneResult result = run_scene(config, [&](const Scene& scene) {
            EXPECT_TRUE(Scene::wait_until([] { return Scene::nic().tx_queue(0).packets > 100; }));
            Scene::nic().set_tx_stuck(0, true);
            EXPECT_TRUE(scene.wait_for_line(
                [](const json& line) { return line.at("ports")[0].at("tx").at("stalled") == true; }));
            sent = Scene::nic().tx_queue(0).packets;
            Scene::signal(SIGTERM);
            EXPECT_TRUE(scene.wait_for_line([](const json& line) { return line.at("state") == "draining"; }));
            Scene::signal(SIGTERM);
        });
        EXPECT_EQ(result.status, 75) << result.error << result.log;
        ASSERT_FALSE(result.lines.empty());
        const json& report = result.lines.back();
        EXPECT_EQ(report.at("type"), "report");
        EXPECT_EQ(report.at("settled"), false);
        const json& tx = report.at("ports")[0].at("tx");
        EXPECT_GT(tx.at("unsent"), 0);
        EXPECT_EQ(tx.at("unsent").get<std::uint64_t>(), tx.at("packets").get<std::uint64_t>() - sent);
    }));
}

}  // namespace
}  // namespace volley::test
