#include "port/ixgbe.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "dpdk/error.h"
#include "port/rig.h"
#include "soft82599/write_watch.h"

// rte_vect.h of DPDK 22.11 declares it without C linkage.
extern "C" int rte_vect_set_max_simd_bitwidth(std::uint16_t bits);

namespace volley::port {

NoVectors::NoVectors() {
    soft82599::start_eal();
    rte_vect_set_max_simd_bitwidth(64);
}
NoVectors::~NoVectors() {
    rte_vect_set_max_simd_bitwidth(512);
}

namespace {

using ixgbe::TxPath;
using ixgbe::TxRules;

TEST(IxgbeRules, only_rs_thresh_32_without_offload_gives_a_fast_path) {
    EXPECT_EQ(ixgbe::predicted({1024, 32, 32, false, true}), TxPath::vector);
    EXPECT_EQ(ixgbe::predicted({1024, 32, 32, false, false}), TxPath::simple);
    EXPECT_EQ(ixgbe::predicted({1024, 16, 32, false, true}), TxPath::full);
    EXPECT_EQ(ixgbe::predicted({1024, 32, 32, true, true}), TxPath::full);
}

TEST(IxgbeRules, what_the_driver_refuses_is_said_with_the_numbers) {
    EXPECT_TRUE(ixgbe::problems({1024, 32, 32, false, true}).empty());
    EXPECT_TRUE(ixgbe::problems({512, 8, 32, false, true}).empty());
    const auto only = [](const TxRules& rules) {
        const auto found = ixgbe::problems(rules);
        return found.size() == 1 ? found.front().text : "problems: " + std::to_string(found.size());
    };
    EXPECT_NE(only({1020, 32, 32, false, true}).find("1020"), std::string::npos);
    EXPECT_NE(only({8192, 32, 32, false, true}).find("32 to 4096"), std::string::npos);
    EXPECT_NE(only({1024, 64, 64, false, true}).find("only 32"), std::string::npos);
    EXPECT_NE(only({1024, 32, 16, false, true}).find("above tx.free_thresh 16"), std::string::npos);
    EXPECT_NE(only({1000, 32, 32, false, true}).find("no multiple"), std::string::npos);
}

constexpr const char* frame = R"({"headers": [{"eth": {}}]})";

void expect_equal_tail_writes(const std::string& path, std::uint32_t rs_thresh) {
    const auto packet = packet_of(frame);
    Rig rig("id=10f7", [&](config::Port& port) { port.tx->rs_thresh = rs_thresh; });
    ASSERT_EQ(rig.port->tx_path(), path);
    for (const std::uint32_t burst : {1U, 2U, 3U, 4U, 8U, 32U, 64U, 128U}) {
        const std::size_t lane = rig.make_lane(0, burst);
        const soft82599::TxQueueCounters before = rig.nic->tx_queue(0);
        rig.send({Rig::flood(*packet, burst, 100 * burst)}, lane);
        const std::uint64_t counted = rig.nic->tx_queue(0).tail_writes - before.tail_writes;
        EXPECT_EQ(rig.counters(lane).tail_writes.get(), counted) << path << " path, burst " << burst;
        EXPECT_EQ(counted, path == "full" ? 100U : 100U * ((burst + 31) / 32))
            << path << " path, burst " << burst;
        EXPECT_EQ(rig.nic->tx_queue(0).packets - before.packets, 100U * burst);
    }
}

TEST(IxgbePort, counts_each_tail_write_on_the_vector_path_as_the_chip_sees_it) {
    expect_equal_tail_writes("vector", 32);
}

TEST(IxgbePort, counts_each_tail_write_on_the_simple_path_as_the_chip_sees_it) {
    const NoVectors none;
    expect_equal_tail_writes("simple", 32);
}

TEST(IxgbePort, counts_each_tail_write_on_the_full_path_as_the_chip_sees_it) {
    expect_equal_tail_writes("full", 16);
}

TEST(IxgbePort, counts_each_tail_write_on_the_vector_path_as_a_debug_register_of_the_cpu_does) {
    const auto packet = packet_of(frame);
    Rig rig("id=10f7,mode=plain");
    ASSERT_EQ(rig.port->tx_path(), "vector");
    const soft82599::WriteWatch watch(rig.nic->bar(), 0x6018);  // TDT of queue 0
    if (!watch.works()) GTEST_SKIP() << "this machine lends no debug register";
    for (const std::uint32_t burst : {1U, 2U, 3U, 4U, 8U, 32U, 64U, 128U}) {
        const std::size_t lane = rig.make_lane(0, burst);
        const std::uint64_t before = watch.writes();
        rig.send({Rig::flood(*packet, burst, 384)}, lane);
        EXPECT_EQ(rig.counters(lane).tail_writes.get(), watch.writes() - before) << "burst " << burst;
        rig.nic->pump();
    }
}

std::string refusal(const Rig::Change& change, std::uint32_t longest_frame = 60) {
    try {
        const Rig rig("id=10f7", change, longest_frame);
        return "nothing was refused";
    } catch (const dpdk::Error& error) {
        return error.what();
    }
}

TEST(IxgbePort, refuses_thresholds_that_the_driver_would_refuse_and_says_which) {
    const std::string told = refusal([](config::Port& port) { port.tx->rs_thresh = 64; });
    EXPECT_NE(told.find("tx.rs_thresh is 64"), std::string::npos) << told;
}

TEST(IxgbePort, that_requires_a_fast_path_refuses_the_full_one_and_says_why) {
    const std::string thresholds = refusal([](config::Port& port) {
        port.tx->rs_thresh = 16;
        port.tx->require_fast_path = true;
    });
    EXPECT_NE(thresholds.find("tx.rs_thresh is 16, and only 32 gives the fast path"), std::string::npos)
        << thresholds;
    const std::string offload = refusal([](config::Port& port) {
        port.tx->offload = true;
        port.tx->require_fast_path = true;
    });
    EXPECT_NE(offload.find("any offload is the full path"), std::string::npos) << offload;
    const auto fast = [](config::Port& port) { port.tx->require_fast_path = true; };
    EXPECT_EQ(Rig("id=10f7", fast).port->tx_path(), "vector");
    const NoVectors none;
    EXPECT_EQ(Rig("id=10f7", fast).port->tx_path(), "simple");
}

TEST(IxgbePort, has_the_mtu_mac_address_and_filter_that_the_file_gives) {
    constexpr std::uint32_t filter_control = 0x5080;
    constexpr std::uint32_t unicast_and_multicast_promiscuous = 0x300;
    constexpr std::uint32_t largest_frame_register = 0x4268;
    const Rig given("id=10f7", [](config::Port& port) {
        port.mtu = 4000;
        port.mac = 0x020000000001;
        port.promiscuous = false;
    });
    std::uint16_t mtu = 0;
    ASSERT_EQ(rte_eth_dev_get_mtu(given.port->id().value, &mtu), 0);
    EXPECT_EQ(mtu, 4000);
    EXPECT_EQ(given.nic->peek(largest_frame_register) >> 16, 4018U);
    EXPECT_EQ(given.port->mac(), 0x020000000001U);
    EXPECT_EQ(given.nic->peek(0x5400), 0x00000002U);  // RAL0, RAH0: first byte lowest
    EXPECT_EQ(given.nic->peek(0x5404) & 0xFFFF, 0x0100U);
    EXPECT_EQ(given.nic->peek(filter_control) & unicast_and_multicast_promiscuous, 0U);
}

TEST(IxgbePort, takes_every_frame_and_the_mtu_of_the_longest_unless_told_otherwise) {
    const auto packet = packet_of(R"({"frame_size": 9018, "headers": [{"eth": {}}]})");  // an MTU of 9000
    {
        Rig rig("id=10f7", {}, 9014);
        EXPECT_EQ(rig.nic->peek(0x5080) & 0x300, 0x300U);
        EXPECT_EQ(rig.nic->peek(0x4268) >> 16, 9018U);
        rig.send({Rig::flood(*packet, 8, 64)});
        EXPECT_EQ(rig.nic->tx_queue(0).bytes, 64U * 9014);
    }
    const std::string told = refusal({}, 16'000);
    EXPECT_NE(told.find("stream test sends frames of 16004 bytes"), std::string::npos) << told;
}

}  // namespace
}  // namespace volley::port
