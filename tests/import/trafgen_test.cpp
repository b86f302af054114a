#include "import/trafgen.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "import/capture.h"
#include "import/capture_file.h"
#include "packet/template.h"

namespace volley::imports {
namespace {

std::unique_ptr<const packet::PacketTemplate> built(const packet::PacketModel& model) {
    auto result = packet::build(model);
    if (auto* problems = std::get_if<1>(&result)) throw Error(problems->front().text);
    return std::move(std::get<0>(result));
}

Bytes written(const packet::PacketTemplate& packet, std::uint64_t index) {
    Bytes frame(packet.longest());
    frame.resize(packet.write(index, frame.data()));
    return frame;
}

std::string hex(const Bytes& bytes) {
    std::string out;
    for (const std::uint8_t byte : bytes) {
        constexpr std::string_view digits = "0123456789abcdef";
        out.push_back(digits[byte >> 4]);
        out.push_back(digits[byte & 15]);
    }
    return out;
}

/// The first `count` sends of a one-packet text, in hexadecimal, with a blank between.
std::string sends(const std::string& text, std::uint64_t count = 1) {
    try {
        const TrafgenFile file = parse_trafgen(text, "t.cfg");
        const auto packet = built(file.packets.at(0).model);
        std::string out;
        for (std::uint64_t i = 0; i < count; ++i) out += (i == 0 ? "" : " ") + hex(written(*packet, i));
        return out;
    } catch (const Error& error) {
        return error.what();
    }
}

std::string refusal(const std::string& text) {
    try {
        for (const TrafgenPacket& packet : parse_trafgen(text, "t.cfg").packets) built(packet.model);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Trafgen, reads_every_kind_of_number_and_text) {
    EXPECT_EQ(sends("{ 011, 010, 00, x1f, b101, 0x1F 'a', W, '\\x41' 42 0b11110000 }"),
              "0908001f051f615741"
              "2af0");
    EXPECT_EQ(sends("{ \"ab\\n\", \"\\x41\\x00\\x42\\x43\", \"\\x41\\x42z\" }"),
              "61625c6e"
              "41004243"
              "5c7834315c7834327a");
    EXPECT_EQ(sends("{ FILL(0,3), C16(0X1234), Const8(5) }"), "000000123405");
    EXPECT_EQ(sends("{ fill(1,2), 1,\n2\n3, }"), "0101010203") << "a newline is a delimiter";
    EXPECT_EQ(sends("{ seqinc(254, 4), seqdec(1 3 1), seqinc(0,3,16) }"),
              "feff0001"
              "0100ff"
              "001020");
}

TEST(Trafgen, knows_all_comments_and_directives_in_one_mode) {
    EXPECT_EQ(sends("# udp-flood.cfg\n; hidden {\n{ /***/ 1, /**/ 2, // 9\n 3, # 9\n /* 7\n */ 4 }\n"),
              "01020304");
    EXPECT_EQ(sends("#define A 1, 2\n#define F(x, y) y, c16(x)\n{ A, F(0x800, 3), \"A\" }"),
              "0102"
              "030800"
              "41");
    EXPECT_EQ(sends("#define LONG 1, \\\n 2\n#ifdef LONG\n{ LONG }\n#else\n{ 9 }\n#endif"), "0102");
    EXPECT_EQ(sends("#if defined(X) || 2 * 3 == 7\n{ 1 }\n#elif !defined X && (1 << 4) > 15\n{ 2 }\n#else\n{ "
                    "3 }\n#endif"),
              "02");
    EXPECT_EQ(sends("#include <stddef.h>\n{ c16(ETH_P_IP), IPPROTO_UDP, be16(TCP_FLAG_SYN | TCP_FLAG_ECE), "
                    "IF_ELSE(1, 7, 8) IF(0, 9) }"),
              "0800"
              "11"
              "0042"
              "07");
    EXPECT_EQ(sends("#define X X, 1\n{ 2, x1 }\n#undef X"), "0201")
        << "macros know case, the language does not";
    EXPECT_EQ(sends("#define CAT(a, b) a ## b\n{ CAT(0x, 1f) }"), "1f");
}

TEST(Trafgen, calculates_from_left_to_right_and_warns_where_c_would_not) {
    EXPECT_EQ(sends("{ c16(2+3*4), c16(1<<8|1), c8(7-2-1), c32(-1), c16(0x12345), c64(0x1122334455667788), "
                    "c8((1+2)*3) }"),
              "0014"
              "0101"
              "04"
              "ffffffff"
              "2345"
              "1122334455667788"
              "09");
    EXPECT_EQ(parse_trafgen("{ c16(2+3*4) }", "t").warnings.size(), 1U);
    EXPECT_EQ(parse_trafgen("{ c16((5 << 12) | 2), 300 }", "t").warnings,
              std::vector<std::string>{
                  "t:1:23: 300 does not fit a byte; its low 8 bits are sent, as trafgen does"});
}

TEST(Trafgen, counters_step_as_trafgens_do_but_never_leave_their_range) {
    EXPECT_EQ(sends("{ dinc(10,13) }", 5), "0b 0c 0d 0a 0b");
    EXPECT_EQ(sends("{ dinc(5,9,2) }", 6), "07 09 06 08 05 07");
    EXPECT_EQ(sends("{ ddec(0,3) }", 5), "02 01 00 03 02");
    EXPECT_EQ(sends("{ ddec(10,20) }", 2), "13 12");
    EXPECT_EQ(sends("{ dinc(5,5) }", 2), "05 05") << "a range of one is a constant";
    EXPECT_EQ(parse_trafgen("{ dinc(1,65535,1) }", "t").warnings.size(), 1U);
    EXPECT_EQ(sends("{ drnd(4), rnd(4) }", 2).substr(8, 8), sends("{ drnd(4), rnd(4) }", 2).substr(25, 8));
}

TEST(Trafgen, checksums_cover_what_they_say_in_any_position_and_pad_odd_lengths) {
    EXPECT_EQ(sends("{ fill(0,14),0x45,0,c16(29),0,0,0,0,64,1,csumip(14,33),10,0,0,1,10,0,0,2, "
                    "8,0,csumicmp(34,42),0,1,0,1,0xab }")
                  .substr(68),
              "08004cfd00010001ab");
    EXPECT_EQ(sends("{ 0x45,0,0,20, 1,2,3,4, csumip(0,7) }").substr(16), "b6e5") << "behind what it covers";
    EXPECT_EQ(
        sends("{ fill(2,12), c16(0x86dd), 0x60,0,0,0,c16(11),17,64, 0xfd,fill(0,14),1, 0xfd,fill(0,14),2, "
              "c16(1000),c16(2000),c16(11),csumudp6(14,54),'a','b','c' }")
            .substr(108),
        "03e807d0000b35b9616263");
    EXPECT_EQ(sends("{ eth(da=02:00:00:00:00:02,sa=02:00:00:00:00:01), ipv4(sa=10.0.0.1,da=10.0.0.2,ttl=64), "
                    "udp(sp=1000,dp=2000), 0xe0, 0x1f }")
                  .substr(68),
              "03e807d0000affffe01f")
        << "a sum of 0 is sent as 0xffff";
}

TEST(Trafgen, header_functions_fill_in_what_is_not_given) {
    EXPECT_EQ(sends("{ arp() }"),
              "ffffffffffff0000000000000806"
              "00010800060400010000000000000000000000000000000000000000");
    EXPECT_EQ(sends("{ pause(time=5) }"), "0180c2000001000000000000880800010005");
    EXPECT_EQ(sends("{ pfc(prio(3)=1,time(3)=100) }"),
              "0180c20000010000000000008808"
              "01010008"
              "00000000000000640000000000000000");
    EXPECT_EQ(sends("{ eth(da=02:00:00:00:00:01, da=02:00:00:00:00:09), udp(sp=1,sp=2) }"),
              "02000000000900000000000008004500001c000000000011bad20000000000000000000200000008ffdc");
    EXPECT_EQ(sends("{ ipv4(da=1.1.1.1,csum=0x1234), udp(csum=0x5678) }"),
              "00000000000000000000000008004500001c000000000011123400000000010101010000000000085678");
    EXPECT_EQ(sends("{ dns(id=7,rdesired=1,qry(name=\"www.google.com\")) }"),
              "00000000000000000000000008004500003c000000000011bab2000000000000000000000035002870bb0007010000"
              "0100000000"
              "00000377777706676f6f676c6503636f6d0000010001");
    EXPECT_EQ(sends("{ dns(qry(name=\"a.b\"), ans(name=\"a.b\", ttl=5, addr(1.2.3.4))) }").substr(84),
              "00008000000100010000000001610162000001000101610162000001000100000005000401020304");
    EXPECT_EQ(sends("{ eth(type=0x8100), vlan(id=5), ipv4() }").substr(24, 14), "81000005080045")
        << "a type that was given is none of what stands behind the tag";
    EXPECT_EQ(sends("{ eth(type=0x88b5), vlan(id=1), vlan(id=2), 1 }").substr(24), "810000018100000288b501");
    EXPECT_EQ(
        sends("{ vlan(id=5), mpls(label=16), mpls(label=17), ipv4(), icmp4(echorequest) }").substr(24, 24),
        "810000058847000100000001");
}

TEST(Trafgen, records_of_dns_have_trafgen_s_name_and_time_to_live_and_make_an_answer) {
    const std::string name = "037777770b6e6574736e6966662d6e6703636f6d00";
    EXPECT_EQ(sends("{ dns(qry()) }").substr(84), "000000000001000000000000" + name + "00010001");
    EXPECT_EQ(sends("{ dns(ans()) }").substr(84),
              "00008000000000010000000000000000010000000"
              "10000");
    EXPECT_EQ(sends("{ dns(ans(addr(1.2.3.4))) }").substr(84),
              "00008000000000010000000000000100010000000"
              "1000401020304");
    EXPECT_EQ(sends("{ dns(ans(name=\"a\",ttl=7,class=3,len=3,type=5)) }").substr(84),
              "00008000000000010000000001610000050003000000070003");
    EXPECT_EQ(sends("{ dns(ans(name=\"a\",len=2,data=\"abc\")) }").substr(84),
              "0000800000000001000000000161000000000100000001000261626300");
    EXPECT_EQ(sends("{ dns(qr=0,ans(name=\"a\")) }").substr(84),
              "00000000000000010000000001610000000001000000010000");
    EXPECT_EQ(sends("{ dns(qr=0, auth(ns(\"q\"), class=3, ttl=7)) }").substr(84),
              "0000000000000000000100000000020003000000070003017100");
}

TEST(Trafgen, calculates_with_signed_numbers_of_64_bits_as_trafgen_does) {
    EXPECT_EQ(
        sends("{ c8(-5 / 2), c16(7 - 10 / 3), c64(1 << 70), c64(-1 >> 1), c64(1 << 64), c64(1<<(0-1)), "
              "c64(-7 % 3), c64(5 << 63), c64(-8>>70) }"),
        "feffff0000000000000040ffffffffffffffff00000000000000018000000000000000ffffffffffffffff800000000000"
        "0000ffffffffffffffff");
    EXPECT_EQ(sends("{ c64((1 << 63) / -1), c8((1 << 63) % -1) }"), "800000000000000000");
    EXPECT_EQ(sends("#if -5 / 2 == -2 && -1 >> 1 == -1 && (1 << 63) % -1 == 0 && -7 % 3 == -1\n{ 1 "
                    "}\n#else\n{ 2 }\n#endif"),
              "01");
}

TEST(Trafgen, header_functions_stand_anywhere_even_behind_raw_bytes) {
    const std::string inner =
        sends("{ eth(), ipv4(), udp(dp=4789), 8,0,0,0,0,0,42,0, eth(), ipv4(), udp(), 1 }");
    EXPECT_EQ(inner.size(), (14U + 28 + 8 + 14 + 28 + 1) * 2);
    EXPECT_EQ(inner.substr(32, 4), "004f");
    EXPECT_EQ(inner.substr(inner.size() - 62, 4 * 2), "08004500");
}

TEST(Trafgen, fields_vary_and_addresses_carry_through_all_their_bytes) {
    EXPECT_EQ(sends("{ udp(sport=dinc(1,13,2)) }", 8).substr(68, 4), "0001");
    const std::string ports = sends("{ udp(sport=65534, sport=dinc()) }", 4);
    for (const auto& [at, port] :
         std::map<std::size_t, std::string>{{0, "fffe"}, {1, "ffff"}, {2, "0000"}, {3, "0001"}})
        EXPECT_EQ(ports.substr(at * 85 + 68, 4), port);
    EXPECT_EQ(sends("{ ipv4(da=1.2.3.4, da[3]=dinc(250,255)), udp() }", 2).substr(60, 8), "010203fa");
    EXPECT_EQ(sends("{ eth(da=00:00:ff:ff:ff:ff, da=dinc()), udp() }", 2).substr(85, 12), "000100000000");
}

TEST(Trafgen, refuses_with_the_right_line_and_column) {
    EXPECT_EQ(refusal("{ fill(0,14), 1"), "t.cfg:1:1: this '{' has no '}'");
    EXPECT_EQ(refusal("/* 1\n 2 */\n{ 1,\n  0xaa0xbb }"),
              "t.cfg:4:3: \"0xaa0xbb\" is no number (0x1f, 0b101, 017, 42 or 'a')");
    EXPECT_EQ(refusal("{ 1, , 2 }"), "t.cfg:1:6: an element is missing between two commas");
    EXPECT_EQ(refusal("{\n udp(sp=70000) }"), "t.cfg:2:6: sp has 16 bits; the value does not fit");
    EXPECT_EQ(refusal("{ eth(), vlan(id=5000) }"), "t.cfg:1:15: id has 12 bits; the value does not fit");
    EXPECT_EQ(refusal("{ ipv4(dadr=1.2.3.4) }"), "t.cfg:1:8: ip4() has no field dadr");
    EXPECT_EQ(refusal("{ ipv4(da=1.2.3.400) }"), "t.cfg:1:11: \"1.2.3.400\" is no address");
    EXPECT_NE(refusal("{ eth(da=aa-bb-cc-dd-ee-ff) }").find("t.cfg:1:"), std::string::npos);
    EXPECT_EQ(refusal("{ c8(1/0) }"), "t.cfg:1:7: division by zero");
    EXPECT_EQ(refusal("{ dns(ans(name=\"a\",\n data=5)) }"),
              "t.cfg:2:2: data is a text; addr(), ns(), cname() and ptr() give others");
    EXPECT_EQ(refusal("{ dns(qry(nome=\"a.b\")) }"),
              "t.cfg:1:11: nome is no part of qry(): it takes name, type and class");
    EXPECT_NE(refusal("{ dns(ans(type=16, \"abc\")) }").find("a value without a name is no part of ans()"),
              std::string::npos);
    EXPECT_NE(refusal("{ dns(qry(name=5)) }").find("name is a text"), std::string::npos);
    EXPECT_NE(refusal("{ dns(ans(addr(\"a\"))) }").find("one IPv4 or IPv6 address"), std::string::npos);
    EXPECT_NE(refusal("{ dns(ans(ttl=4294967296)) }").find("32 bits"), std::string::npos);
    EXPECT_NE(refusal("{ fill(0,7+7) }").find("t.cfg:1:11: "), std::string::npos);
    EXPECT_NE(refusal("{ rnd() }").find("rnd() takes 1 arguments"), std::string::npos);
    EXPECT_NE(refusal("{ 1, csumip(9, 40) }").find("t.cfg:1:6: the checksum covers bytes beyond"),
              std::string::npos);
    EXPECT_NE(refusal("{ ipv4(ihl=6), tcp(), 1,2,3,4 }").find("options must follow ipv4()"),
              std::string::npos);
    EXPECT_EQ(refusal("{ ipv4(ihl=6), 1,1,1,1, udp() }"), "accepted");
    EXPECT_NE(refusal("$P0 {\n1 }").find("t.cfg:1:1: a packet begins with"), std::string::npos);
    EXPECT_NE(refusal("{ nosuch(1) }").find("unknown function nosuch()"), std::string::npos);
    EXPECT_NE(refusal("").find("no packet"), std::string::npos);
    EXPECT_NE(refusal("{}").find("the packet is empty"), std::string::npos);
    EXPECT_NE(refusal("#if 1\n{ 1 }").find("t.cfg:1:1: this #if has no #endif"), std::string::npos);
    EXPECT_NE(refusal("#include <nope.h>\n{ 1 }").find("t.cfg:1:1: cannot include nope.h"),
              std::string::npos);
    EXPECT_NE(refusal("\n#error no\n{ 1 }").find("t.cfg:2:1: #error no"), std::string::npos);
    EXPECT_NE(refusal("#define F(a) F2(a) F2(a)\n#define F2(a) F3(a) F3(a)\n#define F3(a) a a\n{ F(1,2) }")
                  .find("F takes 1 arguments"),
              std::string::npos);
}

TEST(Trafgen, cpu_ranges_are_told) {
    const TrafgenFile file = parse_trafgen("cpu(3-1): { 1 }\ncpu(2): { 2 } { 3 }", "t");
    ASSERT_EQ(file.packets.size(), 3U);
    EXPECT_EQ(file.packets[0].cpus, (std::pair<std::uint32_t, std::uint32_t>{1, 3}));
    EXPECT_FALSE(file.packets[2].cpus);
}

TEST(Trafgen, survives_what_is_cut_or_mangled) {
    const std::string whole =
        "#define A(x) c16(x)\n{ eth(da=dinc()), vlan(id=5), ipv4(da[1:2]=drnd()), udp(sp=dinc(1,2)), A(5), "
        "csumip(14,33), "
        "\"abc\", dns(qry(name=\"a\")) }\n";
    for (std::size_t length = 0; length < whole.size(); ++length) refusal(whole.substr(0, length));
    std::uint32_t random = 1;
    for (int round = 0; round < 3000; ++round) {
        std::string mangled = whole;
        for (int i = 0; i < 3; ++i) {
            random = random * 1664525 + 1013904223;
            mangled[(random >> 8) % mangled.size()] = static_cast<char>(random >> 25);
        }
        refusal(mangled);
    }
}

}  // namespace
}  // namespace volley::imports
