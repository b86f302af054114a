#include <gtest/gtest.h>
#include <rte_lcore.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "soft82599/fixture.h"
#include "soft82599/traffic.h"

namespace volley::soft82599 {
namespace {

using Frames = std::vector<std::vector<std::uint8_t>>;
using namespace std::chrono_literals;

TEST(Wire, loses_nothing_the_sender_waits_for_receive_descriptors) {
    SoftPort nic(0, "id=10f7,loop=1");
    Started port(nic.id(), {.descriptors = 128});
    Frames frames;
    for (std::uint32_t i = 0; i < 250; ++i) frames.push_back(ipv4_frame(60, i));
    std::size_t taken = port.send(0, frames, 10);
    EXPECT_EQ(nic->tx_queue(0).packets,
              127U);  // the receiver's ring, less the descriptor that is never filled
    EXPECT_GT(taken, 127U);
    EXPECT_LT(taken, 250U);
    EXPECT_GT(nic->tx_queue(0).blocked, 0U);
    EXPECT_EQ(port.send(0, std::span(frames).subspan(taken, 1), 1), 0U);  // full
    Frames received;
    for (int round = 0; round < 100 && received.size() < frames.size(); ++round) {
        for (auto& frame : port.receive(0)) received.push_back(std::move(frame));
        if (taken < frames.size()) taken += port.send(0, std::span(frames).subspan(taken), 10);
    }
    EXPECT_EQ(received, frames);
    EXPECT_EQ(statistics(nic.id()).imissed, 0U);
}

struct Tally {
    std::uint64_t packets = 0, bytes = 0, sum = 0;
    bool operator==(const Tally&) const = default;
    void add(std::span<const std::uint8_t> frame) {
        ++packets;
        bytes += frame.size();
        sum += std::accumulate(frame.begin(), frame.end(), std::uint64_t{frame.size()} * 977);
    }
};

/// One end of the pair: sends `count` packets over two queues while it receives.
void work(const SoftPort& nic, Started& port, std::uint64_t count, Tally& sent,
          std::array<Tally, 2>& received, const std::atomic<bool>& stop) {
    rte_thread_register();
    std::uint64_t next = 0;
    while (!stop.load()) {
        rte_mbuf* mbufs[32];
        for (std::uint16_t queue = 0; queue < 2; ++queue) {
            const std::uint16_t n = rte_eth_rx_burst(nic.id(), queue, mbufs, 32);
            for (std::uint16_t i = 0; i < n; ++i) {
                received[queue].add({rte_pktmbuf_mtod(mbufs[i], const std::uint8_t*), mbufs[i]->data_len});
            }
            rte_pktmbuf_free_bulk(mbufs, n);
        }
        const auto n = static_cast<std::uint16_t>(std::min<std::uint64_t>(32, count - next));
        if (n == 0 || rte_pktmbuf_alloc_bulk(port.pool(), mbufs, n) != 0) continue;
        for (std::uint16_t i = 0; i < n; ++i) {
            static const auto model = ipv4_frame(1514);
            const auto size = static_cast<std::uint16_t>(60 + (next + i) * 131 % 400);
            auto* data = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_append(mbufs[i], size));
            std::memcpy(data, model.data(), size);
            const auto flow = static_cast<std::uint16_t>(next + i);
            std::memcpy(data + 34, &flow, sizeof(flow));
        }
        const std::uint16_t taken = rte_eth_tx_burst(nic.id(), next / 32 % 2, mbufs, n);
        for (std::uint16_t i = taken; i < n; ++i) rte_pktmbuf_free(mbufs[i]);
        next += taken;
    }
    sent.packets = next;
    rte_thread_unregister();
}

TEST(Wire, carries_every_byte_between_two_ports_that_two_threads_drive) {
    SoftPort a(0, "id=10fb");
    SoftPort b(1, "id=10f7,peer=net_soft82599_0");
    const StartOptions two_queues{
        .tx_queues = 2, .rx_queues = 2, .rss = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP};
    Started port_a(a.id(), two_queues), port_b(b.id(), two_queues);
    std::array<Tally, 2> wire, sent;
    a->set_tap([&](const WireFrame& frame) { wire[0].add(frame.bytes); });
    b->set_tap([&](const WireFrame& frame) { wire[1].add(frame.bytes); });
    constexpr std::uint64_t count = 100'000;
    std::array<Tally, 2> at_a, at_b;
    std::atomic<bool> stop{false};
    std::thread thread_a([&] { work(a, port_a, count, sent[0], at_a, stop); });
    std::thread thread_b([&] { work(b, port_b, count, sent[1], at_b, stop); });
    const auto received = [](const SoftPort& nic) {
        return nic->rx_queue(0).packets + nic->rx_queue(1).packets;
    };
    const auto deadline = std::chrono::steady_clock::now() + 240s;
    while (received(a) + received(b) < 2 * count && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(1ms);
    }
    stop = true;
    thread_a.join();
    thread_b.join();
    a->set_tap({});
    b->set_tap({});
    for (std::uint16_t queue = 0; queue < 2; ++queue) {
        for (const auto& frame : port_a.receive(queue)) at_a[queue].add(frame);
        for (const auto& frame : port_b.receive(queue)) at_b[queue].add(frame);
    }
    const auto both = [](const std::array<Tally, 2>& queues) {
        return Tally{queues[0].packets + queues[1].packets, queues[0].bytes + queues[1].bytes,
                     queues[0].sum + queues[1].sum};
    };
    EXPECT_EQ(sent[0].packets, count);
    EXPECT_EQ(sent[1].packets, count);
    EXPECT_EQ(both(at_b), wire[0]);
    EXPECT_EQ(both(at_a), wire[1]);
    EXPECT_GT(at_b[0].packets, count / 4);  // both queues work
    EXPECT_GT(at_b[1].packets, count / 4);
    const auto stats_a = statistics(a.id()), stats_b = statistics(b.id());
    EXPECT_EQ(stats_a.opackets, count);
    EXPECT_EQ(stats_b.ipackets, count);
    EXPECT_EQ(stats_a.obytes, wire[0].bytes);
    EXPECT_EQ(stats_b.ibytes, wire[0].bytes);
    EXPECT_EQ(stats_a.ibytes, wire[1].bytes);
    EXPECT_EQ(stats_a.imissed + stats_b.imissed + stats_a.ierrors + stats_b.ierrors, 0U);
}

TEST(Wire, has_no_light_until_the_named_peer_is_there_and_none_after_it_left) {
    SoftPort a(0, "id=10f7,peer=net_soft82599_1");
    const auto links = [&] { return a->peek(0x042A4); };
    Started port(a.id());
    rte_eth_link link{};
    ASSERT_EQ(rte_eth_link_get_nowait(a.id(), &link), 0);
    EXPECT_EQ(link.link_status, RTE_ETH_LINK_DOWN);
    EXPECT_EQ(links(), 0U);
    {
        const SoftPort b(1, "id=10f7,peer=net_soft82599_0");
        ASSERT_EQ(rte_eth_link_get_nowait(a.id(), &link), 0);
        EXPECT_EQ(link.link_status, RTE_ETH_LINK_UP);
        EXPECT_THROW(SoftPort(2, "id=10f7,peer=net_soft82599_0"), std::runtime_error);
    }
    ASSERT_EQ(rte_eth_link_get_nowait(a.id(), &link), 0);
    EXPECT_EQ(link.link_status, RTE_ETH_LINK_DOWN);
}

TEST(Wire, writes_a_pcap_of_what_the_port_sends) {
    const auto path =
        std::filesystem::temp_directory_path() / ("soft82599_" + std::to_string(getpid()) + ".pcap");
    const auto frame = ipv4_frame(100, 7);
    {
        SoftPort nic(0, "id=10f7,pcap=" + path.string());
        Started port(nic.id());
        ASSERT_EQ(port.send(0, frame, 3, 3), 3U);
    }
    std::ifstream file(path, std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(file)), {});
    std::filesystem::remove(path);
    ASSERT_EQ(content.size(), 24U + 3 * (16 + 100));
    std::uint32_t magic = 0, nanoseconds = 0;
    std::memcpy(&magic, content.data(), 4);
    EXPECT_EQ(magic, 0xA1B23C4DU);
    constexpr std::size_t last = 24 + 2 * (16 + 100);  // the third record
    std::memcpy(&nanoseconds, content.data() + last + 4, 4);
    EXPECT_EQ(nanoseconds, 3U * 124 * 8 / 10);  // wire time: 124 bytes a frame at 10 Gb/s
    EXPECT_EQ(content.compare(last + 16, 100, std::string(frame.begin(), frame.end())), 0);
}

}  // namespace
}  // namespace volley::soft82599
