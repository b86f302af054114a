#include <gtest/gtest.h>

#include "soft82599/fixture.h"
#include "soft82599/traffic.h"

namespace volley::soft82599 {
namespace {

constexpr std::uint16_t burst_sizes[] = {1, 2, 3, 4, 8, 32, 64, 128};

struct Path {
    const char* name;
    std::uint16_t rs_thresh;
    std::uint64_t offloads;
    unsigned chunk;  ///< most packets behind one tail write; 0 is the whole burst
};

std::uint64_t chunks(std::uint64_t burst, unsigned chunk) {
    return chunk == 0 ? 1 : (burst + chunk - 1) / chunk;
}

TEST(Transmit, starts_with_both_ids_and_reports_a_ten_gigabit_link) {
    for (const char* options : {"id=10fb", "id=10f7"}) {
        SoftPort nic(0, options);
        EXPECT_EQ(nic->device_name(), "8259:99:00.0");
        const Started port(nic.id());
        rte_eth_link link{};
        ASSERT_EQ(rte_eth_link_get_nowait(nic.id(), &link), 0);
        EXPECT_EQ(link.link_status, RTE_ETH_LINK_UP) << options;
        EXPECT_EQ(link.link_speed, 10000U) << options;
    }
}

TEST(Transmit, counts_every_tail_write_of_every_burst_size) {
    SoftPort nic(0, "id=10f7");
    constexpr Path paths[] = {{"vector", 32, 0, 32}, {"full", 32, RTE_ETH_TX_OFFLOAD_MULTI_SEGS, 0}};
    for (const Path& path : paths) {
        Started port(nic.id(), {.rs_thresh = path.rs_thresh, .tx_offloads = path.offloads});
        const auto frame = ipv4_frame(60);
        for (const std::uint16_t burst : burst_sizes) {
            const auto before = nic->tx_queue(0);
            constexpr std::size_t packets = 1536;  // a multiple of every burst size
            ASSERT_EQ(port.send(0, frame, packets, burst), packets);
            const auto after = nic->tx_queue(0);
            EXPECT_EQ(after.packets - before.packets, packets) << path.name << " " << burst;
            EXPECT_EQ(after.bytes - before.bytes, packets * 60) << path.name << " " << burst;
            EXPECT_EQ(after.tail_writes - before.tail_writes, packets / burst * chunks(burst, path.chunk))
                << path.name << " " << burst;
        }
    }
}

}  // namespace
}  // namespace volley::soft82599
