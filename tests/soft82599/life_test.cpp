#include <gtest/gtest.h>

#include <chrono>

#include "soft82599/fixture.h"
#include "soft82599/traffic.h"
#include "soft82599/write_watch.h"

namespace volley::soft82599 {
namespace {

constexpr unsigned pool_size = 8191;

TEST(Life, returns_every_mbuf_over_stop_restart_and_detach) {
    SoftPort nic(0, "id=10fb,loop=1");
    for (int round = 0; round < 2; ++round) {
        Started port(nic.id());
        ASSERT_EQ(port.send(0, ipv4_frame(60), 300, 32), 300U);
        EXPECT_EQ(port.receive(0).size(), 300U);
        ASSERT_EQ(port.send(0, ipv4_frame(60), 40, 32), 40U);  // stay in the rings
        port.stop();
        EXPECT_EQ(rte_mempool_avail_count(port.pool()), pool_size);
        ASSERT_EQ(rte_eth_dev_start(nic.id()), 0);
        ASSERT_EQ(port.send(0, ipv4_frame(60), 64, 32), 64U);
        EXPECT_EQ(port.receive(0).size(), 64U);
        rte_eth_dev_stop(nic.id());
        EXPECT_EQ(rte_mempool_avail_count(port.pool()), pool_size);
    }
}

TEST(Life, can_be_plugged_again_after_the_vdev_or_the_ethdev_was_removed) {
    for (int round = 0; round < 3; ++round) {
        SoftPort nic(3, "id=10f7");
        EXPECT_EQ(nic->device_name(), "8259:99:03.0");
        const Started port(nic.id());
    }
    {
        SoftPort nic(0, "id=10f7");
        // The PCI device goes first, the vdev later.
        ASSERT_GE(rte_eth_dev_close(nic.id()), 0);
        ASSERT_EQ(rte_eal_hotplug_remove("pci", "8259:99:00.0"), 0);
        std::uint16_t id = 0;
        EXPECT_NE(rte_eth_dev_get_port_by_name("8259:99:00.0", &id), 0);
    }
    const SoftPort again(0, "id=10f7");
    EXPECT_EQ(volley_soft82599_find("net_soft82599_0"), &*again);
    EXPECT_EQ(volley_soft82599_find("net_soft82599_1"), nullptr);
}

TEST(Life, refuses_what_it_cannot_do_with_the_reason) {
    const auto told = [](unsigned number, const char* options) {
        testing::internal::CaptureStderr();
        EXPECT_THROW(SoftPort(number, options), std::runtime_error) << options;
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_NE(told(0, "id=1528").find("net_soft82599_0: id: \"1528\" (use 10fb or 10f7)"), std::string::npos);
    EXPECT_NE(told(32, "id=10fb").find("name the device"), std::string::npos);
    EXPECT_NE(told(0, "id=10f7,pcap=/nonexistent/x.pcap").find("/nonexistent/x.pcap"), std::string::npos);
}

TEST(Life, a_stuck_queue_keeps_its_packets_and_does_not_hold_the_stop) {
    SoftPort nic(0, "id=10f7");
    Started port(nic.id(), {.tx_queues = 2, .descriptors = 128});
    nic->set_tx_stuck(1, true);
    EXPECT_LT(port.send(1, ipv4_frame(60), 500, 32), 128U);
    EXPECT_EQ(port.send(0, ipv4_frame(60), 500, 32), 500U);
    EXPECT_EQ(nic->tx_queue(0).packets, 500U);
    EXPECT_EQ(nic->tx_queue(1).packets, 0U);
    EXPECT_GT(nic->tx_queue(1).tail_writes, 0U);
    nic->set_tx_stuck(1, false);
    EXPECT_GE(nic->tx_queue(1).packets, 96U);
    nic->set_tx_stuck(1, true);
    EXPECT_GT(port.send(1, ipv4_frame(60), 500, 32), 0U);
    const auto begin = std::chrono::steady_clock::now();
    port.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
    EXPECT_EQ(rte_mempool_avail_count(port.pool()), pool_size);
}

TEST(Plain, sends_when_pumped) {
    SoftPort nic(0, "id=10f7,mode=plain,loop=1");
    Started port(nic.id());
    ASSERT_EQ(port.send(0, ipv4_frame(60), 320, 32), 320U);
    EXPECT_EQ(nic->tx_queue(0).packets, 0U);
    EXPECT_EQ(nic->pump(), 320U);
    EXPECT_EQ(nic->tx_queue(0).packets, 320U);
    EXPECT_EQ(nic->tx_queue(0).tail_writes, 0U);
    EXPECT_EQ(port.receive(0).size(), 320U);
    for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(port.send(0, ipv4_frame(60), 320, 32), 320U);
        ASSERT_EQ(nic->pump(), 320U);
        ASSERT_EQ(port.receive(0).size(), 320U);
    }
    port.stop();
    EXPECT_EQ(rte_mempool_avail_count(port.pool()), pool_size);
}

TEST(Plain, a_debug_register_counts_the_tail_writes_that_the_trap_counts) {
    SoftPort nic(0, "id=10f7,mode=plain");
    Started port(nic.id());
    const WriteWatch watch(nic->bar(), 0x6018);
    if (!watch.works()) GTEST_SKIP() << "this machine lends no debug register";
    constexpr std::uint16_t bursts[] = {1, 2, 3, 4, 8, 32, 64, 128};
    for (const std::uint16_t burst : bursts) {
        const std::uint64_t before = watch.writes();
        constexpr std::size_t packets = 384;  // a multiple of every burst size
        ASSERT_EQ(port.send(0, ipv4_frame(60), packets, burst), packets);
        EXPECT_EQ(watch.writes() - before, packets / burst * ((burst + 31U) / 32)) << burst;
        nic->pump();
    }
}

}  // namespace
}  // namespace volley::soft82599
