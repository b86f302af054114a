#include "worker/responder.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "packet/checksum.h"
#include "packet/template.h"

namespace volley::worker {
namespace {

using packet::HeaderKind;
using Frame = std::vector<std::uint8_t>;

constexpr std::uint64_t own_mac = 0x020000000001;
constexpr std::uint64_t peer_mac = 0x0200000000ee;

IpAddress ipv4(std::uint8_t last) {
    return {{10, 0, 0, last}, 4};
}
IpAddress ipv6(std::uint8_t last) {
    return {{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}, 16};
}

packet::HeaderModel header(HeaderKind kind, std::vector<std::pair<const char*, packet::Value>> fields = {}) {
    packet::HeaderModel out;
    out.kind = kind;
    for (const auto& [name, value] : fields) {
        packet::Program program;
        program.from = value;
        out.fields.push_back({packet::find_field(kind, name), program});
    }
    return out;
}

/// A frame from the peer, made by the generator: its lengths and checksums are right.
Frame made(std::vector<packet::HeaderModel> headers, std::uint32_t size, bool tagged) {
    packet::PacketModel model;
    packet::Program program;
    program.from = size;
    model.frame_size = packet::SizeModel{program, {}};
    model.payload.kind = packet::Payload::Kind::random;
    model.headers = std::move(headers);
    if (tagged) model.headers.insert(model.headers.begin() + 1, header(HeaderKind::vlan, {{"id", 100}}));
    auto built = packet::build(model);
    if (auto* problems = std::get_if<1>(&built)) {
        ADD_FAILURE() << problems->front().text;
        return {};
    }
    Frame out(std::get<0>(built)->longest());
    std::get<0>(built)->write(0, out.data());
    return out;
}

packet::HeaderModel from_peer(packet::Value destination = own_mac) {
    return header(HeaderKind::eth, {{"src", peer_mac}, {"dst", destination}});
}

constexpr packet::Value v6(std::uint8_t last) {
    return packet::Value{0x20010db8} << 96 | last;
}

std::uint64_t mac_at(const Frame& frame, std::size_t at) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 6; ++i) value = value << 8 | frame[at + i];
    return value;
}

/// With and without VLAN 100.
class AnyResponder : public testing::TestWithParam<bool> {
  protected:
    AnyResponder()
        : responder_(own_mac, GetParam() ? std::optional<std::uint16_t>(100) : std::nullopt,
                     {ipv4(1), ipv6(1)}) {}
    Frame reply(const Frame& frame) {
        Frame out(Responder::longest_reply);
        out.resize(responder_.reply(frame, out.data()));
        return out;
    }
    [[nodiscard]] std::size_t l3() const { return GetParam() ? 18 : 14; }
    Frame arp(std::uint32_t target, unsigned operation = 1) {
        return made({from_peer(operation == 1 ? 0xffffffffffff : own_mac),
                     header(HeaderKind::arp, {{"operation", operation},
                                              {"sender_mac", peer_mac},
                                              {"sender_ip", 0x0a0000ee},
                                              {"target_ip", target}})},
                    64, GetParam());
    }
    Responder responder_;
};

TEST_P(AnyResponder, answers_an_arp_request_for_its_address_and_no_other) {
    const Frame out = reply(arp(0x0a000001));
    ASSERT_EQ(out.size(), 60U);
    EXPECT_EQ(mac_at(out, 0), peer_mac);
    EXPECT_EQ(mac_at(out, 6), own_mac);
    EXPECT_EQ(out[l3() + 7], 2);
    EXPECT_EQ(mac_at(out, l3() + 8), own_mac);
    EXPECT_EQ(out[l3() + 17], 1);
    EXPECT_EQ(mac_at(out, l3() + 18), peer_mac);
    EXPECT_EQ(out[l3() + 27], 0xee);
    EXPECT_TRUE(reply(arp(0x0a000002)).empty());
    EXPECT_TRUE(reply(arp(0x0a000001, 2)).empty());
    EXPECT_TRUE(responder_.concerns(arp(0x0a000001)));
    EXPECT_FALSE(responder_.concerns(arp(0x0a000002))) << "no buffer is taken for what has no answer";
    EXPECT_TRUE(responder_.concerns(arp(0x0a000001, 2))) << "an answer may be to what was asked";
}

