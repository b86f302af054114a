#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace volley::packet {

enum class HeaderKind : std::uint8_t { eth, vlan, mpls, arp, ipv4, ipv6, udp, tcp, icmp, icmpv6, gre, vxlan, gtpu, raw };

/// How a field's value is written in configuration and shown to people.
enum class FieldType : std::uint8_t {
    number,  ///< unsigned integer, JSON number or "0x…" string
    mac,     ///< "02:00:00:00:00:01"
    ipv4,    ///< "10.0.0.1"
    ipv6,    ///< "2001:db8::1"
    flags,   ///< TCP flags: number or "syn,ack"
    bytes,   ///< hex text of any length (ipv4 and tcp options); takes no program
};

/// One named field of one header: where its bits lie, counted from the header's first bit, most significant first.
struct FieldInfo {
    HeaderKind header;
    std::string_view name;
    std::uint16_t bit_offset;
    std::uint16_t bit_width;
    FieldType type;
    std::string_view filled;       ///< what stands there when the operator says nothing, for the documentation
    std::string_view description;  ///< one line for the documentation, with its source (RFC)
};

/// Every header and field that configuration may name; the decoder, the builder and the documentation share this table.
std::span<const FieldInfo> all_fields();
const FieldInfo* find_field(HeaderKind header, std::string_view name);

std::string_view name_of(HeaderKind kind);
/// Header of that name ("ipv4"), or nullptr.
const HeaderKind* find_header(std::string_view name);
std::span<const std::string_view> header_names();

}  // namespace volley::packet
