#include <gtest/gtest.h>

#include <set>

#include "checker.h"
#include "models.h"

namespace volley::packet {
namespace {

using enum HeaderKind;

std::string first_packet(const PacketModel& model) {
    const auto packet = built(model);
    return packet == nullptr ? "" : hex(bytes_of(*packet, 0));
}

std::string zeros(std::size_t bytes) {
    return std::string(bytes * 2, '0');
}

TEST(Build, fills_in_all_that_an_empty_body_leaves_out) {
    EXPECT_EQ(first_packet(packet({header(eth), header(ipv4), header(udp)})),
              "020000000002020000000001"
              "0800"
              "4500001c000000004011eea9"
              "c6120001c6130001"
              "0400000900086fad" +
                  zeros(18));
}

TEST(Build, gives_the_ipv4_checksum_of_the_textbook_header) {
    auto model = packet(
        {header(eth),
         header(ipv4, {{"flags", literal(2)}, {"src", literal(0xc0a80001)}, {"dst", literal(0xc0a800c7)}}),
         header(udp)});
    model = sized(std::move(model), literal(14 + 0x73 + 4));
    EXPECT_EQ(first_packet(model).substr(28, 40), "45000073000040004011b861c0a80001c0a800c7");
}

TEST(Build, stacks_tags_between_the_addresses_and_the_type) {
    const auto bytes = first_packet(packet(
        {header(eth), header(vlan, {{"tpid", literal(0x88a8)}, {"id", literal(7)}, {"pcp", literal(3)}}),
         header(vlan, {{"id", literal(4095)}, {"dei", literal(1)}}), header(ipv4)}));
    EXPECT_EQ(bytes.substr(24, 24), "88a8600781001fff08004500");
}

TEST(Build, takes_any_depth_of_tags) {
    std::vector<HeaderModel> headers{header(eth)};
    for (unsigned i = 0; i < 100; ++i) headers.push_back(header(vlan, {{"id", literal(i)}}));
    headers.push_back(header(ipv6));
    const auto packet_bytes = bytes_of(*built(packet(headers)), 0);
    EXPECT_EQ(packet_bytes.size(), 12U + 400 + 2 + 40);
    EXPECT_EQ(packet_bytes[12 + 400], 0x86);
}

TEST(Build, sets_the_bottom_of_an_mpls_stack_on_its_last_label) {
    const auto bytes = first_packet(packet(
        {header(eth), header(mpls, {{"label", literal(17)}, {"tc", literal(1)}, {"ttl", literal(255)}}),
         header(mpls, {{"label", literal(2000)}, {"ttl", literal(12)}}), header(ipv4)}));
    EXPECT_EQ(bytes.substr(24, 22), "8847000112ff007d010c45");
}

TEST(Build, asks_by_arp_with_the_ports_own_address) {
    auto result = build(packet({header(eth), header(arp)}), Value{0x0a0b0c0d0e0f});
    const auto bytes = hex(bytes_of(*std::get<0>(result), 0));
    EXPECT_EQ(bytes,
              "ffffffffffff0a0b0c0d0e0f0806"
              "0001080006040001"
              "0a0b0c0d0e0fc6120001000000000000c6130001" +
                  zeros(18));
}

TEST(Build, addresses_multicast_groups_by_their_mac) {
    EXPECT_EQ(first_packet(packet({header(eth), header(ipv4, {{"dst", literal(0xe0810105)}})})).substr(0, 12),
              "01005e010105");
    const Value group = Value{0xff02} << 112 | 0x1ff00012;
    EXPECT_EQ(first_packet(packet({header(eth), header(vlan), header(ipv6, {{"dst", literal(group)}})}))
                  .substr(0, 12),
              "33331ff00012");
}

TEST(Build, puts_options_inside_the_header_length_and_the_checksum) {
    const auto bytes =
        bytes_of(*built(packet({header(eth), with_options(header(ipv4), {0x94, 4, 0, 0, 1}),
                                with_options(header(tcp), {2, 4, 5, 0xb4, 1}), raw_bytes({1, 2, 3})})),
                 0);
    EXPECT_EQ(bytes[14], 0x47);
    EXPECT_EQ(bytes[14 + 28 + 12] >> 4, 7);
    EXPECT_EQ(bytes.size(), 14U + 28 + 28 + 3);
    const Checker checker(bytes, {{eth}, {ipv4}, {tcp}, {HeaderKind::raw, 3}});
    EXPECT_TRUE(checker.complaints().empty());
}

TEST(Build, nests_a_whole_stack_in_vxlan) {
    const auto bytes =
        first_packet(packet({header(eth), header(ipv4), header(udp), header(vxlan, {{"vni", literal(42)}}),
                             header(eth), header(ipv4), header(udp)}));
    EXPECT_EQ(bytes.substr(68 + 4, 4), "12b5");           // destination port 4789
    EXPECT_EQ(bytes.substr(84, 16), "0800000000002a00");  // flags, VNI
    EXPECT_EQ(bytes.substr(100, 28), "0200000000020200000000010800");
}

TEST(Build, has_a_gre_key_only_when_it_is_given) {
    EXPECT_EQ(first_packet(packet({header(eth), header(ipv4), header(gre), header(ipv6)})).substr(68, 10),
              "000086dd60");
    EXPECT_EQ(
        first_packet(packet({header(eth), header(ipv4), header(gre, {{"key", literal(9)}}), header(eth)}))
            .substr(68, 16),
        "2000655800000009");
}

TEST(Build, pads_short_frames_outside_the_ip_length_and_only_when_told) {
    auto model = packet({header(eth), header(ipv4), header(udp), raw_bytes({0xaa})});
    auto bytes = bytes_of(*built(model), 0);
    EXPECT_EQ(bytes.size(), 60U);
    EXPECT_EQ(bytes[17], 29);
    model.pad = false;
    bytes = bytes_of(*built(model), 0);
    EXPECT_EQ(bytes.size(), 43U);
    EXPECT_EQ(bytes[17], 29);
}

TEST(Build, counts_the_fcs_in_the_frame_size) {
    const auto packet_64 = built(sized(packet({header(eth), header(ipv4)}), literal(64)));
    EXPECT_EQ(packet_64->fixed_length(), 60);
    EXPECT_EQ(packet_64->mean_l2_bytes(), (Rational{64, 1}));
    EXPECT_EQ(bytes_of(*packet_64, 0)[17], 46);
    EXPECT_EQ(built(sized(packet({header(eth)}), literal(9216)))->longest(), 9212);
}

TEST(Build, sends_the_blackhole_run_as_raw_bytes) {
    const auto packet_ff = built(packet({raw_bytes(std::vector<std::uint8_t>(64, 0xff))}));
    EXPECT_TRUE(packet_ff->constant());
    EXPECT_EQ(packet_ff->fixed_length(), 64);
    EXPECT_EQ(bytes_of(*packet_ff, 7), std::vector<std::uint8_t>(64, 0xff));
}

TEST(Build, fills_the_payload_with_a_pattern_or_bytes) {
    auto model = sized(packet({header(eth)}), literal(64));
    model.payload.bytes = {1, 2, 3};
    EXPECT_EQ(first_packet(model).substr(28, 20), "01020301020301020301");
    model.payload.kind = Payload::Kind::bytes;
    EXPECT_EQ(first_packet(model).substr(28, 10), "0102030000");
    model.frame_size.reset();
    model.pad = false;
    EXPECT_EQ(first_packet(model).substr(28), "010203");
}

TEST(Build, forces_what_says_how_long_a_header_is_and_of_which_kind) {
    const auto forced = [](HeaderModel model) {
        return bytes_of(*built(packet({header(eth), std::move(model)})), 0);
    };
    EXPECT_EQ(forced(header(ipv4, {{"version", literal(6)}, {"ihl", literal(15)}}))[14], 0x6f);
    EXPECT_EQ(forced(header(ipv6, {{"version", literal(4)}}))[14], 0x40);
    EXPECT_EQ(hex(forced(header(arp, {{"hardware_type", literal(6)},
                                      {"protocol_type", literal(0x86dd)},
                                      {"hardware_length", literal(8)},
                                      {"protocol_length", literal(16)}})))
                  .substr(28, 12),
              "000686dd0810");
    const auto tcp_bytes =
        bytes_of(*built(packet({header(eth), header(ipv4), header(tcp, {{"data_offset", literal(2)}})})), 0);
    EXPECT_EQ(tcp_bytes[46], 0x20);
    const auto gre_bytes = bytes_of(
        *built(packet({header(eth), header(ipv4),
                       header(gre, {{"flags", literal(0x1000)}, {"version", literal(1)}}), header(ipv4)})),
        0);
    EXPECT_EQ(gre_bytes[34], 0x80);
    EXPECT_EQ(gre_bytes[35], 0x01);
    const auto gtp = bytes_of(
        *built(packet(
            {header(eth), header(ipv4), header(udp),
             header(gtpu, {{"flags", literal(0x32)}, {"type", literal(1)}, {"length", literal(0xbeef)}}),
             header(ipv4)})),
        0);
    EXPECT_EQ(hex(gtp).substr(84, 8), "3201beef");
}

TEST(Build, sends_whatever_wrong_value_it_is_given) {
    const auto bytes = first_packet(packet(
        {header(eth, {{"type", literal(0x1234)}}),
         header(ipv4,
                {{"checksum", literal(0xdead)}, {"total_length", literal(1)}, {"protocol", literal(6)}}),
         header(udp, {{"checksum", literal(0)}, {"length", literal(3)}})}));
    EXPECT_EQ(bytes.substr(24, 4), "1234");
    EXPECT_EQ(bytes.substr(32, 4), "0001");
    EXPECT_EQ(bytes.substr(46, 2), "06");
    EXPECT_EQ(bytes.substr(48, 4), "dead");
    EXPECT_EQ(bytes.substr(76, 8), "00030000");
}

/// The payload makes the sum come out as ffff, whose complement is zero.
TEST(Build, sends_a_computed_udp_checksum_of_zero_as_ffff) {
    const auto ip = header(ipv4, {{"src", literal(0x0a000001)}, {"dst", literal(0x0a000002)}});
    const auto ports = header(udp, {{"src", literal(1000)}, {"dst", literal(2000)}});
    EXPECT_EQ(first_packet(packet({header(eth), ip, ports, raw_bytes({0xe0, 0x1f})})).substr(80, 8),
              "ffffe01f");
    auto varying =
        packet({header(eth), ip, header(udp, {{"src", increment(1000, 1001)}, {"dst", literal(2000)}}),
                raw_bytes({0xe0, 0x1f})});
    EXPECT_EQ(first_packet(varying).substr(80, 4), "ffff");
    varying.frame_size = size_of(increment(64, 65));
    varying.headers.back().raw = {0xe0 - 0x20 + 0, 0x1f};
    EXPECT_TRUE(Checker(bytes_of(*built(varying), 0),
                        {{eth}, {HeaderKind::ipv4}, {HeaderKind::udp}, {HeaderKind::raw, 2}})
                    .complaints()
                    .empty());
}

TEST(Build, gives_each_template_a_content_id_of_its_own) {
    std::set<std::uint32_t> ids{0};
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(ids.insert(built(packet({header(eth)}))->content_id()).second);
}

TEST(Build, computes_raw_checksums_over_raw_programs) {
    auto ip = raw_bytes({0x45, 0, 0,  0x1c, 0, 0, 0, 0, 64, 17, 0xff, 0xff, 10,   0,
                         0,    1, 10, 0,    0, 2, 4, 0, 0,  9,  0,    8,    0xff, 0xff});
    ip.programs.push_back({12, 4, increment(0x0a0000f0, 0x0a000200)});
    ip.programs.push_back({1, 1, list({0, 4, 8})});
    ip.checksums.push_back({10, 14, 34, RawChecksum::Pseudo::none, 0, 0});
    ip.checksums.push_back({26, 34, std::nullopt, RawChecksum::Pseudo::ipv4, 14, 17});
    const auto frame = built(packet({header(eth, {{"type", literal(0x0800)}}), ip}));
    for (std::uint64_t i = 0; i < 300; ++i) {
        const Checker checker(bytes_of(*frame, i), {{eth}, {ipv4}, {udp}});
        ASSERT_TRUE(checker.complaints().empty()) << checker.complaints().front() << i;
    }
}

TEST(Build, keeps_bytes_behind_extension_headers_in_the_checksum) {
    const auto bytes = bytes_of(*built(packet({header(eth), header(ipv6, {{"next_header", literal(0)}}),
                                               raw_bytes({0x3a, 0, 5, 2, 0, 0, 0, 0}), header(icmpv6)})),
                                0);
    const Checker checker(bytes, {{eth}, {ipv6}, {HeaderKind::raw, 8}, {icmpv6}});
    EXPECT_TRUE(checker.complaints().empty());
}

}  // namespace
}  // namespace volley::packet