TEST_P(AnyResponder, answers_an_echo_with_right_checksums_for_odd_and_even_lengths) {  // B13
    for (const std::uint32_t size : {64U, 75U, 98U, 1501U}) {
        const Frame request =
            made({from_peer(), header(HeaderKind::ipv4, {{"src", 0x0a0000ee}, {"dst", 0x0a000001}}),
                  header(HeaderKind::icmp, {{"type", 8}, {"id", 7}, {"seq", 3}})},
                 size, GetParam());
        const Frame out = reply(request);
        ASSERT_EQ(out.size(), request.size());
        const std::size_t ip = l3();
        EXPECT_EQ(packet::fold(packet::sum_of({&out[ip], 20})), 0xffff);
        EXPECT_EQ(packet::fold(packet::sum_of({&out[ip + 20], out.size() - ip - 20})), 0xffff);
        EXPECT_EQ(out[ip + 20], 0);
        EXPECT_EQ(out[ip + 15], 1);
        EXPECT_EQ(out[ip + 19], 0xee);
        EXPECT_TRUE(std::equal(out.begin() + static_cast<long>(ip) + 24, out.end(),
                               request.begin() + static_cast<long>(ip) + 24))
            << "id, sequence and data come back as they were";
    }
}

TEST_P(AnyResponder, leaves_a_damaged_echo_and_one_for_another_address_unanswered) {
    const auto echo = [&](std::uint32_t to) {
        return made({from_peer(), header(HeaderKind::ipv4, {{"src", 0x0a0000ee}, {"dst", to}}),
                     header(HeaderKind::icmp, {{"type", 8}})},
                    98, GetParam());
    };
    Frame damaged = echo(0x0a000001);
    EXPECT_FALSE(reply(damaged).empty());
    damaged.back() ^= 1;
    EXPECT_TRUE(reply(damaged).empty());
    EXPECT_TRUE(reply(echo(0x0a000002)).empty());
}

TEST_P(AnyResponder, answers_icmpv6_echo_and_neighbour_solicitations) {
    const Frame echo = made({from_peer(), header(HeaderKind::ipv6, {{"src", v6(0xee)}, {"dst", v6(1)}}),
                             header(HeaderKind::icmpv6, {{"type", 128}, {"id", 7}})},
                            90, GetParam());
    const Frame out = reply(echo);
    ASSERT_EQ(out.size(), echo.size());
    EXPECT_EQ(out[l3() + 40], 129);
    EXPECT_EQ(out[l3() + 23], 1);
    EXPECT_EQ(out[l3() + 39], 0xee);
    // The two ask each other.
    Responder peer(peer_mac, GetParam() ? std::optional<std::uint16_t>(100) : std::nullopt,
                   {ipv4(0xee), ipv6(0xee)});
    for (const auto& [address, own] : {std::pair(ipv6(1), own_mac), std::pair(ipv4(1), own_mac)}) {
        Neighbour& neighbour = *peer.add_neighbour(address);
        Frame question(Responder::longest_reply);
        question.resize(peer.ask(address, question.data()));
        ASSERT_FALSE(question.empty());
        const Frame answer = reply(question);
        ASSERT_FALSE(answer.empty());
        Frame none(Responder::longest_reply);
        EXPECT_EQ(peer.reply(answer, none.data()), 0U);
        EXPECT_EQ(neighbour.mac(), own);
        // What is given back learns nothing, nor does who has its place.
        neighbour.give_back();
        EXPECT_EQ(peer.reply(answer, none.data()), 0U);
        EXPECT_EQ(neighbour.mac(), 0U);
        ASSERT_EQ(peer.add_neighbour(ipv4(9)), &neighbour);
        EXPECT_EQ(peer.reply(answer, none.data()), 0U);
        EXPECT_EQ(neighbour.mac(), 0U);
        neighbour.give_back();
    }
}

