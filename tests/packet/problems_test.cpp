#include <gtest/gtest.h>

#include "models.h"

namespace volley::packet {
namespace {

using enum HeaderKind;
using Lines = std::vector<std::string>;

PacketModel udp4(Given ip = {}, Given ports = {}) {
    return packet({header(eth), header(ipv4, ip), header(udp, ports)});
}

Program with(Program program, void (*change)(Program&)) {
    change(program);
    return program;
}

TEST(Problems, come_all_at_once) {
    auto model = udp4({{"ttl", literal(300)}}, {{"src", increment(9, 1)}});
    model.frame_size = size_of(literal(20000));
    model.flows = 0;
    EXPECT_EQ(problems_of(model),
              (Lines{"/headers/2/udp/src: from 9 is above to 1; swap them, or use decrement",
                     "/headers/1/ipv4/ttl: 300 does not fit in 8 bits; at most 255",
                     "/flows: flows must be at least 1",
                     "/frame_size: frame size 20000 is above 9728, the largest frame with its FCS"}));
}

TEST(Problems, name_what_a_header_may_stand_behind) {
    EXPECT_EQ(
        problems_of(packet({header(eth), header(udp)})),
        Lines{"/headers/1/udp: udp cannot follow eth; put ipv4 or ipv6 between them, or give eth type"});
    EXPECT_EQ(problems_of(packet({header(eth, {{"type", literal(0x1234)}}), header(udp)})), Lines{});
    EXPECT_EQ(problems_of(packet({header(eth), header(ipv4), header(arp)})),
              Lines{"/headers/2/arp: arp cannot follow ipv4; put what carries it between them, or give ipv4 "
                    "protocol"});
    EXPECT_EQ(problems_of(packet({header(eth), header(ipv4), header(vlan)})),
              Lines{"/headers/2/vlan: vlan cannot follow ipv4; a tag stands behind eth or vlan"});
    EXPECT_EQ(problems_of(packet({header(eth), header(ipv4), header(udp), header(tcp)})),
              Lines{"/headers/3/tcp: tcp cannot follow udp, which carries vxlan, geneve, gtpu, mpls, gre or "
                    "dns; for other bytes use raw"});
    EXPECT_EQ(problems_of(packet({header(eth), header(ipv4), header(ipv6_routing), header(udp)})),
              Lines{"/headers/2/ipv6_routing: ipv6_routing cannot follow ipv4; put what carries it between "
                    "them, or give ipv4 protocol"});
    EXPECT_EQ(problems_of(packet({header(eth), header(ipv6), header(ipv6_destination),
                                  header(ipv6_hop_by_hop), header(udp)})),
              Lines{"/headers/3/ipv6_hop_by_hop: ipv6_hop_by_hop cannot follow ipv6_destination; put what "
                    "carries it between them, or give ipv6_destination next_header"});
    EXPECT_EQ(problems_of(packet({header(ipv4)})),
              Lines{"/headers/0/ipv4: a frame cannot start with ipv4; put eth (or raw) first"});
    EXPECT_EQ(problems_of(packet({})), Lines{"/headers: the packet is empty; give it at least one header"});
    EXPECT_EQ(problems_of(packet(std::vector<HeaderModel>(129, header(eth)))).front(),
              "/headers: 129 headers; there is room for 128");
}

TEST(Problems, say_what_size_is_needed) {
    EXPECT_EQ(problems_of(sized(packet({header(eth), header(ipv6), header(udp)}), literal(64))),
              Lines{"/frame_size: frame size 64 is too small: the headers need 66 with the FCS"});
    auto model = sized(udp4(), increment(60, 100));
    EXPECT_EQ(problems_of(model), Lines{"/frame_size: frame size 60 is below 64, the smallest Ethernet frame "
                                        "with its FCS; \"pad\": false "
                                        "sends less"});
    model.pad = false;
    EXPECT_EQ(problems_of(model), Lines{});
    model.payload.kind = Payload::Kind::bytes;
    model.payload.bytes.resize(50);
    EXPECT_EQ(
        problems_of(model),
        Lines{"/frame_size: frame size 60 is too small: the headers and the payload need 96 with the FCS"});
    model = udp4();
    model.frame_size = SizeModel{{}, {{64, 0}, {63, 1}}};
    EXPECT_EQ(problems_of(model),
              (Lines{"/frame_size/weighted/0: weight must be at least 1",
                     "/frame_size/weighted/1: frame size 63 is below 64, the smallest Ethernet frame with "
                     "its FCS; \"pad\": false sends less"}));
    model.frame_size = SizeModel{{}, {{64, 65536}, {65, 1}}};
    EXPECT_EQ(
        problems_of(model),
        Lines{
            "/frame_size/weighted: the weights add up to more than 65536 packets a cycle; use smaller ones"});
    EXPECT_EQ(problems_of(packet({raw_bytes(std::vector<std::uint8_t>(9725))})),
              Lines{"/headers: the headers and the payload take 9729 bytes with the FCS; the largest frame "
                    "has 9728"});
}

TEST(Problems, tell_a_program_that_cannot_run) {
    const auto about_src = [](const Program& program) {
        const auto lines = problems_of(udp4({{"src", program}}));
        return lines.size() == 1 ? lines[0] : "not one problem";
    };
    const std::string at = "/headers/1/ipv4/src: ";
    EXPECT_EQ(about_src(decrement(1, 9)),
              at + "decrement runs from 0.0.0.1 up to 0.0.0.9; swap from and to, or use increment");
    EXPECT_EQ(about_src(random_of(9, 1)), at + "from 0.0.0.9 is above to 0.0.0.1; swap them");
    EXPECT_EQ(about_src(increment(1, 9, 0)), at + "step must be at least 1");
    EXPECT_EQ(about_src(increment(1, 9, 1, 0)),
              at + "every must be at least 1: the number of packets that share a value");
    EXPECT_EQ(about_src(list({})), at + "the list is empty; give at least one value");
    EXPECT_EQ(about_src(increment(0, Value{1} << 32)),
              at + "4294967296 does not fit in 32 bits; at most 255.255.255.255; or give a mask");
    EXPECT_EQ(about_src(with(literal(1), [](auto& p) { p.shift = 200; })),
              at + "shift must lie between -127 and 127 bits");
    EXPECT_EQ(about_src(with(increment(1, 9), [](auto& p) { p.shift = 30; })),
              at + "0.0.0.9 shifted left does not fit in 32 bits; at most 255.255.255.255; or give a mask");
    EXPECT_EQ(about_src(with(increment(1, 9), [](auto& p) { p.mask = Value{1} << 32; })),
              at + "mask 4294967296 does not fit in 32 bits; at most 255.255.255.255");
    EXPECT_EQ(about_src(with(increment(1, 9), [](auto& p) { p.add = Value{0} - 5; })),
              at + "add takes some of the values below 0 or above 128 bits; choose a smaller one or a mask");
    EXPECT_EQ(about_src(with(random_of(1, 9), [](auto& p) { p.distinct = 0; })),
              at + "distinct must be at least 1: the number of values to draw from");
    EXPECT_EQ(about_src(with(random_of(1, 9), [](auto& p) { p.distinct = 10; })),
              at + "distinct 10 is more than the 9 values between from and to");
}

TEST(Problems, tell_names_that_lead_nowhere) {
    auto model =
        udp4({{"src", increment(1, 9)}, {"dst", with(increment(1, 9), [](auto& p) { p.nest = "ipv4.scr"; })}},
             {{"src", variable("hots")}});
    model.variables.emplace_back("host", increment(1, 9));
    EXPECT_EQ(problems_of(model),
              (Lines{"/headers/2/udp/src: no variable is named \"hots\"; did you mean \"host\"?",
                     "/headers/1/ipv4/dst: nest names \"ipv4.scr\", which has no program; did you mean "
                     "\"ipv4.src\"?"}));
    model =
        udp4({{"src", variable("x")}, {"dst", with(increment(1, 9), [](auto& p) { p.nest = "elsewhere"; })}});
    EXPECT_EQ(problems_of(model),
              (Lines{"/headers/1/ipv4/src: no variable is named \"x\"; declare it under \"variables\"",
                     "/headers/1/ipv4/dst: nest names \"elsewhere\", which has no program; name a field as "
                     "\"ipv4.src\""}));
    model = udp4({{"src", with(increment(1, 9), [](auto& p) { p.nest = "ipv4.dst"; })},
                  {"dst", with(increment(1, 9), [](auto& p) { p.nest = "ipv4.src"; })}});
    EXPECT_EQ(problems_of(model),
              Lines{"/headers/1/ipv4/src: nest runs in a circle; let the innermost program have none"});
    model = udp4(
        {{"src", random_of(1, 9)}, {"dst", with(increment(1, 9), [](auto& p) { p.nest = "ipv4.src"; })}});
    EXPECT_EQ(problems_of(model),
              Lines{"/headers/1/ipv4/dst: nest names \"ipv4.src\", whose random draws have no cycle; give "
                    "it \"permute\": true"});
    model = udp4({{"src", literal(1)}, {"dst", with(increment(1, 9), [](auto& p) { p.nest = "ipv4.src"; })}});
    EXPECT_EQ(problems_of(model),
              Lines{"/headers/1/ipv4/dst: nest names \"ipv4.src\", which does not vary; name a field that "
                    "has a program"});
    model = udp4();
    model.variables.emplace_back("a", variable("b"));
    model.variables.emplace_back("a", literal(1));
    EXPECT_EQ(problems_of(model), (Lines{"/variables/a: a variable cannot take its value from another "
                                         "variable; use one variable in both places",
                                         "/variables/a: this name is taken; give each variable its own"}));
}

TEST(Problems, tell_bytes_that_cannot_be) {
    EXPECT_EQ(problems_of(packet({header(eth), with_options(header(ipv4), std::vector<std::uint8_t>(41))})),
              Lines{"/headers/1/ipv4/options: 41 bytes of options; there is room for 40"});
    EXPECT_EQ(problems_of(packet({header(eth), header(ipv6), header(udp, {{"checksum", literal(0)}})})),
              Lines{"/headers/2/udp/checksum: UDP over IPv6 must have a checksum (RFC 8200 section 8.1); "
                    "leave it out to "
                    "have it computed"});
    EXPECT_EQ(problems_of(packet({header(eth), header(ipv6), header(udp, {{"checksum", list({1, 0})}})})),
              Lines{"/headers/2/udp/checksum: UDP over IPv6 must have a checksum (RFC 8200 section 8.1); "
                    "leave it out to "
                    "have it computed"});
    auto model = udp4();
    model.payload.bytes.clear();
    EXPECT_EQ(problems_of(model), Lines{"/payload: the fill pattern is empty; give at least one byte"});
    model = udp4({{"src", increment(1, 9)}, {"src", increment(1, 9)}});
    EXPECT_EQ(problems_of(model),
              Lines{"/headers/1/ipv4/src: two programs write the same bits; give each a mask of its own"});
}

TEST(Problems, tell_raw_programs_and_checksums_that_do_not_fit) {
    auto bytes = raw_bytes(std::vector<std::uint8_t>(64));
    bytes.programs.push_back({61, 4, increment(0, 9)});
    bytes.checksums.push_back({63, 0, std::nullopt, RawChecksum::Pseudo::none, 0, 0});
    EXPECT_EQ(problems_of(packet({bytes})),
              (Lines{"/headers/0/raw: a program at byte 61 reaches beyond the 64 raw bytes",
                     "/headers/0/raw: a checksum at byte 63 stands in, or covers, bytes that the packet does "
                     "not have"}));
    bytes.programs = {{10, 4, increment(0, 9)}};
    bytes.checksums = {{12, 20, std::nullopt, RawChecksum::Pseudo::none, 0, 0}};
    EXPECT_EQ(problems_of(packet({bytes})),
              Lines{"/headers/0/raw: a program writes where a checksum is computed"});
    bytes.checksums = {{40, 12, std::nullopt, RawChecksum::Pseudo::none, 0, 0}};
    EXPECT_EQ(
        problems_of(packet({bytes})),
        Lines{"/headers/0/raw: a checksum covers some bytes of a program but not all; split the program"});
    bytes.programs = {{10, 16, increment(0, 9)}, {25, 16, increment(0, 9)}};
    for (auto& patch : bytes.programs) patch.program.to = ~Value{0};
    bytes.checksums.clear();
    EXPECT_EQ(
        problems_of(packet({bytes})),
        Lines{"/headers/0/raw: overlapping programs reach over more than 16 bytes; make them narrower"});
    bytes.programs.clear();
    bytes.checksums = {{10, 0, std::nullopt, RawChecksum::Pseudo::none, 0, 0},
                       {12, 0, std::nullopt, RawChecksum::Pseudo::none, 0, 0}};
    EXPECT_EQ(problems_of(packet({bytes})),
              Lines{"/headers: two checksums cover each other; give one of them"});
}

}  // namespace
}  // namespace volley::packet
