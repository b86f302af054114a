#include "soft82599/traffic.h"

#include <gtest/gtest.h>
#include <rte_errno.h>
#include <rte_vect.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace volley::soft82599 {
namespace {

void check(int result, const char* operation) {
    if (result < 0) throw std::runtime_error(std::string(operation) + ": " + rte_strerror(-result));
}

constexpr auto any_socket = static_cast<unsigned>(SOCKET_ID_ANY);

std::uint16_t ones(std::span<const std::uint8_t> bytes, std::uint32_t sum) {
    for (std::size_t i = 0; i < bytes.size(); ++i) sum += i % 2 == 0 ? bytes[i] * 256U : bytes[i];
    while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(sum);
}

void put16(std::vector<std::uint8_t>& frame, std::size_t at, std::size_t value) {
    frame[at] = static_cast<std::uint8_t>(value >> 8);
    frame[at + 1] = static_cast<std::uint8_t>(value);
}

/// Sum over pseudo header and segment of an IPv4 frame with a 20-byte header.
std::uint16_t segment_sum(std::span<const std::uint8_t> frame) {
    const std::size_t total = frame[16] * 256U + frame[17];
    const auto segment = frame.subspan(34, total - 20);
    return ones(segment, ones(frame.subspan(26, 8), frame[23] + static_cast<std::uint32_t>(segment.size())));
}

std::vector<std::uint8_t> ethernet(std::size_t bytes, std::uint16_t type) {
    std::vector<std::uint8_t> frame{0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1};
    frame.resize(bytes);
    put16(frame, 12, type);
    return frame;
}

}  // namespace

Pool make_pool(unsigned mbufs, std::uint16_t data_room) {
    static unsigned count = 0;
    const std::string name = "pool" + std::to_string(count++);
    Pool pool(rte_pktmbuf_pool_create(name.c_str(), mbufs, 128, 0, data_room, SOCKET_ID_ANY));
    if (!pool) throw std::runtime_error("no mbuf pool: " + std::string(rte_strerror(rte_errno)));
    return pool;
}

Started::Started(std::uint16_t port, const StartOptions& options)
    : port_(port), rx_queues_(options.rx_queues), pool_(make_pool(8191)) {
    configure(options);
    check(rte_eth_dev_start(port_), "rte_eth_dev_start");
    running_ = true;
    if (options.promiscuous) check(rte_eth_promiscuous_enable(port_), "rte_eth_promiscuous_enable");
}

void Started::configure(const StartOptions& options) {
    rte_eth_conf conf{};
    conf.txmode.offloads = options.tx_offloads;
    conf.rxmode.offloads = options.rx_offloads;
    conf.rxmode.mtu = options.mtu;
    conf.intr_conf.lsc = options.lsc ? 1 : 0;
    conf.intr_conf.rxq = options.rx_interrupts ? 1 : 0;
    rss_key_ = options.rss_key;
    if (options.rss != 0) {
        conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
        conf.rx_adv_conf.rss_conf.rss_hf = options.rss;
        if (!rss_key_.empty()) {
            conf.rx_adv_conf.rss_conf.rss_key = rss_key_.data();
            conf.rx_adv_conf.rss_conf.rss_key_len = static_cast<std::uint8_t>(rss_key_.size());
        }
    }
    check(rte_eth_dev_configure(port_, options.rx_queues, options.tx_queues, &conf), "rte_eth_dev_configure");
    rte_eth_dev_info info{};
    check(rte_eth_dev_info_get(port_, &info), "rte_eth_dev_info_get");
    rte_eth_txconf tx = info.default_txconf;
    tx.tx_rs_thresh = options.rs_thresh;
    tx.tx_free_thresh = options.free_thresh;
    tx.offloads = options.tx_offloads;
    rte_eth_rxconf rx = info.default_rxconf;
    rx.offloads = options.rx_offloads;
    for (std::uint16_t queue = 0; queue < options.tx_queues; ++queue) {
        check(rte_eth_tx_queue_setup(port_, queue, options.descriptors, any_socket, &tx),
              "rte_eth_tx_queue_setup");
    }
    for (std::uint16_t queue = 0; queue < options.rx_queues; ++queue) {
        check(rte_eth_rx_queue_setup(port_, queue, options.descriptors, any_socket, &rx, pool_.get()),
              "rte_eth_rx_queue_setup");
    }
}

Started::~Started() {
    stop();
}

void Started::stop() {
    if (std::exchange(running_, false)) rte_eth_dev_stop(port_);
}

std::size_t Started::send_some(std::uint16_t queue, std::size_t count, const FrameOf& frame_of,
                               std::uint16_t burst, const std::function<void(rte_mbuf&)>& prepare) {
    std::vector<rte_mbuf*> mbufs(burst);
    std::size_t taken = 0;
    while (taken < count) {
        const auto n = static_cast<std::uint16_t>(std::min<std::size_t>(burst, count - taken));
        if (rte_pktmbuf_alloc_bulk(pool_.get(), mbufs.data(), n) != 0) return taken;
        for (std::size_t i = 0; i < n; ++i) {
            const auto& frame = frame_of(taken + i);
            const auto size = static_cast<std::uint16_t>(frame.size());
            std::memcpy(rte_pktmbuf_append(mbufs[i], size), frame.data(), size);
            if (prepare) prepare(*mbufs[i]);
        }
        const std::uint16_t sent = rte_eth_tx_burst(port_, queue, mbufs.data(), n);
        rte_pktmbuf_free_bulk(mbufs.data() + sent, n - sent);
        taken += sent;
        if (sent == 0) return taken;
    }
    return taken;
}

