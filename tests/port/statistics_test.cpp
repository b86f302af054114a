#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "port/rig.h"

namespace volley::port {
namespace {

constexpr std::uint32_t good_packets_transmitted = 0x4080;
constexpr std::uint32_t good_octets_transmitted_low = 0x4090;
constexpr std::uint64_t top_of_32_bits = 0xFFFF'FFFF;
constexpr std::uint64_t top_of_36_bits = 0xF'FFFF'FFFF;

std::map<std::string, std::uint64_t> xstats(const Port& port) {
    const auto all = port.read_xstats();
    return {all.begin(), all.end()};
}

void two_queues(config::Port& port) {
    port.tx->lcores = {0, 1};
}

TEST(Statistics, of_bytes_have_no_fcs_for_the_port_and_have_it_for_its_queues) {
    Rig rig("id=10f7", two_queues, 1514);
    const auto small = packet_of(R"({"frame_size": 64, "headers": [{"eth": {}}]})");
    const auto large = packet_of(R"({"frame_size": 1518, "headers": [{"eth": {}}]})");
    rig.send({Rig::flood(*small, 4, 100)}, 0);
    rig.send({Rig::flood(*large, 4, 40)}, 1);
    EXPECT_EQ(rig.port->statistics().tx_packets, 0U) << "nobody has read it";
    rig.port->refresh_statistics();
    const Statistics read = rig.port->statistics();
    EXPECT_EQ(read.tx_packets, 140U);
    EXPECT_EQ(read.tx_bytes, 100U * 60 + 40U * 1514);
    EXPECT_EQ(read.tx_bytes, rig.counters(0).bytes.get() + rig.counters(1).bytes.get());
    EXPECT_EQ(read.tx_errors, 0U);
    const auto by_name = xstats(*rig.port);
    EXPECT_EQ(by_name.at("tx_q0_packets"), 100U);
    EXPECT_EQ(by_name.at("tx_q1_packets"), 40U);
    EXPECT_EQ(by_name.at("tx_q0_bytes"), 100U * 64);
    EXPECT_EQ(by_name.at("tx_q1_bytes"), 40U * 1518);
    EXPECT_EQ(by_name.at("tx_size_64_packets"), 100U);
    EXPECT_EQ(by_name.at("tx_size_1024_to_max_packets"), 40U);
    EXPECT_EQ(by_name.count("tx_size_65_to_127_packets"), 0U) << "zeros are left out";
}

TEST(Statistics, go_on_in_64_bits_where_the_registers_end) {
    Rig rig;
    rig.port->refresh_statistics();
    std::uint64_t packets = 0;
    for (int reading = 0; reading < 3; ++reading) {
        const std::uint64_t so_far = rig.port->statistics().tx_packets;
        EXPECT_EQ(so_far, packets);
        rig.nic->add_statistic(good_packets_transmitted, top_of_32_bits);
        rig.nic->add_statistic(good_octets_transmitted_low, top_of_36_bits);
        packets += top_of_32_bits;
        rig.port->refresh_statistics();
    }
    EXPECT_EQ(rig.port->statistics().tx_packets, 3 * top_of_32_bits);
    EXPECT_EQ(rig.port->statistics().tx_bytes, 3 * (top_of_36_bits - 4 * top_of_32_bits));
}

}  // namespace
}  // namespace volley::port
