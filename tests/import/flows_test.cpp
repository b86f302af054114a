#include "import/flows.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace volley::imports {
namespace {

using Bytes = std::vector<std::uint8_t>;

void add(Capture& capture, const Bytes& bytes) {
    capture.frames.push_back({capture.bytes.size(), static_cast<std::uint32_t>(bytes.size()), 0, 0});
    capture.bytes.insert(capture.bytes.end(), bytes.begin(), bytes.end());
}

// 10.0.0.from to 10.0.0.to; fragment: the word of flags and offset.
Bytes udp(std::uint8_t from, std::uint8_t to, std::uint16_t sport, std::uint16_t dport,
          std::uint16_t fragment = 0) {
    Bytes out(60, 0);
    out[12] = 8;
    const Bytes ip{0x45,
                   0,
                   0,
                   46,
                   0,
                   0,
                   static_cast<std::uint8_t>(fragment >> 8U),
                   static_cast<std::uint8_t>(fragment & 0xffU),
                   64,
                   17,
                   0,
                   0,
                   10,
                   0,
                   0,
                   from,
                   10,
                   0,
                   0,
                   to};
    std::copy(ip.begin(), ip.end(), out.begin() + 14);
    const Bytes l4{static_cast<std::uint8_t>(sport >> 8U),
                   static_cast<std::uint8_t>(sport & 0xffU),
                   static_cast<std::uint8_t>(dport >> 8U),
                   static_cast<std::uint8_t>(dport & 0xffU),
                   0,
                   26};
    std::copy(l4.begin(), l4.end(), out.begin() + 34);
    return out;
}

TEST(Flows, share_a_lane_in_both_directions_and_different_ones_use_all_lanes) {
    Capture capture;
    for (std::uint16_t port = 1000; port < 1100; ++port) {
        add(capture, udp(1, 2, port, 53));
        add(capture, udp(2, 1, 53, port));
    }
    const auto lanes = flow_lanes(capture, 4);
    std::map<int, int> used;
    for (std::size_t i = 0; i < lanes.size(); i += 2) {
        EXPECT_EQ(lanes[i], lanes[i + 1]);
        ++used[lanes[i]];
    }
    ASSERT_EQ(used.size(), 4U);
    for (const auto& [lane, flows] : used) EXPECT_GT(flows, 10) << lane;
    EXPECT_EQ(flow_lanes(capture, 4), lanes);
}

TEST(Flows, of_hosts_that_exchange_fragments_are_one) {
    Capture capture;
    for (std::uint16_t port = 1000; port < 1050; ++port) add(capture, udp(1, 2, port, 53));
    add(capture, udp(1, 2, 0, 0, 0x2000));
    add(capture, udp(2, 1, 0, 0, 0x00b9));
    const auto lanes = flow_lanes(capture, 7);
    EXPECT_EQ(std::set<int>(lanes.begin(), lanes.end()).size(), 1U);
}

TEST(Flows, without_ip_follow_the_pair_of_mac_addresses) {
    Capture capture;
    Bytes frame(60, 0);
    for (int i = 0; i < 64; ++i) {
        frame[5] = static_cast<std::uint8_t>(i);
        frame[11] = 100;
        add(capture, frame);
        std::swap(frame[5], frame[11]);
        add(capture, frame);
    }
    add(capture, Bytes(1, 7));
    const auto lanes = flow_lanes(capture, 3);
    for (std::size_t i = 0; i + 1 < lanes.size(); i += 2) EXPECT_EQ(lanes[i], lanes[i + 1]);
    EXPECT_EQ(std::set<int>(lanes.begin(), lanes.end()).size(), 3U);
}

}  // namespace
}  // namespace volley::imports
