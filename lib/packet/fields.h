#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace volley::packet {

enum class HeaderKind : std::uint8_t {
    eth,
    vlan,
    mpls,
    arp,
    ipv4,
    ipv6,
    udp,
    tcp,
    icmp,
    icmpv6,
    gre,
    vxlan,
    gtpu,
    ipv6_hop_by_hop,
    ipv6_routing,
    ipv6_fragment,
    ipv6_destination,
    sctp,
    sctp_data,
    geneve,
    pppoe,
    pppoe_discovery,
    pause,
    pfc,
    dns,
    raw
};
inline constexpr std::size_t header_kinds = 26;

/// How a field's value is written in configuration and shown to people.
enum class FieldType : std::uint8_t {
    number,  ///< unsigned integer, JSON number or "0x…" string
    mac,     ///< "02:00:00:00:00:01"
    ipv4,    ///< "10.0.0.1"
    ipv6,    ///< "2001:db8::1"
    flags,   ///< TCP flags: number or "syn,ack"
    bytes,   ///< hex text of any length (ipv4 and tcp options); takes no program
    domain,  ///< "www.example.com", as its labels of any length; takes no program
};

/// One named field of one header: where its bits lie, counted from the header's first bit, most significant
/// first. VLAN tags stand as in IEEE 802.1Q, between the source address and the type: a vlan header is its
/// TPID and TCI, and `eth type` is the EtherType behind the last tag. So every 16 bits of a tagged frame have
/// exactly one name. `gre key` has its place only when it is given. Fields of type bytes and domain have
/// bit_width 0.
struct FieldInfo {
    HeaderKind header;
    std::string_view name;
    std::uint16_t bit_offset;
    std::uint16_t bit_width;
    FieldType type;
    std::string_view filled;  ///< what stands there when the operator says nothing, for the documentation
    std::string_view description;  ///< one line for the documentation, with its source (RFC)
};

/// Every header and field that configuration may name; the decoder, the builder and the documentation share
/// this table.
std::span<const FieldInfo> all_fields();
/// The field stands behind a part of any length, the tags of eth or the name of dns: its bits are counted
/// from there, beginning with `variable_part`, the bits that such a header has before it.
bool behind_variable_part(const FieldInfo& field);
inline constexpr std::uint16_t variable_part = 96;
/// The header is one that IPv6 may have between itself and what it carries (RFC 8200 section 4).
bool is_ipv6_extension(HeaderKind kind);
const FieldInfo* find_field(HeaderKind header, std::string_view name);

std::string_view name_of(HeaderKind kind);
/// Header of that name ("ipv4"), or nullptr.
const HeaderKind* find_header(std::string_view name);
std::span<const std::string_view> header_names();
/// Names of the TCP control bits, least significant first: "fin" is bit 0.
std::span<const std::string_view> tcp_flag_names();

}  // namespace volley::packet
