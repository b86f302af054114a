#include "import/rewrite.h"

#include <gtest/gtest.h>

#include "import/capture_file.h"
#include "import/dissect.h"
#include "packet/template.h"

namespace volley::imports {
namespace {

using packet::HeaderKind;
using packet::Program;

/// Slow and plain: the one's complement sum of 16-bit words, big-endian.
unsigned sum(std::span<const std::uint8_t> bytes, unsigned start = 0) {
    std::uint64_t total = start;
    for (std::size_t i = 0; i < bytes.size(); i += 2) {
        total += bytes[i] * 256U + (i + 1 < bytes.size() ? bytes[i + 1] : 0U);
    }
    while (total >> 16 != 0) total = (total & 0xffff) + (total >> 16);
    return static_cast<unsigned>(total);
}

bool ipv4_header_is_right(std::span<const std::uint8_t> frame, std::size_t ip) {
    return sum(frame.subspan(ip, (frame[ip] & 15U) * 4U)) == 0xffff;
}

bool transport_is_right(std::span<const std::uint8_t> frame, std::size_t ip) {
    const std::size_t header = (frame[ip] & 15U) * 4U;
    const std::size_t length = frame[ip + 2] * 256U + frame[ip + 3] - header;
    const unsigned pseudo = sum(frame.subspan(ip + 12, 8), frame[ip + 9] + static_cast<unsigned>(length));
    return sum(frame.subspan(ip + header, length), pseudo) == 0xffff;
}

packet::HeaderModel header(HeaderKind kind, std::vector<packet::FieldValue> fields = {}) {
    packet::HeaderModel out;
    out.kind = kind;
    out.fields = std::move(fields);
    return out;
}

Program literal(packet::Value value) {
    Program out;
    out.from = value;
    return out;
}

/// Ethernet, two tags, IPv4, UDP and 3 bytes of payload, by our own builder.
Bytes frame_of(bool tcp, std::size_t trailer = 0) {
    packet::PacketModel model;
    model.headers = {header(HeaderKind::eth), header(HeaderKind::vlan), header(HeaderKind::ipv4),
                     header(tcp ? HeaderKind::tcp : HeaderKind::udp)};
    model.payload.kind = packet::Payload::Kind::bytes;
    model.payload.bytes = {1, 2, 3};
    model.pad = false;
    auto built = packet::build(model);
    const auto& packet = *std::get<0>(built);
    Bytes frame(packet.longest());
    packet.write(0, frame.data());
    frame.insert(frame.end(), trailer, 0x55);
    return frame;
}

Capture capture_of(const std::vector<Bytes>& frames) {
    Capture capture;
    for (const Bytes& frame : frames) {
        capture.frames.push_back({capture.bytes.size(), static_cast<std::uint32_t>(frame.size()), 0, 0});
        capture.bytes.insert(capture.bytes.end(), frame.begin(), frame.end());
    }
    return capture;
}

packet::LayerField field(const std::string& layer, HeaderKind kind, std::string_view name, Program program) {
    return {layer, packet::find_field(kind, name), std::move(program)};
}

TEST(Dissect, finds_layers_at_their_offsets_and_ends_them_before_the_padding) {
    const Dissected found = dissect(frame_of(false, 10));
    ASSERT_EQ(found.layers.size(), 4U);
    EXPECT_EQ(found.layers[0].type_at, 16U);
    EXPECT_EQ(found.layers[1].offset, 12U);
    EXPECT_EQ(found.layers[2].offset, 18U);
    EXPECT_EQ(found.layers[2].end, 18U + 20 + 8 + 3);
    EXPECT_EQ(found.layers[3].name, "udp");
    ASSERT_EQ(found.checksums.size(), 2U);
    EXPECT_TRUE(found.checksums[1].whole);
}

TEST(Dissect, never_reads_beyond_a_frame_however_it_is_cut_or_mangled) {
    const Bytes whole = frame_of(true, 4);
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        for (const FoundChecksum& sum : dissect(cut).checksums) {
            EXPECT_LE(sum.sum.offset + 2U, length);
            EXPECT_LE(*sum.sum.to, length);
        }
    }
    std::uint32_t random = 1;
    for (int round = 0; round < 20'000; ++round) {
        Bytes mangled = whole;
        for (int i = 0; i < 3; ++i) {
            random = random * 1664525 + 1013904223;
            mangled[(random >> 8) % mangled.size()] = static_cast<std::uint8_t>(random >> 24);
        }
        for (const FoundChecksum& sum : dissect(mangled).checksums) ASSERT_LE(*sum.sum.to, mangled.size());
    }
}

TEST(Rewrite, of_addresses_and_ports_makes_the_checksums_follow) {
    for (const bool tcp : {false, true}) {
        Capture capture = capture_of({frame_of(tcp), frame_of(tcp, 7)});
        const auto kind = tcp ? HeaderKind::tcp : HeaderKind::udp;
        const std::vector<packet::LayerField> rewrites{
            field("ipv4", HeaderKind::ipv4, "dst", literal(0x0a0b0c0d)),
            field(tcp ? "tcp" : "udp", kind, "dst", literal(4242)),
            field("vlan", HeaderKind::vlan, "id", literal(681)),
            field("mpls", HeaderKind::mpls, "label", literal(1))};
        EXPECT_EQ(rewrite(capture, rewrites), (std::vector<std::uint64_t>{2, 2, 2, 0}));
        for (std::size_t i = 0; i < 2; ++i) {
            const auto frame = capture.frame(i);
            EXPECT_TRUE(ipv4_header_is_right(frame, 18));
            EXPECT_TRUE(transport_is_right(frame, 18));
            EXPECT_EQ(frame[14] * 256 + frame[15], 681);
            EXPECT_EQ(frame[18 + 16], 10);
        }
        EXPECT_EQ(capture.frame(1).back(), 0x55) << "padding is no part of the packet";
    }
}

TEST(Rewrite, leaves_alone_what_nothing_touches_and_checksums_that_say_none) {
    Bytes wrong = frame_of(true);
    wrong[18 + 20 + 16] ^= 1;
    Bytes none = frame_of(false);
    none[18 + 20 + 6] = none[18 + 20 + 7] = 0;
    Capture capture = capture_of({wrong, none});
    rewrite(capture, std::vector{field("eth", HeaderKind::eth, "dst", literal(5))});
    EXPECT_FALSE(transport_is_right(capture.frame(0), 18)) << "a wrong checksum stays as captured";
    rewrite(capture, std::vector{field("ipv4", HeaderKind::ipv4, "src", literal(5))});
    EXPECT_TRUE(transport_is_right(capture.frame(0), 18));
    EXPECT_EQ(capture.frame(1)[18 + 20 + 6] + capture.frame(1)[18 + 20 + 7], 0);
}

TEST(Rewrite, of_a_fragment_updates_the_datagrams_checksum_by_the_difference) {
    // The datagram is four bytes longer than its first fragment: the last bytes are taken away.
    packet::PacketModel model;
    model.headers = {header(HeaderKind::eth), header(HeaderKind::ipv4), header(HeaderKind::udp)};
    model.payload.kind = packet::Payload::Kind::bytes;
    model.payload.bytes = Bytes(20, 0xab);
    model.pad = false;
    const auto built = std::get<0>(packet::build(model)).release();
    const std::unique_ptr<const packet::PacketTemplate> owner(built);
    Bytes whole(built->longest());
    built->write(0, whole.data());
    Bytes fragment(whole.begin(), whole.end() - 4);
    fragment[17] = static_cast<std::uint8_t>(fragment[17] - 4);
    fragment[20] = 0x20;  // more fragments
    Capture capture = capture_of({fragment, whole});
    rewrite(capture, std::vector{field("ipv4", HeaderKind::ipv4, "dst", literal(0xc0a80101))});
    EXPECT_TRUE(ipv4_header_is_right(capture.frame(0), 14));
    EXPECT_TRUE(transport_is_right(capture.frame(1), 14));
    EXPECT_EQ(capture.frame(0)[40], capture.frame(1)[40]);
    EXPECT_EQ(capture.frame(0)[41], capture.frame(1)[41]);
}

/// Ethernet, IPv6, a routing header of two addresses with one segment left, UDP and 3 bytes.
Bytes routed(packet::Value src, packet::Value dst, std::uint8_t type) {
    const auto find = [](HeaderKind kind, const char* name) { return packet::find_field(kind, name); };
    packet::PacketModel model;
    model.headers = {header(HeaderKind::eth),
                     header(HeaderKind::ipv6, {{find(HeaderKind::ipv6, "src"), literal(src)},
                                               {find(HeaderKind::ipv6, "dst"), literal(dst)}}),
                     header(HeaderKind::ipv6_routing,
                            {{find(HeaderKind::ipv6_routing, "segments_left"), literal(1)},
                             {find(HeaderKind::ipv6_routing, "type"), literal(type == 4 ? 4 : 0)}}),
                     header(HeaderKind::udp)};
    Bytes data(4 + 2 * 16);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(3 * i);
    model.headers[2].bytes.emplace_back(find(HeaderKind::ipv6_routing, "data"), data);
    model.payload.kind = packet::Payload::Kind::bytes;
    model.payload.bytes = {1, 2, 3};
    auto built = packet::build(model);
    const auto& packet = *std::get<0>(built);
    Bytes frame(packet.longest());
    packet.write(0, frame.data());
    frame[14 + 40 + 2] = type;
    return frame;
}

TEST(Rewrite, behind_a_routing_header_sums_the_address_where_the_packet_ends) {
    for (const std::uint8_t type : {std::uint8_t{0}, std::uint8_t{3}, std::uint8_t{4}}) {
        Capture capture = capture_of({routed(1, 2, type)});
        rewrite(capture, std::vector{field("ipv6", HeaderKind::ipv6, "dst", literal(9))});
        EXPECT_TRUE(std::ranges::equal(capture.frame(0), routed(1, 9, type))) << "type " << int{type};
        rewrite(capture, std::vector{field("ipv6", HeaderKind::ipv6, "src", literal(7))});
        EXPECT_TRUE(std::ranges::equal(capture.frame(0), routed(7, 9, type))) << "type " << int{type};
        if (type == 3) continue;  // of a type that does not tell it, a checksum follows literals only
        Program program = literal(7);
        program.kind = Program::Kind::increment;
        program.to = 8;
        std::vector<std::uint64_t> found(1);
        auto built = packet::build(model_of(
            routed(1, 2, type), std::vector{field("ipv6", HeaderKind::ipv6, "src", program)}, found));
        ASSERT_EQ(built.index(), 0U);
        Bytes frame(std::get<0>(built)->longest());
        std::get<0>(built)->write(1, frame.data());
        EXPECT_EQ(frame, routed(8, 2, type)) << "type " << int{type};
    }
}

TEST(Rewrite, with_programs_makes_a_model_whose_every_packet_is_right) {
    Program address;
    address.kind = Program::Kind::increment;
    address.from = 0x0a000001;
    address.to = 0x0a0000ff;
    Program tag;
    tag.kind = Program::Kind::increment;
    tag.from = 1;
    tag.to = 4095;
    const std::vector<packet::LayerField> rewrites{field("ipv4", HeaderKind::ipv4, "src", address),
                                                   field("vlan", HeaderKind::vlan, "id", tag)};
    std::vector<std::uint64_t> found(2);
    auto model = model_of(frame_of(false, 9), rewrites, found);
    EXPECT_EQ(found, (std::vector<std::uint64_t>{1, 1}));
    auto built = packet::build(model);
    ASSERT_EQ(built.index(), 0U) << std::get<1>(built).front().text;
    const auto& packet = *std::get<0>(built);
    Bytes frame(packet.longest());
    for (const std::uint64_t i : {0U, 1U, 254U, 255U, 5000U}) {
        packet.write(i, frame.data());
        EXPECT_TRUE(ipv4_header_is_right(frame, 18));
        EXPECT_TRUE(transport_is_right(frame, 18));
        EXPECT_EQ(frame[18 + 15], i % 255 + 1);
        EXPECT_EQ(frame[14] * 256U + frame[15], i % 4095 + 1);
    }
}

TEST(Rewrite, over_the_corpus_keeps_every_whole_checksum_right) {
    const char* corpus = std::getenv("VOLLEY_CORPUS");
    if (corpus == nullptr) GTEST_SKIP() << "VOLLEY_CORPUS names no folder";
    for (const char* name :
         {"tcpreplay_test.pcap", "tcpreplay_fragroute.pcap", "vxlan.pcap", "dns_tcp.pcap"}) {
        Capture capture = read_capture(std::filesystem::path(corpus) / "pcap" / name);
        rewrite(capture, std::vector{field("ipv4", HeaderKind::ipv4, "dst", literal(0x0a0b0c0d))});
        for (std::size_t i = 0; i < capture.frames.size(); ++i) {
            const auto frame = capture.frame(i);
            const Dissected found = dissect(frame);
            for (const auto& layer : found.layers) {
                if (layer.name != "ipv4") continue;
                EXPECT_TRUE(ipv4_header_is_right(frame, layer.offset)) << name << ' ' << i;
                const bool fragment = ((frame[layer.offset + 6] & 0x3f) | frame[layer.offset + 7]) != 0;
                const auto protocol = frame[layer.offset + 9];
                const bool unsummed =
                    protocol == 17 && frame[layer.offset + 26] + frame[layer.offset + 27] == 0;
                if (fragment || unsummed || (protocol != 6 && protocol != 17)) continue;
                EXPECT_TRUE(transport_is_right(frame, layer.offset)) << name << ' ' << i;
            }
        }
    }
}

}  // namespace
}  // namespace volley::imports
