#include <gtest/gtest.h>

#include <map>

#include "soft82599/fixture.h"
#include "soft82599/traffic.h"

namespace volley::soft82599 {
namespace {

using Frames = std::vector<std::vector<std::uint8_t>>;

constexpr std::uint64_t five_tuple = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
                                     RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_IPV6 |
                                     RTE_ETH_RSS_NONFRAG_IPV6_UDP;

/// The hash by its definition, bit by bit: result ^= the 32 key bits that start at each set input bit.
std::uint32_t hash_by_definition(const std::vector<std::uint8_t>& key,
                                 const std::vector<std::uint8_t>& input) {
    const auto key_bit = [&](std::size_t i) {
        return static_cast<std::uint32_t>(key[i / 8] >> (7 - i % 8) & 1);
    };
    std::uint32_t hash = 0;
    for (std::size_t i = 0; i < 8 * input.size(); ++i) {
        if ((input[i / 8] >> (7 - i % 8) & 1) == 0) continue;
        std::uint32_t window = 0;
        for (std::size_t bit = 0; bit < 32; ++bit) window = window << 1 | key_bit(i + bit);
        hash ^= window;
    }
    return hash;
}

std::vector<std::uint8_t> tuple_of(const std::vector<std::uint8_t>& frame) {
    const bool v4 = frame[12] == 0x08;
    const auto addresses = frame.begin() + (v4 ? 26 : 22);
    std::vector<std::uint8_t> tuple(addresses, addresses + (v4 ? 8 : 32));
    const auto ports = frame.begin() + (v4 ? 34 : 54);
    tuple.insert(tuple.end(), ports, ports + 4);
    return tuple;
}

TEST(Receive, returns_a_looped_frame_byte_for_byte_on_the_vector_and_the_scalar_path) {
    for (const std::uint64_t offloads : {std::uint64_t{0}, std::uint64_t{RTE_ETH_RX_OFFLOAD_CHECKSUM}}) {
        SoftPort nic(0, "id=10f7,loop=1");
        Started port(nic.id(), {.rx_offloads = offloads});
        Frames sent;
        for (std::uint32_t i = 0; i < 300; ++i) sent.push_back(ipv4_frame(60 + i * 4, i, i % 2 == 0));
        ASSERT_EQ(port.send(0, sent, 32), sent.size());
        EXPECT_EQ(port.receive(0), sent);
        const auto stats = statistics(nic.id());
        std::uint64_t bytes = 0;
        for (const auto& frame : sent) bytes += frame.size();
        EXPECT_EQ(stats.ipackets, sent.size());
        EXPECT_EQ(stats.ibytes, bytes);
        EXPECT_EQ(stats.opackets, sent.size());
        EXPECT_EQ(stats.obytes, bytes);
        EXPECT_EQ(xstat(nic.id(), "rx_total_bytes"), bytes);
        EXPECT_EQ(stats.imissed + stats.ierrors, 0U);
    }
}

TEST(Receive, spreads_by_a_toeplitz_hash_over_the_five_tuple) {
    SoftPort nic(0, "id=10f7,loop=1");
    std::vector<std::uint8_t> key(40);
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i * 37 + 11);
    Started port(nic.id(), {.rx_queues = 4, .rss = five_tuple, .rss_key = key});
    rte_eth_rss_reta_entry64 reta[2] = {{.mask = ~std::uint64_t{0}, .reta = {}},
                                        {.mask = ~std::uint64_t{0}, .reta = {}}};
    ASSERT_EQ(rte_eth_dev_rss_reta_query(nic.id(), reta, 128), 0);
    std::map<unsigned, Frames> expected;
    Frames sent;
    for (std::uint32_t i = 0; i < 400; ++i) {
        sent.push_back(i % 4 == 3 ? ipv6_frame(80, i) : ipv4_frame(64, i * 3, i % 4 == 1));
        const std::uint32_t hash = hash_by_definition(key, tuple_of(sent.back()));
        const std::uint32_t entry = hash & 127;
        expected[reta[entry / 64].reta[entry % 64]].push_back(sent.back());
    }
    ASSERT_EQ(port.send(0, sent, 32), sent.size());
    ASSERT_EQ(expected.size(), 4U);
    for (std::uint16_t queue = 0; queue < 4; ++queue) {
        Frames got;
        port.receive(queue, [&](const rte_mbuf& mbuf) {
            const auto* data = rte_pktmbuf_mtod(&mbuf, const std::uint8_t*);
            got.emplace_back(data, data + mbuf.data_len);
            EXPECT_NE(mbuf.ol_flags & RTE_MBUF_F_RX_RSS_HASH, 0U);
            EXPECT_EQ(mbuf.hash.rss, hash_by_definition(key, tuple_of(got.back())));
        });
        EXPECT_EQ(got, expected[queue]) << "queue " << queue;
        EXPECT_EQ(nic->rx_queue(queue).packets, got.size());
    }
}

TEST(Receive, puts_what_has_no_tuple_on_queue_0_and_fragments_by_addresses) {
    SoftPort nic(0, "id=10f7");
    std::vector<std::uint8_t> key(40, 0x5A);
    Started port(nic.id(), {.rx_queues = 4, .rss = five_tuple, .rss_key = key});
    std::vector<std::uint8_t> arp(60);
    std::fill_n(arp.begin(), 6, std::uint8_t{0xFF});
    arp[12] = 0x08;
    arp[13] = 0x06;
    EXPECT_TRUE(nic->inject(arp));
    EXPECT_EQ(port.receive(0), Frames{arp});

    auto fragment = ipv4_frame(100, 5);
    fragment[20] = 0x20;  // more fragments
    const std::vector<std::uint8_t> addresses(fragment.begin() + 26, fragment.begin() + 34);
    ASSERT_TRUE(nic->inject(fragment));
    for (std::uint16_t queue = 0; queue < 4; ++queue) {
        port.receive(queue, [&](const rte_mbuf& mbuf) {
            EXPECT_EQ(mbuf.hash.rss, hash_by_definition(key, addresses));
        });
    }
}

TEST(Receive, strips_vlan_tags_into_the_descriptor_only_when_asked) {
    SoftPort nic(0, "id=10f7");
    const auto inner = ipv4_frame(60);
    const auto frame = tagged(inner, 0x2123);
    for (const bool strip : {false, true}) {
        Started port(nic.id(), {.rx_offloads = strip ? std::uint64_t{RTE_ETH_RX_OFFLOAD_VLAN_STRIP} : 0});
        ASSERT_TRUE(nic->inject(frame));
        const std::size_t count = port.receive(0, [&](const rte_mbuf& mbuf) {
            const auto* data = rte_pktmbuf_mtod(&mbuf, const std::uint8_t*);
            EXPECT_EQ(std::vector(data, data + mbuf.data_len), strip ? inner : frame);
            EXPECT_EQ((mbuf.ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0, strip);
            EXPECT_EQ(mbuf.vlan_tci, strip ? 0x2123 : 0);
        });
        EXPECT_EQ(count, 1U);
    }
}

TEST(Receive, passes_only_its_own_addresses_and_vlans_unless_promiscuous) {
    SoftPort nic(0, "id=10f7,mac=02:00:00:00:00:02");
    Started port(nic.id(), {.rx_offloads = RTE_ETH_RX_OFFLOAD_VLAN_FILTER, .promiscuous = false});
    const auto mine = ipv4_frame(60);
    auto other = mine;
    other[5] = 9;
    auto broadcast = mine;
    std::fill_n(broadcast.begin(), 6, std::uint8_t{0xFF});
    auto multicast = mine;
    multicast[0] = 1;
    EXPECT_TRUE(nic->inject(mine));
    EXPECT_FALSE(nic->inject(other));
    EXPECT_TRUE(nic->inject(broadcast));
    EXPECT_FALSE(nic->inject(multicast));
    EXPECT_FALSE(nic->inject(tagged(mine, 100)));
    ASSERT_EQ(rte_eth_dev_vlan_filter(nic.id(), 100, 1), 0);
    EXPECT_TRUE(nic->inject(tagged(mine, 100)));
    EXPECT_FALSE(nic->inject(tagged(mine, 101)));
    EXPECT_EQ(nic->counters().filtered, 4U);
    rte_ether_addr group{};
    std::copy_n(multicast.begin(), 6, group.addr_bytes);
    ASSERT_EQ(rte_eth_dev_set_mc_addr_list(nic.id(), &group, 1), 0);
    EXPECT_TRUE(nic->inject(multicast));
    ASSERT_EQ(rte_eth_promiscuous_enable(nic.id()), 0);
    EXPECT_TRUE(nic->inject(other));
    EXPECT_EQ(port.receive(0).size(), 5U);
}

TEST(Receive, judges_checksums) {
    SoftPort nic(0, "id=10f7");
    Started port(nic.id(), {.rx_offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM});
    auto good = ipv4_frame(100);
    auto bad_ip = good;
    bad_ip[24] ^= 1;
    auto bad_udp = good, bad_tcp = ipv4_frame(100, 1, true);
    bad_udp.back() ^= 1;
    bad_tcp.back() ^= 1;
    auto good_v6 = ipv6_frame(100);
    struct Row {
        const std::vector<std::uint8_t>& frame;
        std::uint64_t flags;
    };
    const Row rows[] = {
        {good, RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD},
        {bad_ip, RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_GOOD},
        {bad_tcp, RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD},
        // The chip errs on UDP without a checksum, so the driver says nothing about any bad one.
        {bad_udp, RTE_MBUF_F_RX_IP_CKSUM_GOOD},
        {good_v6, RTE_MBUF_F_RX_L4_CKSUM_GOOD}};
    constexpr std::uint64_t judged =
        RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
    for (const Row& row : rows) {
        ASSERT_TRUE(nic->inject(row.frame));
        EXPECT_EQ(
            port.receive(
                0, [&](const rte_mbuf& mbuf) { EXPECT_EQ(mbuf.ol_flags & judged, row.flags & judged); }),
            1U);
    }
}

TEST(Receive, spans_buffers_with_a_jumbo_frame_and_discards_what_is_longer_than_the_mtu) {
    SoftPort nic(0, "id=10f7");
    {
        Started port(nic.id(), {.rx_offloads = RTE_ETH_RX_OFFLOAD_SCATTER, .mtu = 9000});
        const auto jumbo = ipv4_frame(9014, 3);
        ASSERT_TRUE(nic->inject(jumbo));
        EXPECT_EQ(port.receive(0), Frames{jumbo});
        EXPECT_FALSE(nic->inject(ipv4_frame(9015)));
        EXPECT_EQ(xstat(nic.id(), "rx_oversize_errors"), 1U);
    }
    Started port(nic.id());
    EXPECT_TRUE(nic->inject(ipv4_frame(1514)));
    EXPECT_FALSE(nic->inject(ipv4_frame(1515)));
    EXPECT_TRUE(nic->inject(tagged(ipv4_frame(1514), 1)));
    EXPECT_FALSE(nic->inject(ipv4_frame(59)));
    EXPECT_EQ(xstat(nic.id(), "rx_oversize_errors"), 2U);
    EXPECT_EQ(xstat(nic.id(), "rx_undersize_errors"), 1U);
}

TEST(Receive, counts_each_injected_error_in_its_register) {
    SoftPort nic(0, "id=10f7");
    Started port(nic.id());
    const std::pair<RxError, const char*> rows[] = {{RxError::crc, "rx_crc_errors"},
                                                    {RxError::illegal_byte, "rx_illegal_byte_errors"},
                                                    {RxError::error_byte, "rx_error_bytes"},
                                                    {RxError::length, "rx_length_errors"},
                                                    {RxError::undersize, "rx_undersize_errors"},
                                                    {RxError::oversize, "rx_oversize_errors"},
                                                    {RxError::fragment, "rx_fragment_errors"},
                                                    {RxError::jabber, "rx_jabber_errors"}};
    for (const auto& [error, name] : rows) {
        nic->corrupt_rx(error, 2);
        EXPECT_FALSE(nic->inject(ipv4_frame(60)));
        EXPECT_FALSE(nic->inject(ipv4_frame(60)));
        EXPECT_TRUE(nic->inject(ipv4_frame(60)));
        EXPECT_EQ(xstat(nic.id(), name), 2U) << name;
    }
    EXPECT_EQ(nic->counters().errors, 16U);
    EXPECT_EQ(statistics(nic.id()).ierrors, 14U);  // the driver leaves jabbers out
    EXPECT_EQ(statistics(nic.id()).ipackets, 8U);
}

TEST(Receive, misses_frames_without_descriptors_on_a_lossy_wire_or_in_an_overrun) {
    SoftPort nic(0, "id=10f7,loop=1,lossless=0");
    Started port(nic.id(), {.descriptors = 128});
    ASSERT_EQ(port.send(0, ipv4_frame(60), 200, 32), 200U);
    EXPECT_EQ(nic->rx_queue(0).missed, 200U - 127U);
    EXPECT_EQ(statistics(nic.id()).imissed, 200U - 127U);
    EXPECT_EQ(port.receive(0).size(), 127U);
    nic->set_rx_overrun(true);
    ASSERT_EQ(port.send(0, ipv4_frame(60), 10, 10), 10U);
    nic->set_rx_overrun(false);
    ASSERT_EQ(port.send(0, ipv4_frame(60), 10, 10), 10U);
    EXPECT_EQ(statistics(nic.id()).imissed, 200U - 127U + 10U);
    EXPECT_EQ(port.receive(0).size(), 10U);
}

}  // namespace
}  // namespace volley::soft82599
