#include <gtest/gtest.h>

#include "system/volleyd.h"

namespace volley::test {
namespace {

json udp(unsigned size, const std::string& rate, unsigned count, const std::string& name) {
    return {
        {"name", name},
        {"port", "east"},
        {"rate", rate},
        {"count", count},
        {"packet",
         {{"frame_size", size},
          {"headers",
           json::array({{{"eth", {{"dst", "02:00:00:00:00:02"}}}},
                        {{"ipv4", {{"src", {{"increment", {{"from", "10.0.0.1"}, {"to", "10.0.0.250"}}}}}}}},
                        {{"udp", json::object()}}})}}}};
}

struct Way {
    std::string name;
    std::string device;
    bool dispatch;
};

class Veth : public testing::TestWithParam<Way> {
  protected:
    void SetUp() override {
        if (const std::string why = NetNamespace::unavailable(); !why.empty()) GTEST_SKIP() << why;
        if (sanitized() && GetParam().device == "net_af_xdp")
            GTEST_SKIP() << "libxdp leaks what it makes of a umem";
    }
};

TEST_P(Veth, kernel_counts_on_the_far_side_what_the_report_says) {
    const NetNamespace near;
    const NetNamespace far;
    connect(near, "near", far, "far");
    Volleyd::Options options;
    options.where = &near;
    Volleyd volleyd(configuration(1, GetParam().dispatch, {port("east", GetParam().device + "0,iface=near")},
                                  {udp(64, "20kpps", 10'000, "small"), udp(577, "5kpps", 2'501, "middle"),
                                   udp(1518, "2kpps", 1'003, "large")}),
                    options);
    const auto code = volleyd.wait();
    if (code == 69 && GetParam().device == "net_af_xdp") GTEST_SKIP() << volleyd.process().err();
    ASSERT_EQ(code, 0) << volleyd.process().err();
    const json report = volleyd.report();
    expect_consistent(report);
    const json tx = named(report.at("ports"), "east").at("tx");
    EXPECT_EQ(tx.at("packets"), 13'504);
    EXPECT_EQ(tx.at("bytes"), 60 * 10'000 + 573 * 2'501 + 1'514 * 1'003);
    // The kernel sends from its ring on its own time; the counters can only come to these values, never pass
    // them.
    LinkCounters seen;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    do {
        seen = counters(far, "far");
    } while (seen.rx_packets < tx.at("packets") && std::chrono::steady_clock::now() < deadline);
    EXPECT_EQ(seen.rx_packets, tx.at("packets"));
    EXPECT_EQ(seen.rx_bytes, tx.at("bytes"));
    EXPECT_EQ(seen.rx_errors, 0U);
}

// More packets than af_xdp's driver has buffers.
INSTANTIATE_TEST_SUITE_P(EachWay, Veth,
                         testing::Values(Way{"packet_socket", "net_af_packet", false},
                                         Way{"packet_socket_dispatched", "net_af_packet", true},
                                         Way{"xdp_socket", "net_af_xdp", false}),
                         [](const auto& param_info) { return param_info.param.name; });

TEST(VethWithTwoQueues, needs_two_queue_pairs_and_counts_both) {
    if (const std::string why = NetNamespace::unavailable(); !why.empty()) GTEST_SKIP() << why;
    const NetNamespace near;
    const NetNamespace far;
    connect(near, "near", far, "far");
    Volleyd::Options options;
    options.where = &near;
    const json streams =
        json::array({udp(128, "20kpps", 10'001, "both")});  // braces alone: no array to clang
    Volleyd one(configuration(2, false, {port("east", "net_af_packet0,iface=near", 2)}, streams), options);
    EXPECT_NE(one.wait(), 0);
    EXPECT_NE(one.process().err().find("qpairs"), std::string::npos) << one.process().err();
    Volleyd two(configuration(2, false, {port("east", "net_af_packet0,iface=near,qpairs=2", 2)}, streams),
                options);
    ASSERT_EQ(two.wait(), 0) << two.process().err();
    expect_consistent(two.report());
    EXPECT_EQ(sum(two.report().at("ports"), "/tx/packets"), 10'001U);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (counters(far, "far").rx_packets < 10'001 && std::chrono::steady_clock::now() < deadline) {
    }
    EXPECT_EQ(counters(far, "far").rx_packets, 10'001U);
    EXPECT_EQ(counters(far, "far").rx_bytes, 10'001U * 124);
}

}  // namespace
}  // namespace volley::test
