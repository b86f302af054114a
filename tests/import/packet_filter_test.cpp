#include "import/packet_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/error.h"

namespace volley::imports {
namespace {

/// UDP over IPv4 to that port, with a tag or without, 60 bytes.
std::vector<std::uint8_t> udp(std::uint8_t port, bool tagged = false) {
    std::vector<std::uint8_t> out(12, 2);
    if (tagged) out.insert(out.end(), {0x81, 0, 0, 100});
    out.insert(out.end(), {8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2});
    out.insert(out.end(), {4, 0, 0, port, 0, 26, 0, 0});
    out.resize(60);
    return out;
}

TEST(PacketFilter, takes_what_its_expression_says_and_everything_without_one) {
    const auto nine = udp(9);
    const auto ten = udp(10);
    const auto tagged = udp(9, true);
    const auto takes = [](const std::string& expression, const std::vector<std::uint8_t>& frame) {
        return PacketFilter(expression).accepts(frame, static_cast<std::uint32_t>(frame.size()));
    };
    EXPECT_TRUE(takes("", nine));
    EXPECT_TRUE(takes("udp dst port 9", nine));
    EXPECT_FALSE(takes("udp dst port 9", ten));
    EXPECT_FALSE(takes("udp dst port 9", tagged));
    EXPECT_TRUE(takes("vlan 100 and udp dst port 9", tagged));
    EXPECT_FALSE(takes("vlan 101", tagged));
    EXPECT_TRUE(takes("host 10.0.0.2 and not tcp", ten));
}

TEST(PacketFilter, goes_by_the_length_of_the_packet_and_never_beyond_the_bytes_at_hand) {
    const auto frame = udp(9);
    EXPECT_TRUE(PacketFilter("greater 1500").accepts(frame, 1514));
    EXPECT_FALSE(PacketFilter("greater 1500").accepts(frame, 1499));
    EXPECT_FALSE(PacketFilter("ether[1000] = 0").accepts(frame, 1514));
    EXPECT_FALSE(PacketFilter("udp").accepts({frame.data(), 10}, 60));
}

TEST(PacketFilter, refuses_an_expression_that_is_none_in_libpcaps_words) {
    for (const char* wrong : {"udp port", "ip and and", "dst port 70000"}) {
        try {
            const PacketFilter filter{std::string(wrong)};
            ADD_FAILURE() << wrong;
        } catch (const Error& error) {
            EXPECT_FALSE(std::string(error.what()).empty());
        }
    }
}

}  // namespace
}  // namespace volley::imports
