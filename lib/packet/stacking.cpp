#include "packet/stacking.h"

#include <algorithm>
#include <array>

#include "packet/bits.h"

namespace volley::packet {
namespace {

using enum HeaderKind;

constexpr std::uint16_t experimental_ethertype = 0x88b5;  // IEEE 802 clause 9: local experimental
constexpr std::uint16_t experimental_protocol = 253;      // RFC 3692
constexpr std::uint16_t no_next_header = 59;              // RFC 8200 section 4.7
constexpr std::uint16_t hop_by_hop_options = 0;           // RFC 8200 section 4.3

std::size_t fixed_length(HeaderKind kind) {
    switch (kind) {
        case eth:
            return 12;  // the type stands behind the tags
        case arp:
            return 28;
        case ipv4:
        case tcp:
            return 20;
        case ipv6:
            return 40;
        case udp:
        case icmp:
        case icmpv6:
        case vxlan:
        case gtpu:
        case ipv6_fragment:
        case geneve:
        case pppoe:
            return 8;
        case vlan:
        case mpls:
        case gre:
        case ipv6_routing:
        case pause:
            return 4;
        case ipv6_hop_by_hop:
        case ipv6_destination:
            return 2;
        case sctp:
        case dns:
            return 12;
        case sctp_data:
            return 16;
        case pppoe_discovery:
            return 6;
        case pfc:
            return 20;
        case raw:
            break;
    }
    return 0;
}

std::optional<std::uint16_t> ethertype(HeaderKind child) {
    switch (child) {
        case arp:
            return 0x0806;
        case ipv4:
            return 0x0800;
        case ipv6:
            return 0x86dd;
        case mpls:
            return 0x8847;
        case pause:
        case pfc:
            return 0x8808;
        case pppoe_discovery:
            return 0x8863;
        case pppoe:
            return 0x8864;
        case raw:
            return experimental_ethertype;
        default:
            return std::nullopt;
    }
}

std::optional<std::uint16_t> protocol(HeaderKind child) {
    if (child == raw) return experimental_protocol;
    if (is_ipv6_extension(child)) return std::nullopt;
    const auto number = ip_protocol(child);
    return number != 0 ? std::optional<std::uint16_t>(number) : std::nullopt;
}

/// What IPv6 and its extension headers say of `child`. Hop-by-hop options stand right behind ipv6 (RFC 8200
/// section 4.1).
std::optional<std::uint16_t> next_of_ipv6(HeaderKind parent, std::optional<HeaderKind> child) {
    if (!child) return no_next_header;
    if (*child == ipv6_hop_by_hop) {
        return parent == ipv6 ? std::optional<std::uint16_t>(hop_by_hop_options) : std::nullopt;
    }
    return is_ipv6_extension(*child) ? ip_protocol(*child) : protocol(*child);
}

std::optional<std::uint16_t> ppp_protocol(HeaderKind child) {
    switch (child) {
        case ipv4:
            return 0x0021;
        case ipv6:
            return 0x0057;
        case mpls:
            return 0x0281;
        case raw:
            return 1;  // padding protocol: silently discarded
        default:
            return std::nullopt;
    }
}

/// RFC 8200 section 4.2: Pad1 for one byte, PadN for more.
void pad_options(std::vector<std::uint8_t>& bytes) {
    const std::size_t missing = (8 - bytes.size() % 8) % 8;
    if (missing == 1) bytes.push_back(0);
    if (missing < 2) return;
    bytes.push_back(1);
    bytes.push_back(static_cast<std::uint8_t>(missing - 2));
    bytes.resize(bytes.size() + missing - 2);
}

/// What of a header may be of any length: how much of it there may be, to what it is filled up.
struct AnyLength {
    std::size_t most;
    std::size_t unit;
};

AnyLength any_length(HeaderKind kind) {
    switch (kind) {
        case ipv4:
        case tcp:
            return {40, 4};  // ihl and data offset count to 15 words
        case geneve:
            return {252, 4};  // 63 words
        case ipv6_hop_by_hop:
        case ipv6_destination:
            return {2046, 8};  // the length counts 255 times 8 bytes behind the first 8
        case ipv6_routing:
            return {2044, 8};
        case dns:
            return {255, 1};
        default:
            return {1500, 1};
    }
}

std::vector<std::uint8_t> bytes_when_absent(HeaderKind kind) {
    if (kind == pppoe_discovery) return {1, 1, 0, 0};  // Service-Name of no byte
    if (kind != dns) return {};
    static constexpr std::string_view labels("\7example\3com\0", 13);
    return {labels.begin(), labels.end()};
}

/// The fixed part, then the bytes that are given, filled up to the header's unit.
std::vector<std::uint8_t> with_given_bytes(const HeaderModel& header, std::string& why) {
    std::vector<std::uint8_t> bytes(fixed_length(header.kind));
    const std::size_t fixed = bytes.size();
    const AnyLength room = any_length(header.kind);
    const auto absent = header.bytes.empty() ? bytes_when_absent(header.kind) : std::vector<std::uint8_t>{};
    bytes.insert(bytes.end(), absent.begin(), absent.end());
    for (const auto& [field, given] : header.bytes) bytes.insert(bytes.end(), given.begin(), given.end());
    if (bytes.size() > fixed + room.most) {
        why = std::to_string(bytes.size() - fixed) + " bytes of " +
              (header.bytes.empty() ? "options" : std::string(header.bytes.front().first->name)) +
              "; there is room for " + std::to_string(room.most);
        bytes.resize(fixed + room.most);
    }
    if (header.kind == ipv6_hop_by_hop || header.kind == ipv6_destination) pad_options(bytes);
    bytes.resize((bytes.size() + room.unit - 1) / room.unit * room.unit);
    return bytes;
}

bool gives(const HeaderModel& header, std::string_view name) {
    return std::any_of(header.fields.begin(), header.fields.end(),
                       [&](const FieldValue& value) { return value.field->name == name; });
}

}  // namespace

std::vector<std::uint8_t> blank_header(const HeaderModel& header, std::string& why) {
    if (header.kind == raw) return header.raw;
    auto bytes = with_given_bytes(header, why);
    switch (header.kind) {
        case arp:  // Ethernet, IPv4, and their address lengths
            bytes[1] = 1;
            bytes[2] = 8;
            bytes[4] = 6;
            bytes[5] = 4;
            break;
        case ipv4:
            bytes[0] = static_cast<std::uint8_t>(0x40 | bytes.size() / 4);
            break;
        case ipv6:
            bytes[0] = 0x60;
            break;
        case tcp:
            bytes[12] = static_cast<std::uint8_t>(bytes.size() / 4 << 4);
            break;
        case gre:
            if (gives(header, "key")) {
                bytes.resize(8);
                bytes[0] = 0x20;
            }
            break;
        case vxlan:
            bytes[0] = 0x08;
            break;
        case ipv6_hop_by_hop:
        case ipv6_routing:
        case ipv6_destination:
            bytes[1] = static_cast<std::uint8_t>(bytes.size() / 8 - 1);
            break;
        case geneve:
            bytes[0] = static_cast<std::uint8_t>((bytes.size() - 8) / 4);
            break;
        case pppoe:
        case pppoe_discovery:  // version 1, type 1
            bytes[0] = 0x11;
            break;
        case pfc:
            for (std::size_t priority = 0; priority < 8; ++priority) {
                if (gives(header, "time_" + std::to_string(priority)))
                    bytes[3] = static_cast<std::uint8_t>(bytes[3] | 1U << priority);
            }
            break;
        case dns:
            bytes.resize(bytes.size() + 4);  // type and class
            break;
        case gtpu:  // version 1, protocol type GTP, no optional part; message type 255 carries a packet
            bytes[0] = 0x30;
            bytes[1] = 0xff;
            break;
        default:
            break;
    }
    return bytes;
}

const FieldInfo* next_field(HeaderKind parent) {
    switch (parent) {
        case eth:
        case vlan:
            return find_field(eth, "type");
        case ipv4:
            return find_field(ipv4, "protocol");
        case ipv6:
            return find_field(ipv6, "next_header");
        case gre:
        case geneve:
        case pppoe:
            return find_field(parent, "protocol");
        case ipv6_hop_by_hop:
        case ipv6_routing:
        case ipv6_fragment:
        case ipv6_destination:
            return find_field(parent, "next_header");
        default:
            return nullptr;
    }
}

std::optional<std::uint16_t> next_number(HeaderKind parent, std::optional<HeaderKind> child) {
    switch (parent) {
        case eth:
        case vlan:
            return ethertype(child.value_or(raw));
        case gre:
        case geneve:
            if (child == eth) return 0x6558;  // transparent Ethernet bridging
            return ethertype(child.value_or(raw));
        case ipv4:
            return protocol(child.value_or(raw));
        case ipv6:
        case ipv6_hop_by_hop:
        case ipv6_routing:
        case ipv6_fragment:
        case ipv6_destination:
            return next_of_ipv6(parent, child);
        case pppoe:
            return ppp_protocol(child.value_or(raw));
        default:
            return std::nullopt;
    }
}

bool carries(HeaderKind parent, HeaderKind child, std::string& instead) {
    struct Row {
        HeaderKind parent;
        std::array<HeaderKind, 6> children;
        const char* text;
    };
    static constexpr std::array only_raw{raw, raw, raw, raw, raw, raw};
    static constexpr std::array rows{
        // Each row repeats its last child.
        Row{mpls, {mpls, ipv4, ipv6, eth, eth, eth}, "mpls, ipv4, ipv6 or eth"},
        Row{udp, {vxlan, geneve, gtpu, mpls, gre, dns}, "vxlan, geneve, gtpu, mpls, gre or dns"},
        Row{vxlan, {eth, eth, eth, eth, eth, eth}, "eth"},
        Row{gtpu, {ipv4, ipv6, ipv6, ipv6, ipv6, ipv6}, "ipv4 or ipv6"},
        Row{icmp, {ipv4, ipv4, ipv4, ipv4, ipv4, ipv4}, "the ipv4 header that an error is about"},
        Row{icmpv6, {ipv6, ipv6, ipv6, ipv6, ipv6, ipv6}, "the ipv6 header that an error is about"},
        Row{sctp, {sctp_data, sctp_data, sctp_data, sctp_data, sctp_data, sctp_data}, "sctp_data"},
        Row{tcp, only_raw, "payload"},
        Row{sctp_data, only_raw, "payload"},
        Row{dns, only_raw, "payload"},
        Row{pppoe_discovery, only_raw, "tags"},
        Row{arp, only_raw, "padding"},
        Row{pause, only_raw, "padding"},
        Row{pfc, only_raw, "padding"},
    };
    if (parent == raw || child == raw) return true;
    const auto* const row = std::find_if(rows.begin(), rows.end(),
                                         [&](const Row& candidate) { return candidate.parent == parent; });
    if (row == rows.end()) return false;
    instead = row->text;
    return std::find(row->children.begin(), row->children.end(), child) != row->children.end();
}

std::optional<std::uint16_t> udp_port(HeaderKind child) {
    switch (child) {
        case vxlan:
            return 4789;
        case geneve:
            return 6081;
        case gtpu:
            return 2152;
        case dns:
            return 53;
        case mpls:
            return 6635;
        case gre:
            return 4754;
        default:
            return std::nullopt;
    }
}

std::uint8_t ip_protocol(HeaderKind kind) {
    switch (kind) {
        case icmp:
            return 1;
        case ipv4:
            return 4;
        case tcp:
            return 6;
        case udp:
            return 17;
        case ipv6:
            return 41;
        case ipv6_routing:
            return 43;
        case ipv6_fragment:
            return 44;
        case gre:
            return 47;
        case icmpv6:
            return 58;
        case ipv6_destination:
            return 60;
        case sctp:
            return 132;
        case mpls:
            return 137;
        case eth:
            return 143;  // RFC 8986
        default:
            return 0;
    }
}

}  // namespace volley::packet
