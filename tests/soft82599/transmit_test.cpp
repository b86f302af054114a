#include <gtest/gtest.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "soft82599/fixture.h"
#include "soft82599/recorder.h"
#include "soft82599/traffic.h"

namespace volley::soft82599 {
namespace {

constexpr std::array<std::uint16_t, 8> burst_sizes{1, 2, 3, 4, 8, 32, 64, 128};

/// A configuration, the driver's TX function that it leads to, and what was measured for 65536 packets sent
/// in bursts of 1, 4, 8, 32 and 64: descriptors that ask for write-back (RS).
struct Path {
    const char* name;
    std::uint16_t descriptors, rs_thresh, free_thresh;
    std::uint64_t offloads;
    bool vectors;
    unsigned chunk;  ///< most packets behind one tail write; 0 is the whole burst
    std::array<std::uint64_t, 5> reports;
};
constexpr std::uint64_t checksums = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
constexpr Path paths[] = {
    {"vector", 512, 32, 32, 0, true, 32, {2048, 2048, 2048, 2048, 2048}},
    {"vector", 1024, 32, 256, 0, true, 32, {2048, 2048, 2048, 2048, 2048}},
    {"simple", 512, 32, 32, 0, false, 32, {2048, 2048, 2048, 2048, 2048}},
    {"full", 512, 32, 32, RTE_ETH_TX_OFFLOAD_MULTI_SEGS, true, 0, {65536, 18432, 10240, 4096, 4096}},
    {"full", 512, 8, 32, 0, true, 0, {65536, 24576, 16384, 16384, 16384}},
    {"full", 512, 1, 32, 0, true, 0, {65536, 65536, 65536, 65536, 65536}},
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
        rte_ether_addr mac{};
        ASSERT_EQ(rte_eth_macaddr_get(nic.id(), &mac), 0);
        EXPECT_EQ(mac.addr_bytes[1], 0x1B);
        EXPECT_EQ(mac.addr_bytes[5], 0);
    }
}

TEST(Transmit, writes_the_tail_once_a_chunk_on_the_fast_paths_and_once_a_burst_on_the_full_path) {
    SoftPort nic(0, "id=10f7");
    const auto frame = ipv4_frame(60);
    for (const Path& path : paths) {
        const VectorWidth width(path.vectors ? 512 : 64);
        Started port(nic.id(), {.descriptors = path.descriptors,
                                .rs_thresh = path.rs_thresh,
                                .free_thresh = path.free_thresh,
                                .tx_offloads = path.offloads});
        for (const std::uint16_t burst : burst_sizes) {
            const auto before = nic->tx_queue(0);
            constexpr std::size_t packets = 1536;  // a multiple of every burst size
            ASSERT_EQ(port.send(0, frame, packets, burst), packets);
            const auto after = nic->tx_queue(0);
            EXPECT_EQ(after.packets - before.packets, packets) << path.name << " " << burst;
            EXPECT_EQ(after.bytes - before.bytes, packets * 60) << path.name << " " << burst;
            EXPECT_EQ(after.tail_writes - before.tail_writes, packets / burst * chunks(burst, path.chunk))
                << path.name << " " << path.rs_thresh << ", burst " << burst;
        }
    }
}

TEST(Transmit, asks_for_write_backs_as_measured_for_65536_packets) {
    SoftPort nic(0, "id=10f7");
    const auto frame = ipv4_frame(60);
    constexpr std::array<std::uint16_t, 5> bursts{1, 4, 8, 32, 64};
    constexpr std::uint64_t packets = 16384;  // a quarter, to be quick
    for (const Path& path : paths) {
        const VectorWidth width(path.vectors ? 512 : 64);
        Started port(nic.id(), {.descriptors = path.descriptors,
                                .rs_thresh = path.rs_thresh,
                                .free_thresh = path.free_thresh,
                                .tx_offloads = path.offloads});
        for (std::size_t i = 0; i < bursts.size(); ++i) {
            const auto before = nic->tx_queue(0);
            std::size_t sent = 0;
            while (sent < packets) sent += port.send(0, frame, 1024, bursts[i]);
            const auto after = nic->tx_queue(0);
            EXPECT_EQ(after.packets - before.packets, packets);
            EXPECT_EQ(after.tail_writes - before.tail_writes,
                      packets / bursts[i] * chunks(bursts[i], path.chunk));
            EXPECT_EQ(after.reports - before.reports, path.reports[i] / (65536 / packets))
                << path.name << " " << path.rs_thresh << ", burst " << bursts[i];
        }
        EXPECT_EQ(nic->tx_queue(0).contexts, 0U);
    }
}

/// What an application does before it asks for checksum insertion.
void ask_for_checksums(rte_mbuf& mbuf) {
    auto* ip = rte_pktmbuf_mtod_offset(&mbuf, rte_ipv4_hdr*, 14);
    const bool tcp = ip->next_proto_id == IPPROTO_TCP;
    mbuf.l2_len = 14;
    mbuf.l3_len = 20;
    mbuf.ol_flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM |
                     (tcp ? RTE_MBUF_F_TX_TCP_CKSUM : RTE_MBUF_F_TX_UDP_CKSUM);
    ip->hdr_checksum = 0xDEAD;
    auto* l4 = reinterpret_cast<std::uint8_t*>(ip) + 20;
    const rte_be16_t pseudo = rte_ipv4_phdr_cksum(ip, mbuf.ol_flags);
    std::memcpy(l4 + (tcp ? 16 : 6), &pseudo, sizeof(pseudo));
}

TEST(Transmit, inserts_checksums_that_software_would_have_made) {
    SoftPort nic(0, "id=10f7");
    Started port(nic.id(), {.tx_offloads = checksums | RTE_ETH_TX_OFFLOAD_TCP_CKSUM});
    std::vector<std::vector<std::uint8_t>> frames;
    for (std::uint32_t i = 0; i < 200; ++i) frames.push_back(ipv4_frame(60 + 7 * i, i, i % 3 == 0));
    const Recorder recorder(*nic);
    ASSERT_EQ(port.send(0, frames, 16, ask_for_checksums), frames.size());
    const auto seen = recorder.frames();
    EXPECT_EQ(seen, frames);
    EXPECT_TRUE(
        std::all_of(seen.begin(), seen.end(), [](const auto& frame) { return checksums_hold(frame); }));
    const auto counters = nic->tx_queue(0);
    EXPECT_EQ(counters.ip_checksums, 200U);
    EXPECT_EQ(counters.l4_checksums, 200U);
    EXPECT_GT(counters.contexts, 1U);  // one for each change between UDP and TCP
}

TEST(Transmit, keeps_one_checksum_context_for_equal_packets) {
    SoftPort nic(0, "id=10f7");
    Started port(nic.id(), {.tx_offloads = checksums});
    const std::vector<std::vector<std::uint8_t>> frames(256, ipv4_frame(60));
    ASSERT_EQ(port.send(0, frames, 32, ask_for_checksums), frames.size());
    EXPECT_EQ(nic->tx_queue(0).contexts, 1U);
    EXPECT_EQ(nic->tx_queue(0).l4_checksums, 256U);
}

TEST(Transmit, gathers_segments_and_pads_short_frames) {
    SoftPort nic(0, "id=10f7");
    Started port(nic.id(), {.tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS});
    const Recorder recorder(*nic);
    const auto whole = ipv4_frame(1000);
    rte_mbuf* head = rte_pktmbuf_alloc(port.pool());
    rte_mbuf* tail = rte_pktmbuf_alloc(port.pool());
    std::memcpy(rte_pktmbuf_append(head, 300), whole.data(), 300);
    std::memcpy(rte_pktmbuf_append(tail, 700), whole.data() + 300, 700);
    ASSERT_EQ(rte_pktmbuf_chain(head, tail), 0);
    ASSERT_EQ(rte_eth_tx_burst(nic.id(), 0, &head, 1), 1);
    const std::vector<std::vector<std::uint8_t>> runt{
        {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xB5, 1, 2, 3}};
    ASSERT_EQ(port.send(0, runt, 1), 1U);
    const auto seen = recorder.frames();
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0], whole);
    auto padded = runt[0];
    padded.resize(60);
    EXPECT_EQ(seen[1], padded);
    EXPECT_EQ(nic->tx_queue(0).tail_writes, 2U);
    EXPECT_EQ(nic->tx_queue(0).descriptors, 3U);
}

