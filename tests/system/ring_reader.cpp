#include "system/ring_reader.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <variant>

#include "worker/tsan.h"

namespace volley::test {
namespace {

std::uint32_t word(const char* bytes) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return __builtin_bswap32(value);
}

}  // namespace

json indexed(const std::string& name, const std::string& dst, const json& burst, const json& size) {
    return {
        {"name", name},
        {"port", "east"},
        {"burst", burst},
        {"packet",
         {{"frame_size", size},
          {"headers",
           {{{"eth", {{"src", "02:00:00:00:00:01"}}}},
            {{"ipv4",
              {{"src", {{"increment", {{"from", "0.0.0.0"}, {"to", "255.255.255.255"}}}}}, {"dst", dst}}}},
            {{"udp", {{"src", {{"random", {{"from", 1}, {"to", 65535}, {"seed", 4}}}}}, {"dst", 9}}}}}}}}};
}

void RingReader::expect(const config::Model& model) {
    for (const config::Stream& stream : model.streams) {
        auto built = packet::build(stream.packet);
        auto& made = std::get<0>(built);
        std::array<std::uint8_t, packet::max_frame> frame{};
        made->write(0, frame.data());
        Stream& seen = seen_[word(reinterpret_cast<const char*>(frame.data()) + 30)];
        seen.name = stream.name;
        seen.made.push_back(std::move(made));
    }
}

void RingReader::reserve(std::size_t packets) {
    for (auto& [dst, stream] : seen_) stream.count.reserve(packets);
}

void RingReader::take(unsigned queue, const rte_mbuf* mbuf) {
    const std::string_view bytes(rte_pktmbuf_mtod(mbuf, const char*), mbuf->data_len);
    const std::uint32_t index = word(bytes.data() + 26);
    const auto found = seen_.find(word(bytes.data() + 30));
    if (found == seen_.end() || mbuf->nb_segs != 1 || mbuf->pkt_len != mbuf->data_len) {
        ++strangers_;
        return;
    }
    Stream& stream = found->second;
    const bool right = std::any_of(stream.made.begin(), stream.made.end(), [&](const auto& made) {
        std::array<std::uint8_t, packet::max_frame> expected{};
        const std::uint16_t length = made->write(index, expected.data());
        return bytes == std::string_view(reinterpret_cast<const char*>(expected.data()), length);
    });
    if (!right) ++wrong_;
    if (stream.name == "visitor") return;  // each time a new life from index 0
    if (index < stream.next[queue]) ++backwards_;
    stream.next[queue] = index + 1;
    if (index >= stream.count.size())
        stream.count.resize(std::max<std::size_t>(index + 1, stream.count.capacity()));
    ++stream.count[index];
    highest_ = std::max<std::uint32_t>(highest_.load(), index);
}

void RingReader::read(const std::atomic<bool>& done) {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (unsigned cpu = 0; cpu < std::thread::hardware_concurrency(); ++cpu) CPU_SET(cpu, &all);
    pthread_setaffinity_np(pthread_self(), sizeof all, &all);
    const std::array<rte_ring*, 2> rings{rte_ring_lookup("ETH_RXTX0_net_ring0"),
                                         rte_ring_lookup("ETH_RXTX1_net_ring0")};
    std::array<void*, 32> burst{};
    for (bool last = false;;) {
        bool any = false;
        for (unsigned queue = 0; queue < 2; ++queue) {
            const unsigned n = rte_ring_sc_dequeue_burst(rings[queue], burst.data(), burst.size(), nullptr);
            any = any || n != 0;
            worker::tsan_acquire_mbufs();
            for (unsigned i = 0; i < n; ++i) take(queue, static_cast<rte_mbuf*>(burst[i]));
            worker::tsan_release_mbufs();
            for (unsigned i = 0; i < n; ++i) rte_pktmbuf_free(static_cast<rte_mbuf*>(burst[i]));
        }
        if (last && !any) return;
        last = done.load() && !any;
        if (!any) std::this_thread::yield();
    }
}

void RingReader::expect_each_once(std::uint64_t count) const {
    EXPECT_EQ(strangers_, 0U);
    EXPECT_EQ(wrong_, 0U) << "packets differ from what their index says";
    EXPECT_EQ(backwards_, 0U) << "packets came after a later one in the same queue";
    for (const auto& [dst, stream] : seen_) {
        if (stream.name == "visitor") continue;
        SCOPED_TRACE(stream.name);
        std::uint64_t lost = 0;
        std::uint64_t twice = 0;
        std::uint64_t beyond = 0;
        for (std::uint64_t i = 0; i < stream.count.size(); ++i) {
            lost += i < count && stream.count[i] == 0 ? 1 : 0;
            twice += stream.count[i] > 1 ? 1 : 0;
            beyond += i >= count ? stream.count[i] : 0U;
        }
        EXPECT_GE(stream.count.size(), count);
        EXPECT_EQ(lost, 0U);
        EXPECT_EQ(twice, 0U);
        EXPECT_EQ(beyond, 0U);
    }
}

}  // namespace volley::test