TEST_P(AnyResponder, asks_from_its_address_in_the_network_of_whom_it_asks_for) {
    IpAddress near = ipv4(5);
    near.prefix = 30;
    IpAddress far = ipv4(1);
    far.prefix = 32;
    const Responder several(own_mac, GetParam() ? std::optional<std::uint16_t>(100) : std::nullopt,
                            {far, near});
    Frame question(Responder::longest_reply);
    const auto asker = [&](const IpAddress& of) {
        EXPECT_EQ(several.ask(of, question.data()), 60U);
        return question[l3() + 17];
    };
    EXPECT_EQ(asker(ipv4(6)), 5);
    EXPECT_EQ(asker(ipv4(77)), 1) << "the first one where none is of that network";
    EXPECT_EQ(several.ask(ipv6(6), question.data()), 0U);
}

TEST_P(AnyResponder, keeps_a_bounded_number_of_neighbours_and_finds_them_again) {
    Responder many(own_mac, std::nullopt, {ipv4(1)});
    IpAddress address = ipv4(0);
    for (std::uint32_t i = 0; i < Responder::most_neighbours; ++i) {
        address.bytes[2] = static_cast<std::uint8_t>(i >> 8);
        address.bytes[3] = static_cast<std::uint8_t>(i);
        Neighbour* const neighbour = many.add_neighbour(address);
        ASSERT_NE(neighbour, nullptr);
        EXPECT_EQ(many.add_neighbour(address), neighbour);
    }
    EXPECT_EQ(many.add_neighbour(ipv6(1)), nullptr);
    many.add_neighbour(address)->give_back();
    Neighbour* const six = many.add_neighbour(ipv6(1));
    ASSERT_NE(six, nullptr) << "a place that was given back is another's";
    EXPECT_EQ(many.add_neighbour(ipv6(1)), six);
    EXPECT_EQ(many.add_neighbour(address), nullptr);
}

TEST_P(AnyResponder, does_not_learn_that_a_neighbour_has_the_address_of_a_group) {
    Neighbour& neighbour = *responder_.add_neighbour(ipv4(0xee));
    Frame answer = arp(0x0a000001, 2);
    EXPECT_TRUE(reply(answer).empty());
    EXPECT_EQ(neighbour.mac(), peer_mac);
    answer[l3() + 8] |= 1;
    EXPECT_TRUE(reply(answer).empty());
    EXPECT_EQ(neighbour.mac(), peer_mac);
}

TEST_P(AnyResponder, leaves_what_is_not_on_its_vlan_unanswered) {
    Frame request = made(
        {from_peer(0xffffffffffff), header(HeaderKind::arp, {{"operation", 1}, {"target_ip", 0x0a000001}})},
        64, !GetParam());
    EXPECT_TRUE(reply(request).empty());
}

TEST_P(AnyResponder, survives_frames_cut_at_any_byte) {
    const Frame frames[] = {arp(0x0a000001),
                            made({from_peer(), header(HeaderKind::ipv4, {{"dst", 0x0a000001}}),
                                  header(HeaderKind::icmp, {{"type", 8}})},
                                 98, GetParam()),
                            made({from_peer(), header(HeaderKind::ipv6, {{"dst", v6(1)}}),
                                  header(HeaderKind::icmpv6, {{"type", 128}})},
                                 98, GetParam())};
    for (const Frame& whole : frames) {
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const Frame cut(whole.begin(), whole.begin() + static_cast<long>(length));
            const Frame out = reply(cut);
            if (!out.empty()) {
                EXPECT_GE(length, l3() + 28);
            }
        }
    }
}

TEST_P(AnyResponder, answers_with_the_kind_of_tag_and_the_priority_of_the_question) {
    if (!GetParam()) GTEST_SKIP() << "untagged";
    Frame question = arp(0x0a000001);
    question[12] = 0x88;
    question[13] = 0xa8;
    question[14] |= 5 << 5;
    const Frame out = reply(question);
    ASSERT_EQ(out.size(), 60U);
    EXPECT_EQ(Frame(out.begin() + 12, out.begin() + 16), (Frame{0x88, 0xa8, 0xa0, 100}));
}

INSTANTIATE_TEST_SUITE_P(UntaggedAndTagged, AnyResponder, testing::Bool());

}  // namespace
}  // namespace volley::worker