std::size_t Started::send(std::uint16_t queue, std::span<const std::vector<std::uint8_t>> frames,
                          std::uint16_t burst, const std::function<void(rte_mbuf&)>& prepare) {
    const auto frame_of = [&](std::size_t i) -> const std::vector<std::uint8_t>& { return frames[i]; };
    return send_some(queue, frames.size(), frame_of, burst, prepare);
}

std::size_t Started::send(std::uint16_t queue, const std::vector<std::uint8_t>& frame, std::size_t copies,
                          std::uint16_t burst) {
    const auto frame_of = [&](std::size_t) -> const std::vector<std::uint8_t>& { return frame; };
    return send_some(queue, copies, frame_of, burst, {});
}

std::size_t Started::receive(std::uint16_t queue, const std::function<void(const rte_mbuf&)>& each) {
    std::size_t count = 0;
    for (;;) {
        rte_mbuf* mbufs[32];
        const std::uint16_t n = rte_eth_rx_burst(port_, queue, mbufs, 32);
        if (n == 0) return count;
        for (std::uint16_t i = 0; i < n; ++i) each(*mbufs[i]);
        rte_pktmbuf_free_bulk(mbufs, n);
        count += n;
    }
}

std::vector<std::vector<std::uint8_t>> Started::receive(std::uint16_t queue) {
    std::vector<std::vector<std::uint8_t>> frames;
    receive(queue, [&](const rte_mbuf& mbuf) {
        auto& frame = frames.emplace_back();
        for (const rte_mbuf* segment = &mbuf; segment != nullptr; segment = segment->next) {
            const auto* data = rte_pktmbuf_mtod(segment, const std::uint8_t*);
            frame.insert(frame.end(), data, data + segment->data_len);
        }
    });
    return frames;
}

VectorWidth::VectorWidth(std::uint16_t bits) : before_(rte_vect_get_max_simd_bitwidth()) {
    check(rte_vect_set_max_simd_bitwidth(bits), "rte_vect_set_max_simd_bitwidth");
}

VectorWidth::~VectorWidth() {
    rte_vect_set_max_simd_bitwidth(before_);
}

rte_eth_stats statistics(std::uint16_t port) {
    rte_eth_stats stats{};
    check(rte_eth_stats_get(port, &stats), "rte_eth_stats_get");
    return stats;
}

std::uint64_t xstat(std::uint16_t port, const std::string& name) {
    std::uint64_t id = 0;
    std::uint64_t value = 0;
    EXPECT_EQ(rte_eth_xstats_get_id_by_name(port, name.c_str(), &id), 0) << name;
    EXPECT_EQ(rte_eth_xstats_get_by_id(port, &id, &value, 1), 1) << name;
    return value;
}

std::vector<std::uint8_t> ipv4_frame(std::size_t bytes, std::uint32_t flow, bool tcp) {
    auto frame = ethernet(bytes, 0x0800);
    frame[14] = 0x45;
    put16(frame, 16, bytes - 14);
    frame[22] = 64;
    frame[23] = tcp ? 6 : 17;
    const std::uint8_t addresses[] = {
        10, 0, static_cast<std::uint8_t>(flow >> 8), static_cast<std::uint8_t>(flow), 10, 1, 0, 1};
    std::copy(std::begin(addresses), std::end(addresses), frame.begin() + 26);
    put16(frame, 34, 1024 + flow % 4096);
    put16(frame, 36, 5000 + flow % 7);
    if (tcp) {
        frame[46] = 0x50;  // header of 20 bytes
    } else {
        put16(frame, 38, bytes - 34);
    }
    for (std::size_t i = tcp ? 54 : 42; i < bytes; ++i) frame[i] = static_cast<std::uint8_t>(i + flow);
    put16(frame, 24, static_cast<std::uint16_t>(~ones(std::span(frame).subspan(14, 20), 0)));
    const auto sum = static_cast<std::uint16_t>(~segment_sum(frame));
    put16(frame, tcp ? 50 : 40, sum == 0 ? 0xFFFFU : sum);
    return frame;
}

std::vector<std::uint8_t> ipv6_frame(std::size_t bytes, std::uint32_t flow) {
    auto frame = ethernet(bytes, 0x86DD);
    frame[14] = 0x60;
    put16(frame, 18, bytes - 54);
    frame[20] = 17;
    frame[21] = 64;
    for (std::size_t i = 0; i < 32; ++i) frame[22 + i] = static_cast<std::uint8_t>(0x20 + i);
    put16(frame, 36, flow);
    put16(frame, 54, 1024 + flow % 4096);
    put16(frame, 56, 5000);
    put16(frame, 58, bytes - 54);
    const auto segment = std::span(frame).subspan(54);
    const std::uint32_t pseudo =
        ones(std::span(frame).subspan(22, 32), 17U + static_cast<std::uint32_t>(segment.size()));
    const auto sum = static_cast<std::uint16_t>(~ones(segment, pseudo));
    put16(frame, 60, sum == 0 ? 0xFFFFU : sum);
    return frame;
}

std::vector<std::uint8_t> tagged(const std::vector<std::uint8_t>& frame, std::uint16_t tci) {
    auto result = frame;
    const std::uint8_t tag[] = {0x81, 0, static_cast<std::uint8_t>(tci >> 8), static_cast<std::uint8_t>(tci)};
    result.insert(result.begin() + 12, std::begin(tag), std::end(tag));
    return result;
}

bool checksums_hold(std::span<const std::uint8_t> frame) {
    return ones(frame.subspan(14, 20), 0) == 0xFFFF && segment_sum(frame) == 0xFFFF;
}

}  // namespace volley::soft82599