TEST(Transmit, inserts_vlan_tags) {
    SoftPort nic(0, "id=10f7");
    Started port(nic.id(), {.tx_offloads = RTE_ETH_TX_OFFLOAD_VLAN_INSERT});
    const Recorder recorder(*nic);
    const std::vector<std::vector<std::uint8_t>> frames(3, ipv4_frame(60));
    ASSERT_EQ(port.send(0, frames, 3,
                        [](rte_mbuf& mbuf) {
                            mbuf.ol_flags |= RTE_MBUF_F_TX_VLAN;
                            mbuf.vlan_tci = 0x6064;
                        }),
              3U);
    EXPECT_EQ(recorder.frames(), (std::vector<std::vector<std::uint8_t>>(3, tagged(frames[0], 0x6064))));
    EXPECT_EQ(nic->tx_queue(0).vlan_tags, 3U);
}

TEST(Transmit, refuses_tcp_segmentation_loudly_and_goes_on) {
    SoftPort nic(0, "id=10f7");
    Started port(nic.id(), {.tx_offloads = RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM |
                                           RTE_ETH_TX_OFFLOAD_TCP_CKSUM});
    const std::vector<std::vector<std::uint8_t>> frames(2, ipv4_frame(1400, 0, true));
    testing::internal::CaptureStderr();
    ASSERT_EQ(port.send(0, frames, 2,
                        [](rte_mbuf& mbuf) {
                            ask_for_checksums(mbuf);
                            mbuf.l4_len = 20;
                            mbuf.tso_segsz = 500;
                            mbuf.ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
                        }),
              2U);
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("net_soft82599_0 queue 0: packet dropped: it asks for TCP segmentation"),
              std::string::npos)
        << told;
    EXPECT_EQ(told.find("dropped"), told.rfind("dropped")) << "once a queue, not once a packet";
    EXPECT_EQ(nic->tx_queue(0).segmentation_refused, 2U);
    EXPECT_EQ(nic->tx_queue(0).packets, 0U);
    EXPECT_EQ(port.send(0, ipv4_frame(60), 64, 32), 64U);
    EXPECT_EQ(nic->tx_queue(0).packets, 64U);
}

