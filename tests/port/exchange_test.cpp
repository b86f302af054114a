#include <gtest/gtest.h>
#include <rte_thash.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "port/rig.h"
#include "soft82599/traffic.h"

namespace volley::port {
namespace {

constexpr unsigned ports = 2;
constexpr unsigned queues = 2;
constexpr std::uint32_t longest = 1514;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif
constexpr std::uint64_t packets_in_all = sanitized ? 40'000 : 1'000'000;

/// Frames in any order: how many, their bytes, and a sum of their hashes.
struct Heap {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t hashes = 0;
    void add(const std::uint8_t* data, std::size_t length) {
        ++frames;
        bytes += length;
        hashes += std::hash<std::string_view>()({reinterpret_cast<const char*>(data), length});
    }
    bool operator==(const Heap&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Heap& heap) {
    return out << heap.frames << " frames of " << heap.bytes << " bytes, hash " << heap.hashes;
}

std::vector<std::uint8_t> rss_key() {
    std::vector<std::uint8_t> key(40);
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i * 37 + 11);
    return key;
}

std::uint32_t word(const std::uint8_t* at) {
    return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
}

/// The queue that Toeplitz over addresses and ports, the low 7 bits of it and a table of 0, 1, 0, 1, ...
/// give.
unsigned queue_of(const std::uint8_t* frame) {
    static const std::vector<std::uint8_t> key = rss_key();
    if (frame[12] != 0x08 || frame[13] != 0) return 0;  // the mix has no other IP
    std::array<std::uint32_t, 3> tuple{word(frame + 26), word(frame + 30), word(frame + 34)};
    const std::uint32_t hash = rte_softrss(tuple.data(), tuple.size(), key.data());
    return hash % 128 % queues;
}

std::vector<std::unique_ptr<const packet::PacketTemplate>> mix() {
    const std::string hosts =
        R"("src": {"increment": {"from": "10.0.0.1", "to": "10.0.3.231"}}, "dst": {"random": {"from": "10.9.0.0", "to": "10.9.255.255", "seed": 3}})";
    std::vector<std::unique_ptr<const packet::PacketTemplate>> out;
    out.push_back(packet_of(R"({"frame_size": 64, "headers": [{"eth": {}}, {"ipv4": {)" + hosts +
                            R"(}}, {"udp": {"src": {"increment": {"from": 1024, "to": 1123}}}}]})"));
    out.push_back(packet_of(R"({"frame_size": {"imix": "simple"}, "headers": [{"eth": {}}, {"ipv4": {)" +
                            hosts +
                            R"(}}, {"tcp": {"dst": {"random": {"from": 1, "to": 65535, "seed": 9}}}}]})"));
    out.push_back(
        packet_of(R"({"frame_size": {"increment": {"from": 64, "to": 1518}}, "payload": {"fill": "0xa5"},
                                "headers": [{"eth": {"type": 35020}}]})"));
    return out;
}

/// One end of the cable: an ethdev with RSS, and a worker of ours on each TX queue.
struct End {
    End(soft82599::SoftPort& soft, const std::string& name)
        : nic(soft),
          ethdev(soft.id(),
                 {.tx_queues = queues,
                  .rx_queues = queues,
                  .rss = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV4_TCP,
                  .rss_key = rss_key()}) {
        for (std::uint16_t q = 0; q < queues; ++q) {
            rte_eth_dev_set_tx_queue_stats_mapping(soft.id(), q, static_cast<std::uint8_t>(q));
            rte_eth_dev_set_rx_queue_stats_mapping(soft.id(), q, static_cast<std::uint8_t>(q));
            worker::TxWorker::Settings settings;
            settings.port = PortId{soft.id()};
            settings.queue = QueueId{q};
            settings.packets_per_tail_write = 32;
            lanes.push_back(std::make_unique<worker::TxLane>(settings, name + std::to_string(q), 512, longest,
                                                             0, 200'000, true));
        }
    }
    ~End() { ethdev.stop(); }
    End(const End&) = delete;
    End& operator=(const End&) = delete;

    void offer(const std::vector<std::unique_ptr<const packet::PacketTemplate>>& packets,
               std::uint64_t each) {
        for (std::uint32_t q = 0; q < queues; ++q) {
            std::vector<traffic::LaneStream> streams;
            for (std::uint32_t s = 0; s < packets.size(); ++s) {
                traffic::LaneStream stream = Rig::flood(*packets[s], 1U << s * 2, each);  // 1, 4, 16
                stream.slot = StreamSlot{s};
                stream.lanes = queues;
                stream.first = (q + queues - s % queues) % queues;
                lanes[q]->worker.rows().add(stream.slot);
                streams.push_back(stream);
            }
            schedules.push_back(std::make_unique<traffic::LaneSchedule>(streams, ~Tsc{0}, tsc_hz()));
            lanes[q]->lane.offer(schedules.back().get(), 1);
        }
    }
    [[nodiscard]] std::uint64_t accepted() const {
        std::uint64_t sum = 0;
        for (const auto& lane : lanes) sum += lane->worker.counters().packets.get();
        return sum;
    }
    void receive() {
        for (std::uint16_t q = 0; q < queues; ++q) {
            ethdev.receive(q, [&](const rte_mbuf& mbuf) {
                const auto* const bytes = rte_pktmbuf_mtod(&mbuf, const std::uint8_t*);
                received.add(bytes, mbuf.pkt_len);
                ++by_queue[q];
                misplaced += queue_of(bytes) == q ? 0 : 1;
            });
        }
    }

    soft82599::SoftPort& nic;
    std::vector<std::unique_ptr<worker::TxLane>> lanes;
    soft82599::Started ethdev;  // before the lanes' pools go, it has stopped
    std::vector<std::unique_ptr<traffic::LaneSchedule>> schedules;
    Heap received;
    std::array<std::uint64_t, queues> by_queue{};
    std::uint64_t misplaced = 0;
};

void expect_equal_statistics(const End& from, const End& to, std::uint64_t packets, std::uint64_t bytes) {
    const rte_eth_stats sent = soft82599::statistics(from.nic.id());
    const rte_eth_stats got = soft82599::statistics(to.nic.id());
    EXPECT_EQ(sent.opackets, packets);
    EXPECT_EQ(sent.obytes, bytes);
    EXPECT_EQ(got.ipackets, packets);
    EXPECT_EQ(got.ibytes, bytes);
    EXPECT_EQ(got.imissed + got.ierrors + got.rx_nombuf + sent.oerrors, 0U);
    for (unsigned q = 0; q < queues; ++q) {
        EXPECT_EQ(sent.q_opackets[q], from.lanes[q]->worker.counters().packets.get());
        EXPECT_EQ(got.q_ipackets[q], to.by_queue[q]);
    }
}

TEST(Exchange, of_two_ports_with_two_queues_each_loses_and_changes_nothing_and_spreads_as_computed) {
    soft82599::SoftPort east(0, "id=10fb");
    soft82599::SoftPort west(1, "id=10f7,peer=net_soft82599_0");
    std::array<End, ports> ends{End(east, "east"), End(west, "west")};
    const auto packets = mix();
    const std::uint64_t each = packets_in_all / ports / packets.size();
    Heap expected;
    std::array<std::uint64_t, queues> expected_by_queue{};
    std::array<std::uint8_t, packet::max_frame> frame{};
    for (const auto& packet : packets) {
        for (std::uint64_t i = 0; i < each; ++i) {
            const std::uint16_t length = packet->write(i, frame.data());
            expected.add(frame.data(), length);
            ++expected_by_queue[queue_of(frame.data())];
        }
    }
    for (End& end : ends) end.offer(packets, each);
    const std::uint64_t goal = each * packets.size();
    for (std::uint64_t turns = 0; turns < 1'000 + goal * 10; ++turns) {
        for (End& end : ends) {
            for (const auto& lane : end.lanes) lane->worker.turn(tsc_now());
            if (turns % 4 == 0) end.receive();
        }
        if (ends[0].received.frames == goal && ends[1].received.frames == goal) break;
    }
    for (unsigned p = 0; p < ports; ++p) {
        EXPECT_EQ(ends[p].accepted(), goal);
        EXPECT_EQ(ends[p].received, expected);
        EXPECT_EQ(ends[p].by_queue, expected_by_queue);
        EXPECT_EQ(ends[p].misplaced, 0U);
        EXPECT_GT(ends[p].by_queue[1], goal / 10) << "spread";
        expect_equal_statistics(ends[p], ends[1 - p], goal, expected.bytes);
    }
}

}  // namespace
}  // namespace volley::port
