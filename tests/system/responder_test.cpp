#include <gtest/gtest.h>

#include "system/volleyd.h"

namespace volley::test {
namespace {

// volleyd at one end of a cable, the kernel's own programs at the other.
class Responding : public testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        if (const std::string why = NetNamespace::unavailable(); !why.empty()) GTEST_SKIP() << why;
    }
    static void in(const NetNamespace& where, std::vector<std::string> command) {
        const Result result = run(where.inside(std::move(command)));
        ASSERT_EQ(result.status, 0) << result.out << result.err;
    }
};

TEST_P(Responding, port_answers_arping_and_ping_of_both_kinds) {
    const bool tagged = GetParam();
    const NetNamespace near;
    const NetNamespace far;
    connect(near, "near", far, "far");
    const std::string link = tagged ? "far.100" : "far";
    if (tagged) {
        const Result made =
            run(far.inside({"ip", "link", "add", "link", "far", "name", link, "type", "vlan", "id", "100"}));
        if (made.status != 0) GTEST_SKIP() << "this kernel has no VLAN links: " << made.err;
        in(far, {"ip", "link", "set", link, "up"});
    }
    in(far, {"ip", "addr", "add", "10.9.0.2/24", "dev", link});
    in(far,
       {"sysctl", "-qw", "net.ipv6.conf." + (tagged ? std::string("far/100") : link) + ".disable_ipv6=0"});
    in(far, {"ip", "addr", "add", "fd09::2/64", "dev", link, "nodad"});

    json east = port("east", "net_af_packet0,iface=near");
    east["rx"] = {{"lcores", east["tx"]["lcores"]}};
    east["addresses"] = {"10.9.0.1/24", "fd09::1/64"};
    east["mac"] = "02:00:00:00:09:01";
    if (tagged) east["vlan"] = 100;
    Volleyd::Options options;
    options.where = &near;
    Volleyd volleyd(configuration(1, false, {east}, {}), options);
    ASSERT_TRUE(volleyd.wait_for_state("running")) << volleyd.process().err();

    in(far, {"arping", "-c", "3", "-w", "20", "-I", link, "10.9.0.1"});
    in(far, {"ping", "-c", "5", "-i", "0.05", "-W", "10", "10.9.0.1"});
    in(far, {"ping", "-c", "3", "-i", "0.05", "-W", "10", "-s", "1333", "10.9.0.1"});
    in(far, {"ping", "-6", "-c", "5", "-i", "0.05", "-W", "10", "fd09::1"});
    const Result nobody = run(far.inside({"ping", "-c", "1", "-W", "1", "10.9.0.77"}));
    EXPECT_NE(nobody.status, 0);

    volleyd.process().signal(SIGTERM);
    EXPECT_EQ(volleyd.wait(), 0) << volleyd.process().err();
    const json report = volleyd.report();
    const json& east_seen = named(report.at("ports"), "east");
    EXPECT_EQ(east_seen.at("tx").at("packets"), 0) << "replies are no stream's packets";
    EXPECT_GE(east_seen.at("rx").at("answered"), 3 + 5 + 3 + 5);
    EXPECT_EQ(east_seen.at("rx").at("packets"), east_seen.at("rx").at("unmatched"));
}

TEST(PacketSocket, takes_slots_of_any_size_and_says_that_no_longer_frames_come_of_it) {
    if (const std::string why = NetNamespace::unavailable(); !why.empty()) GTEST_SKIP() << why;
    const NetNamespace near;
    const NetNamespace far;
    connect(near, "near", far, "far");
    json east = port("east", "net_af_packet0,iface=near,framesz=16384,blocksz=65536,framecnt=64");
    east["rx"] = {{"lcores", east["tx"]["lcores"]}};
    Volleyd::Options options;
    options.where = &near;
    Volleyd large(configuration(1, false, {east}, {}), options);
    EXPECT_TRUE(large.wait_for_state("running")) << large.process().err();
    large.process().signal(SIGTERM);
    EXPECT_EQ(large.wait(), 0) << large.process().err();
    east["mtu"] = 9000;
    Volleyd longer(configuration(1, false, {east}, {}), options);
    EXPECT_NE(longer.wait(), 0);
    EXPECT_NE(longer.process().err().find("1518 bytes at most, whatever framesz says"), std::string::npos)
        << longer.process().err();
}

INSTANTIATE_TEST_SUITE_P(UntaggedAndTagged, Responding, testing::Bool());

}  // namespace
}  // namespace volley::test
