#include "packet/fields.h"

#include <algorithm>
#include <array>

namespace volley::packet {
namespace {

using enum HeaderKind;
using T = FieldType;

// In the order of the kinds.
constexpr std::array<std::string_view, header_kinds> names{"eth",
                                                           "vlan",
                                                           "mpls",
                                                           "arp",
                                                           "ipv4",
                                                           "ipv6",
                                                           "udp",
                                                           "tcp",
                                                           "icmp",
                                                           "icmpv6",
                                                           "gre",
                                                           "vxlan",
                                                           "gtpu",
                                                           "ipv6_hop_by_hop",
                                                           "ipv6_routing",
                                                           "ipv6_fragment",
                                                           "ipv6_destination",
                                                           "sctp",
                                                           "sctp_data",
                                                           "geneve",
                                                           "pppoe",
                                                           "pppoe_discovery",
                                                           "pause",
                                                           "pfc",
                                                           "dns",
                                                           "raw"};
constexpr auto kinds = [] {
    std::array<HeaderKind, header_kinds> out{};
    for (std::size_t i = 0; i < header_kinds; ++i) out[i] = static_cast<HeaderKind>(i);
    return out;
}();
static_assert(static_cast<std::size_t>(raw) + 1 == header_kinds);

constexpr std::array fields{
    FieldInfo{eth, "dst", 0, 48, T::mac,
              "02:00:00:00:00:02; broadcast for arp, the group's for a constant IP multicast",
              "destination MAC address (IEEE 802.3 clause 3)"},
    FieldInfo{eth, "src", 48, 48, T::mac, "the port's; 02:00:00:00:00:01 without a port",
              "source MAC address (IEEE 802.3 clause 3)"},
    FieldInfo{eth, "type", 96, 16, T::number,
              "from the header that follows, else 0x88b5 (local experimental)",
              "EtherType of the payload, behind the VLAN tags (IEEE 802.3 clause 3, IEEE 802)"},

    FieldInfo{vlan, "tpid", 0, 16, T::number, "0x8100", "tag protocol identifier (IEEE 802.1Q clause 9)"},
    FieldInfo{vlan, "pcp", 16, 3, T::number, "0", "priority code point (IEEE 802.1Q clause 9)"},
    FieldInfo{vlan, "dei", 19, 1, T::number, "0", "drop eligible indicator (IEEE 802.1Q clause 9)"},
    FieldInfo{vlan, "id", 20, 12, T::number, "1", "VLAN identifier (IEEE 802.1Q clause 9)"},

    FieldInfo{mpls, "label", 0, 20, T::number, "16", "label; 0 to 15 are reserved (RFC 3032 section 2.1)"},
    FieldInfo{mpls, "tc", 20, 3, T::number, "0", "traffic class (RFC 5462)"},
    FieldInfo{mpls, "bottom", 23, 1, T::number, "1 on the last label of a stack, else 0",
              "bottom of stack (RFC 3032 section 2.1)"},
    FieldInfo{mpls, "ttl", 24, 8, T::number, "64", "time to live (RFC 3032 section 2.1)"},

    FieldInfo{arp, "hardware_type", 0, 16, T::number, "1 (Ethernet)", "hardware address space (RFC 826)"},
    FieldInfo{arp, "protocol_type", 16, 16, T::number, "0x0800 (IPv4)", "protocol address space (RFC 826)"},
    FieldInfo{arp, "hardware_length", 32, 8, T::number, "6", "bytes of a hardware address (RFC 826)"},
    FieldInfo{arp, "protocol_length", 40, 8, T::number, "4", "bytes of a protocol address (RFC 826)"},
    FieldInfo{arp, "operation", 48, 16, T::number, "1", "1 request, 2 reply (RFC 826)"},
    FieldInfo{arp, "sender_mac", 64, 48, T::mac, "as a constant eth src",
              "sender hardware address (RFC 826)"},
    FieldInfo{arp, "sender_ip", 112, 32, T::ipv4, "198.18.0.1", "sender protocol address (RFC 826)"},
    FieldInfo{arp, "target_mac", 144, 48, T::mac, "00:00:00:00:00:00", "target hardware address (RFC 826)"},
    FieldInfo{arp, "target_ip", 192, 32, T::ipv4, "198.19.0.1", "target protocol address (RFC 826)"},

    FieldInfo{ipv4, "version", 0, 4, T::number, "4", "version (RFC 791 section 3.1)"},
    FieldInfo{ipv4, "ihl", 4, 4, T::number, "5, and one for 4 bytes of options",
              "header length in units of 4 bytes (RFC 791 section 3.1)"},
    FieldInfo{ipv4, "dscp", 8, 6, T::number, "0", "differentiated services code point (RFC 2474)"},
    FieldInfo{ipv4, "ecn", 14, 2, T::number, "0", "explicit congestion notification (RFC 3168)"},
    FieldInfo{ipv4, "total_length", 16, 16, T::number, "bytes from this header to the end, without padding",
              "total length (RFC 791 section 3.1)"},
    FieldInfo{ipv4, "id", 32, 16, T::number, "0", "identification (RFC 791 section 3.1, RFC 6864)"},
    FieldInfo{ipv4, "flags", 48, 3, T::number, "0",
              "2 do not fragment, 1 more fragments (RFC 791 section 3.1)"},
    FieldInfo{ipv4, "fragment_offset", 51, 13, T::number, "0",
              "offset in units of 8 bytes (RFC 791 section 3.1)"},
    FieldInfo{ipv4, "ttl", 64, 8, T::number, "64", "time to live (RFC 791 section 3.1)"},
    FieldInfo{ipv4, "protocol", 72, 8, T::number, "from the header that follows, else 253 (experimental)",
              "protocol (RFC 791 section 3.1)"},
    FieldInfo{ipv4, "checksum", 80, 16, T::number, "computed",
              "header checksum (RFC 791 section 3.1, RFC 1071)"},
    FieldInfo{ipv4, "src", 96, 32, T::ipv4, "198.18.0.1",
              "source address (RFC 791; default from RFC 2544 C.2.2)"},
    FieldInfo{ipv4, "dst", 128, 32, T::ipv4, "198.19.0.1",
              "destination address (RFC 791; default from RFC 2544 C.2.2)"},
    FieldInfo{ipv4, "options", 160, 0, T::bytes, "none",
              "options, zero-padded to 4 bytes, at most 40; counted in ihl (RFC 791 section 3.1)"},

    FieldInfo{ipv6, "version", 0, 4, T::number, "6", "version (RFC 8200 section 3)"},
    FieldInfo{ipv6, "traffic_class", 4, 8, T::number, "0", "traffic class (RFC 8200 section 7)"},
    FieldInfo{ipv6, "flow_label", 12, 20, T::number, "0", "flow label (RFC 6437)"},
    FieldInfo{ipv6, "payload_length", 32, 16, T::number, "bytes behind this header, without padding",
              "payload length (RFC 8200 section 3)"},
    FieldInfo{ipv6, "next_header", 48, 8, T::number,
              "from the header that follows; before raw 253 (experimental), before nothing 59",
              "next header (RFC 8200 section 3)"},
    FieldInfo{ipv6, "hop_limit", 56, 8, T::number, "64", "hop limit (RFC 8200 section 3)"},
    FieldInfo{ipv6, "src", 64, 128, T::ipv6, "2001:2::1", "source address (RFC 4291; default from RFC 5180)"},
    FieldInfo{ipv6, "dst", 192, 128, T::ipv6, "2001:2:0:1::1",
              "destination address (RFC 4291; default from RFC 5180)"},

    FieldInfo{udp, "src", 0, 16, T::number,
              "1024; before vxlan, geneve, mpls and gre a hash of the flow within, 49152 to 65535",
              "source port (RFC 768)"},
    FieldInfo{udp, "dst", 16, 16, T::number,
              "9 (discard); the port of a vxlan, geneve, gtpu, mpls, gre or dns that follows",
              "destination port (RFC 768)"},
    FieldInfo{udp, "length", 32, 16, T::number, "bytes from this header to the end, without padding",
              "length (RFC 768)"},
    FieldInfo{udp, "checksum", 48, 16, T::number, "computed; 0 is sent as 0xffff",
              "checksum, 0 for none over IPv4 (RFC 768, RFC 8200 section 8.1)"},

    FieldInfo{tcp, "src", 0, 16, T::number, "1024", "source port (RFC 9293 section 3.1)"},
    FieldInfo{tcp, "dst", 16, 16, T::number, "9 (discard)", "destination port (RFC 9293 section 3.1)"},
    FieldInfo{tcp, "seq", 32, 32, T::number, "0", "sequence number (RFC 9293 section 3.1)"},
    FieldInfo{tcp, "ack", 64, 32, T::number, "0", "acknowledgment number (RFC 9293 section 3.1)"},
    FieldInfo{tcp, "data_offset", 96, 4, T::number, "5, and one for 4 bytes of options",
              "header length in units of 4 bytes (RFC 9293 section 3.1)"},
    FieldInfo{tcp, "flags", 103, 9, T::flags, "ack", "control bits (RFC 9293 section 3.1; ae RFC 9768)"},
    FieldInfo{tcp, "window", 112, 16, T::number, "65535", "window (RFC 9293 section 3.1)"},
    FieldInfo{tcp, "checksum", 128, 16, T::number, "computed", "checksum (RFC 9293 section 3.1)"},
    FieldInfo{tcp, "urgent", 144, 16, T::number, "0", "urgent pointer (RFC 9293 section 3.1)"},
    FieldInfo{
        tcp, "options", 160, 0, T::bytes, "none",
        "options, zero-padded to 4 bytes, at most 40; counted in the data offset (RFC 9293 section 3.1)"},

    FieldInfo{icmp, "type", 0, 8, T::number, "8 (echo request)", "type (RFC 792)"},
    FieldInfo{icmp, "code", 8, 8, T::number, "0", "code (RFC 792)"},
    FieldInfo{icmp, "checksum", 16, 16, T::number, "computed", "checksum (RFC 792)"},
    FieldInfo{icmp, "id", 32, 16, T::number, "0", "identifier of an echo (RFC 792)"},
    FieldInfo{icmp, "seq", 48, 16, T::number, "0", "sequence number of an echo (RFC 792)"},

    FieldInfo{icmpv6, "type", 0, 8, T::number, "128 (echo request)", "type (RFC 4443 section 2.1)"},
    FieldInfo{icmpv6, "code", 8, 8, T::number, "0", "code (RFC 4443 section 2.1)"},
    FieldInfo{icmpv6, "checksum", 16, 16, T::number, "computed", "checksum (RFC 4443 section 2.3)"},
    FieldInfo{icmpv6, "id", 32, 16, T::number, "0", "identifier of an echo (RFC 4443 section 4.1)"},
    FieldInfo{icmpv6, "seq", 48, 16, T::number, "0", "sequence number of an echo (RFC 4443 section 4.1)"},

    FieldInfo{gre, "flags", 0, 13, T::number, "0x400 with a key, else 0",
              "the 13 bits before the version, 0x400 key present (RFC 2784 section 2.1, RFC 2890)"},
    FieldInfo{gre, "version", 13, 3, T::number, "0", "version (RFC 2784 section 2.3)"},
    FieldInfo{gre, "protocol", 16, 16, T::number, "from the header that follows, else 0x88b5",
              "EtherType of the payload (RFC 2784 section 2.4)"},
    FieldInfo{gre, "key", 32, 32, T::number, "absent: the header has no key", "key (RFC 2890 section 2.1)"},

    FieldInfo{vxlan, "flags", 0, 8, T::number, "8: the VNI is valid", "flags (RFC 7348 section 5)"},
    FieldInfo{vxlan, "vni", 32, 24, T::number, "1", "VXLAN network identifier (RFC 7348 section 5)"},

    FieldInfo{gtpu, "flags", 0, 8, T::number, "0x30: version 1, GTP, no optional part",
              "version, protocol type and flags (3GPP TS 29.281 section 5.1)"},
    FieldInfo{gtpu, "type", 8, 8, T::number, "255 (G-PDU)", "message type (3GPP TS 29.281 section 5.1)"},
    FieldInfo{gtpu, "length", 16, 16, T::number, "bytes behind the first 8, without padding",
              "length (3GPP TS 29.281 section 5.1)"},
    FieldInfo{gtpu, "teid", 32, 32, T::number, "1",
              "tunnel endpoint identifier (3GPP TS 29.281 section 5.1)"},

    FieldInfo{ipv6_hop_by_hop, "next_header", 0, 8, T::number, "as of ipv6",
              "next header (RFC 8200 section 4.3)"},
    FieldInfo{ipv6_hop_by_hop, "length", 8, 8, T::number, "from the options",
              "header length in 8 bytes, the first 8 not counted (RFC 8200 section 4.3)"},
    FieldInfo{ipv6_hop_by_hop, "options", 16, 0, T::bytes, "none",
              "options, padded by PadN to whole 8 bytes (RFC 8200 section 4.2)"},

    FieldInfo{ipv6_routing, "next_header", 0, 8, T::number, "as of ipv6",
              "next header (RFC 8200 section 4.4)"},
    FieldInfo{ipv6_routing, "length", 8, 8, T::number, "from the data",
              "header length in 8 bytes, the first 8 not counted (RFC 8200 section 4.4)"},
    FieldInfo{ipv6_routing, "type", 16, 8, T::number, "253 (experimental)",
              "routing type; 4 segment routing (RFC 8200 section 4.4, RFC 8754)"},
    FieldInfo{ipv6_routing, "segments_left", 24, 8, T::number, "0", "segments left (RFC 8200 section 4.4)"},
    FieldInfo{
        ipv6_routing, "data", 32, 0, T::bytes, "zeros",
        "what the type says, from the fifth byte on, zero-padded to whole 8 bytes (RFC 8200 section 4.4)"},

    FieldInfo{ipv6_fragment, "next_header", 0, 8, T::number, "as of ipv6",
              "next header (RFC 8200 section 4.5)"},
    FieldInfo{ipv6_fragment, "offset", 16, 13, T::number, "0",
              "offset in units of 8 bytes (RFC 8200 section 4.5)"},
    FieldInfo{ipv6_fragment, "more", 31, 1, T::number, "0",
              "1 if more fragments follow (RFC 8200 section 4.5)"},
    FieldInfo{ipv6_fragment, "id", 32, 32, T::number, "0", "identification (RFC 8200 section 4.5)"},

    FieldInfo{ipv6_destination, "next_header", 0, 8, T::number, "as of ipv6",
              "next header (RFC 8200 section 4.6)"},
    FieldInfo{ipv6_destination, "length", 8, 8, T::number, "from the options",
              "header length in 8 bytes, the first 8 not counted (RFC 8200 section 4.6)"},
    FieldInfo{ipv6_destination, "options", 16, 0, T::bytes, "none",
              "options, padded by PadN to whole 8 bytes (RFC 8200 section 4.2)"},

    FieldInfo{sctp, "src", 0, 16, T::number, "1024", "source port (RFC 9260 section 3.1)"},
    FieldInfo{sctp, "dst", 16, 16, T::number, "9 (discard)", "destination port (RFC 9260 section 3.1)"},
    FieldInfo{sctp, "tag", 32, 32, T::number, "1", "verification tag (RFC 9260 section 3.1)"},
    FieldInfo{sctp, "checksum", 64, 32, T::number, "computed", "CRC32c (RFC 9260 section 6.8, appendix A)"},

    FieldInfo{sctp_data, "type", 0, 8, T::number, "0 (DATA)", "chunk type (RFC 9260 section 3.2)"},
    FieldInfo{sctp_data, "flags", 8, 8, T::number, "3: first and last fragment",
              "1 ending, 2 beginning fragment, 4 unordered, 8 immediate (RFC 9260 section 3.3.1)"},
    FieldInfo{sctp_data, "length", 16, 16, T::number, "bytes from this header to the end, without padding",
              "chunk length (RFC 9260 section 3.2)"},
    FieldInfo{sctp_data, "tsn", 32, 32, T::number, "0",
              "transmission sequence number (RFC 9260 section 3.3.1)"},
    FieldInfo{sctp_data, "stream", 64, 16, T::number, "0", "stream identifier (RFC 9260 section 3.3.1)"},
    FieldInfo{sctp_data, "seq", 80, 16, T::number, "0", "stream sequence number (RFC 9260 section 3.3.1)"},
    FieldInfo{sctp_data, "protocol", 96, 32, T::number, "0",
              "payload protocol identifier (RFC 9260 section 3.3.1)"},

    FieldInfo{geneve, "version", 0, 2, T::number, "0", "version (RFC 8926 section 3.4)"},
    FieldInfo{geneve, "options_length", 2, 6, T::number, "from the options",
              "bytes of options in units of 4 (RFC 8926 section 3.4)"},
    FieldInfo{geneve, "oam", 8, 1, T::number, "0", "control packet (RFC 8926 section 3.4)"},
    FieldInfo{geneve, "critical", 9, 1, T::number, "0", "critical options present (RFC 8926 section 3.4)"},
    FieldInfo{geneve, "protocol", 16, 16, T::number, "from the header that follows, else 0x88b5",
              "EtherType of the payload (RFC 8926 section 3.4)"},
    FieldInfo{geneve, "vni", 32, 24, T::number, "1", "virtual network identifier (RFC 8926 section 3.4)"},
    FieldInfo{geneve, "options", 64, 0, T::bytes, "none",
              "options, zero-padded to 4 bytes, at most 252; counted in their length (RFC 8926 section 3.5)"},

    FieldInfo{pppoe, "version", 0, 4, T::number, "1", "version (RFC 2516 section 4)"},
    FieldInfo{pppoe, "type", 4, 4, T::number, "1", "type (RFC 2516 section 4)"},
    FieldInfo{pppoe, "code", 8, 8, T::number, "0", "code, 0 in a session (RFC 2516 section 4)"},
    FieldInfo{pppoe, "session", 16, 16, T::number, "1", "session identifier (RFC 2516 section 4)"},
    FieldInfo{pppoe, "length", 32, 16, T::number, "bytes behind this field, without padding",
              "length (RFC 2516 section 4)"},
    FieldInfo{pppoe, "protocol", 48, 16, T::number, "from the header that follows, else 1 (padding)",
              "PPP protocol (RFC 1661 section 2)"},

    FieldInfo{pppoe_discovery, "version", 0, 4, T::number, "1", "version (RFC 2516 section 4)"},
    FieldInfo{pppoe_discovery, "type", 4, 4, T::number, "1", "type (RFC 2516 section 4)"},
    FieldInfo{pppoe_discovery, "code", 8, 8, T::number, "9 (PADI)",
              "9 PADI, 7 PADO, 0x19 PADR, 0x65 PADS, 0xa7 PADT (RFC 2516 section 5)"},
    FieldInfo{pppoe_discovery, "session", 16, 16, T::number, "0", "session identifier (RFC 2516 section 4)"},
    FieldInfo{pppoe_discovery, "length", 32, 16, T::number, "bytes behind this field, without padding",
              "length (RFC 2516 section 4)"},
    FieldInfo{pppoe_discovery, "tags", 48, 0, T::bytes, "01010000: any service",
              "tags (RFC 2516 appendix A)"},

    FieldInfo{pause, "opcode", 0, 16, T::number, "1", "MAC control opcode (IEEE 802.3 annex 31A)"},
    FieldInfo{pause, "time", 16, 16, T::number, "65535",
              "pause in units of 512 bit times; 0 ends it (IEEE 802.3 annex 31B)"},

    FieldInfo{pfc, "opcode", 0, 16, T::number, "0x0101", "MAC control opcode (IEEE 802.1Q clause 36)"},
    FieldInfo{pfc, "enable", 16, 16, T::number, "the priorities whose time is given",
              "bit n: time_n counts (IEEE 802.1Q clause 36)"},
    FieldInfo{pfc, "time_0", 32, 16, T::number, "0",
              "pause of priority 0 in units of 512 bit times (IEEE 802.1Q clause 36)"},
    FieldInfo{pfc, "time_1", 48, 16, T::number, "0", "of priority 1 (IEEE 802.1Q clause 36)"},
    FieldInfo{pfc, "time_2", 64, 16, T::number, "0", "of priority 2 (IEEE 802.1Q clause 36)"},
    FieldInfo{pfc, "time_3", 80, 16, T::number, "0", "of priority 3 (IEEE 802.1Q clause 36)"},
    FieldInfo{pfc, "time_4", 96, 16, T::number, "0", "of priority 4 (IEEE 802.1Q clause 36)"},
    FieldInfo{pfc, "time_5", 112, 16, T::number, "0", "of priority 5 (IEEE 802.1Q clause 36)"},
    FieldInfo{pfc, "time_6", 128, 16, T::number, "0", "of priority 6 (IEEE 802.1Q clause 36)"},
    FieldInfo{pfc, "time_7", 144, 16, T::number, "0", "of priority 7 (IEEE 802.1Q clause 36)"},

    FieldInfo{dns, "id", 0, 16, T::number, "0", "identifier (RFC 1035 section 4.1.1)"},
    FieldInfo{dns, "flags", 16, 16, T::number, "0x0100: a query, recursion desired",
              "flags, opcode and response code (RFC 1035 section 4.1.1)"},
    FieldInfo{dns, "questions", 32, 16, T::number, "1",
              "entries of the question section (RFC 1035 section 4.1.1)"},
    FieldInfo{dns, "answers", 48, 16, T::number, "0",
              "records of the answer section (RFC 1035 section 4.1.1)"},
    FieldInfo{dns, "authorities", 64, 16, T::number, "0",
              "records of the authority section (RFC 1035 section 4.1.1)"},
    FieldInfo{dns, "additionals", 80, 16, T::number, "0",
              "records of the additional section (RFC 1035 section 4.1.1)"},
    FieldInfo{dns, "name", 96, 0, T::domain, "example.com",
              "name that is asked for (RFC 1035 section 4.1.2)"},
    FieldInfo{dns, "type", 96, 16, T::number, "1 (A)",
              "type of the question, 28 AAAA (RFC 1035 section 4.1.2)"},
    FieldInfo{dns, "class", 112, 16, T::number, "1 (IN)", "class of the question (RFC 1035 section 4.1.2)"},
};

constexpr std::array<std::string_view, 9> flag_names{"fin", "syn", "rst", "psh", "ack",
                                                     "urg", "ece", "cwr", "ae"};

}  // namespace

std::span<const FieldInfo> all_fields() {
    return fields;
}

const FieldInfo* find_field(HeaderKind header, std::string_view name) {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const FieldInfo& f) { return f.header == header && f.name == name; });
    return found == fields.end() ? nullptr : &*found;
}

bool behind_variable_part(const FieldInfo& field) {
    return (field.header == eth || field.header == dns) && field.bit_offset >= variable_part &&
           field.bit_width != 0;
}

bool is_ipv6_extension(HeaderKind kind) {
    return kind == ipv6_hop_by_hop || kind == ipv6_routing || kind == ipv6_fragment ||
           kind == ipv6_destination;
}

std::string_view name_of(HeaderKind kind) {
    return names[static_cast<std::size_t>(kind)];
}

const HeaderKind* find_header(std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? nullptr : &kinds[static_cast<std::size_t>(found - names.begin())];
}

std::span<const std::string_view> header_names() {
    return names;
}

std::span<const std::string_view> tcp_flag_names() {
    return flag_names;
}

}  // namespace volley::packet
