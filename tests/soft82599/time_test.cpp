#include <gtest/gtest.h>

#include "soft82599/fixture.h"
#include "soft82599/traffic.h"

namespace volley::soft82599 {
namespace {

/// Keeps the rings full and moves time in steps shorter than a ring lasts; returns packets by queue.
std::vector<std::uint64_t> saturate(SoftPort& nic, Started& port, std::uint16_t queues, std::size_t bytes,
                                    std::uint64_t total_ns) {
    const auto frame = ipv4_frame(bytes);
    std::vector<std::uint64_t> before, packets;
    for (std::uint16_t queue = 0; queue < queues; ++queue) before.push_back(nic->tx_queue(queue).packets);
    constexpr std::uint64_t step = 20'000;
    for (std::uint64_t ns = 0; ns < total_ns; ns += step) {
        for (std::uint16_t queue = 0; queue < queues; ++queue) port.send(queue, frame, 480, 32);
        nic->advance(step);
    }
    for (std::uint16_t queue = 0; queue < queues; ++queue)
        packets.push_back(nic->tx_queue(queue).packets - before[queue]);
    return packets;
}

TEST(VirtualTime, moves_the_wire_only_when_told_and_fills_the_ring) {
    SoftPort nic(0, "id=10f7,mode=virtual");
    Started port(nic.id(), {.descriptors = 128});
    const std::size_t taken = port.send(0, ipv4_frame(60), 500, 32);
    EXPECT_LT(taken, 128U);
    EXPECT_GE(taken, 96U);
    EXPECT_EQ(nic->tx_queue(0).packets, 0U);
    nic->advance(67);
    EXPECT_EQ(nic->tx_queue(0).packets, 0U);  // 84 bytes take 67.2 ns
    nic->advance(1);
    EXPECT_EQ(nic->tx_queue(0).packets, 1U);
    nic->advance(32 * 672 / 10);
    EXPECT_EQ(nic->tx_queue(0).packets, 33U);
    EXPECT_GT(port.send(0, ipv4_frame(60), 500, 32), 0U);  // the driver found the descriptors that were done
    EXPECT_EQ(nic->now_ns(), 68U + 32 * 672 / 10);
}

TEST(VirtualTime, shares_one_line_rate_among_the_queues) {
    SoftPort nic(0, "id=10f7,mode=virtual");
    Started port(nic.id(), {.tx_queues = 4});
    constexpr std::uint64_t ns = 2'000'000;
    const auto packets = saturate(nic, port, 4, 60, ns);
    const std::uint64_t line = ns * 10 / 672;  // 14.88 Mpps
    for (const auto count : packets)
        EXPECT_NEAR(static_cast<double>(count), static_cast<double>(line) / 4, 1);
    EXPECT_EQ(packets[0] + packets[1] + packets[2] + packets[3], line);
}

TEST(VirtualTime, holds_each_queue_to_the_rate_that_the_driver_set) {
    SoftPort nic(0, "id=10f7,mode=virtual");
    Started port(nic.id(), {.tx_queues = 4});
    for (std::uint16_t queue = 0; queue < 3; ++queue) {
        ASSERT_EQ(
            rte_eth_set_queue_rate_limit(nic.id(), queue, static_cast<std::uint16_t>(1000 * (queue + 1))), 0);
    }
    constexpr std::uint64_t ns = 20'000'000;
    const auto packets = saturate(nic, port, 4, 1514, ns);
    const auto mbps = [&](std::uint64_t count) {
        return static_cast<double>(count * 1518 * 8) * 1000 / static_cast<double>(ns);
    };
    EXPECT_NEAR(mbps(packets[0]), 1000, 1);
    EXPECT_NEAR(mbps(packets[1]), 2000, 1);
    EXPECT_NEAR(mbps(packets[2]), 3000, 1);
    // Queue 3 takes what the port's one budget leaves: 10 Gb/s with 20 bytes a frame more on the wire.
    const std::uint64_t others = packets[0] + packets[1] + packets[2];
    constexpr std::uint64_t line = ns * 10 / (std::uint64_t{1538} * 8);
    EXPECT_LE(others + packets[3], line);
    EXPECT_GE(others + packets[3] + 1, line);
}

TEST(VirtualTime, delivers_to_the_receiver_and_waits_for_it) {
    SoftPort nic(0, "id=10f7,mode=virtual,loop=1");
    Started port(nic.id(), {.descriptors = 128});
    port.send(0, ipv4_frame(60), 96, 32);
    nic->advance(10'000);
    port.send(0, ipv4_frame(60), 96, 32);
    nic->advance(10'000);
    EXPECT_EQ(nic->rx_queue(0).packets, 127U);
    EXPECT_EQ(port.receive(0).size(), 127U);
    EXPECT_EQ(nic->tx_queue(0).packets, 127U);
    nic->advance(672);  // no catching up for the time that the wire stood
    EXPECT_EQ(nic->tx_queue(0).packets, 137U);
}

void flow_control(std::uint16_t port, rte_eth_fc_mode mode) {
    rte_eth_fc_conf conf{};
    conf.mode = mode;
    conf.pause_time = 0x680;
    conf.high_water = 0x80;
    conf.low_water = 0x40;
    ASSERT_EQ(rte_eth_dev_flow_ctrl_set(port, &conf), 0);
}

TEST(Pause, is_counted_but_does_not_slow_a_port_without_flow_control) {
    SoftPort nic(0, "id=10f7,mode=virtual");
    Started port(nic.id());
    nic->receive_pause(0xFFFF);
    ASSERT_EQ(port.send(0, ipv4_frame(60), 100, 32), 100U);
    nic->advance(6'720);
    EXPECT_EQ(nic->tx_queue(0).packets, 100U);
    EXPECT_EQ(xstat(nic.id(), "rx_flow_control_xoff_packets"), 1U);
    nic->receive_pause(0);
    EXPECT_EQ(xstat(nic.id(), "rx_flow_control_xon_packets"), 1U);
    EXPECT_EQ(nic->counters().pause_received, 2U);
    EXPECT_EQ(statistics(nic.id()).ipackets, 0U);
}

TEST(Pause, holds_a_port_with_flow_control_for_its_quanta_or_until_xon) {
    SoftPort nic(0, "id=10f7,mode=virtual");
    Started port(nic.id());
    flow_control(nic.id(), RTE_ETH_FC_RX_PAUSE);
    nic->receive_pause(1000);  // 51.2 us
    ASSERT_EQ(port.send(0, ipv4_frame(60), 100, 32), 100U);
    nic->advance(51'200);
    EXPECT_EQ(nic->tx_queue(0).packets, 0U);
    nic->advance(672);
    EXPECT_EQ(nic->tx_queue(0).packets, 10U);
    nic->receive_pause(0xFFFF);
    nic->advance(1'000'000);
    EXPECT_EQ(nic->tx_queue(0).packets, 10U);
    nic->receive_pause(0);
    nic->advance(672);
    EXPECT_EQ(nic->tx_queue(0).packets, 20U);
    flow_control(nic.id(), RTE_ETH_FC_NONE);
    nic->receive_pause(0xFFFF);
    nic->advance(672);
    EXPECT_EQ(nic->tx_queue(0).packets, 30U);
}

TEST(Pause, from_the_peer_is_obeyed_and_not_received_as_a_packet) {
    SoftPort a(0, "id=10f7");
    SoftPort b(1, "id=10f7,peer=net_soft82599_0");
    Started port_a(a.id()), port_b(b.id());
    flow_control(a.id(), RTE_ETH_FC_RX_PAUSE);
    std::vector<std::uint8_t> pause{0x01, 0x80, 0xC2, 0,    0,    1, 2, 0,    0,
                                    0,    0,    9,    0x88, 0x08, 0, 1, 0x01, 0x00};
    pause.resize(60);
    ASSERT_EQ(port_b.send(0, pause, 1, 1), 1U);
    ASSERT_EQ(port_a.send(0, ipv4_frame(60), 10, 10), 10U);
    EXPECT_EQ(a->tx_queue(0).packets, 0U);
    pause[16] = 0;  // XON: the sender's own tail write lets the other end go on
    ASSERT_EQ(port_b.send(0, pause, 1, 1), 1U);
    EXPECT_EQ(a->tx_queue(0).packets, 10U);
    EXPECT_EQ(port_a.receive(0).size(), 0U);
    EXPECT_EQ(port_b.receive(0).size(), 10U);
}

}  // namespace
}  // namespace volley::soft82599
