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
constexpr std::size_t most_options = 40;                  // ihl and data offset count to 15 words

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
            return 8;
        case vlan:
        case mpls:
        case gre:
            return 4;
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
        case raw:
            return experimental_ethertype;
        default:
            return std::nullopt;
    }
}

std::optional<std::uint16_t> protocol(HeaderKind child) {
    if (child == raw) return experimental_protocol;
    const auto number = ip_protocol(child);
    return number != 0 ? std::optional<std::uint16_t>(number) : std::nullopt;
}

bool gives(const HeaderModel& header, std::string_view name) {
    return std::any_of(header.fields.begin(), header.fields.end(),
                       [&](const FieldValue& value) { return value.field->name == name; });
}

}  // namespace

std::vector<std::uint8_t> blank_header(const HeaderModel& header, std::string& why) {
    if (header.kind == raw) return header.raw;
    std::vector<std::uint8_t> bytes(fixed_length(header.kind));
    for (const auto& [field, option] : header.bytes) {
        bytes.insert(bytes.end(), option.begin(), option.end());
        bytes.resize((bytes.size() + 3) / 4 * 4);
    }
    if (bytes.size() > fixed_length(header.kind) + most_options) {
        why = std::to_string(bytes.size() - fixed_length(header.kind)) +
              " bytes of options; there is room for 40";
        bytes.resize(fixed_length(header.kind) + most_options);
    }
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
            return find_field(gre, "protocol");
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
            if (child == eth) return 0x6558;  // transparent Ethernet bridging
            return ethertype(child.value_or(raw));
        case ipv4:
            return protocol(child.value_or(raw));
        case ipv6:
            return child ? protocol(*child) : no_next_header;
        default:
            return std::nullopt;
    }
}

bool carries(HeaderKind parent, HeaderKind child, std::string& instead) {
    struct Row {
        HeaderKind parent;
        std::array<HeaderKind, 4> children;
        const char* text;
    };
    static constexpr std::array rows{
        Row{mpls, {mpls, ipv4, ipv6, eth}, "mpls, ipv4, ipv6 or eth"},
        Row{udp, {vxlan, gtpu, mpls, gre}, "vxlan, gtpu, mpls or gre"},
        Row{vxlan, {eth, eth, eth, eth}, "eth"},
        Row{gtpu, {ipv4, ipv6, ipv4, ipv6}, "ipv4 or ipv6"},
        Row{icmp, {ipv4, ipv4, ipv4, ipv4}, "the ipv4 header that an error is about"},
        Row{icmpv6, {ipv6, ipv6, ipv6, ipv6}, "the ipv6 header that an error is about"},
        Row{tcp, {raw, raw, raw, raw}, "payload"},
        Row{arp, {raw, raw, raw, raw}, "padding"},
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
        case gtpu:
            return 2152;
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
        case gre:
            return 47;
        case icmpv6:
            return 58;
        case mpls:
            return 137;
        case eth:
            return 143;  // RFC 8986
        default:
            return 0;
    }
}

}  // namespace volley::packet