TEST(Transmit, counts_in_the_hardware_statistics_with_the_fcs_taken_off) {
    SoftPort nic(0, "id=10f7");
    Started port(nic.id(), {.tx_queues = 4});
    for (std::uint16_t queue = 0; queue < 4; ++queue) {
        ASSERT_EQ(rte_eth_dev_set_tx_queue_stats_mapping(nic.id(), queue, static_cast<std::uint8_t>(queue)),
                  0);
        const std::size_t packets = 10 * (std::size_t{queue} + 1);
        ASSERT_EQ(port.send(queue, ipv4_frame(60), packets, 32), packets);
    }
    auto broadcast = ipv4_frame(1000);
    std::fill_n(broadcast.begin(), 6, std::uint8_t{0xFF});
    ASSERT_EQ(port.send(0, broadcast, 3, 32), 3U);
    const auto stats = statistics(nic.id());
    EXPECT_EQ(stats.opackets, 103U);
    EXPECT_EQ(stats.obytes, 100U * 60 + 3 * 1000);  // the driver subtracts the FCS from GOTC
    EXPECT_EQ(stats.q_opackets[0], 13U);
    EXPECT_EQ(stats.q_opackets[3], 40U);
    EXPECT_EQ(stats.q_obytes[3], 40U * 64);  // but not from QBTC
    EXPECT_EQ(xstat(nic.id(), "tx_size_64_packets"), 100U);
    EXPECT_EQ(xstat(nic.id(), "tx_size_512_to_1023_packets"), 3U);
    EXPECT_EQ(xstat(nic.id(), "tx_broadcast_packets"), 3U);
    EXPECT_EQ(xstat(nic.id(), "tx_total_packets"), 103U);
}

TEST(Transmit, statistics_stick_at_their_top_as_the_chip_does) {
    SoftPort nic(0, "id=10f7");
    Started port(nic.id());
    constexpr std::uint32_t gptc = 0x04080;
    nic->add_statistic(gptc, 0xFFFF'FFFE);
    ASSERT_EQ(port.send(0, ipv4_frame(60), 10, 10), 10U);
    EXPECT_EQ(statistics(nic.id()).opackets, 0xFFFF'FFFFU);
    ASSERT_EQ(port.send(0, ipv4_frame(60), 10, 10), 10U);
    EXPECT_EQ(statistics(nic.id()).opackets, std::uint64_t{0xFFFF'FFFF} + 10);
}

TEST(Transmit, refuses_thresholds_over_32_as_the_driver_does) {
    SoftPort nic(0, "id=10f7");
    EXPECT_THROW(Started(nic.id(), {.descriptors = 1024, .rs_thresh = 64, .free_thresh = 64}),
                 std::runtime_error);
}

}  // namespace
}  // namespace volley::soft82599
