#include "packet/defaults.h"

namespace volley::packet {
namespace {

using enum HeaderKind;

constexpr Value default_source_mac = 0x020000000001;
constexpr Value default_target_mac = 0x020000000002;
constexpr Value default_source_ipv4 = 0xc6120001;
constexpr Value default_target_ipv4 = 0xc6130001;
constexpr Value default_ipv6 = Value{0x2001000200000000} << 64 | 1;
constexpr Value other_subnet = Value{1} << 64;

constexpr Default defaults[] = {
    {eth, "dst", default_target_mac},
    {eth, "src", default_source_mac},
    {vlan, "tpid", 0x8100},
    {vlan, "id", 1},
    {mpls, "label", 16},
    {mpls, "ttl", 64},
    {arp, "operation", 1},
    {arp, "sender_ip", default_source_ipv4},
    {arp, "target_ip", default_target_ipv4},
    {ipv4, "ttl", 64},
    {ipv4, "src", default_source_ipv4},
    {ipv4, "dst", default_target_ipv4},
    {ipv6, "hop_limit", 64},
    {ipv6, "src", default_ipv6},
    {ipv6, "dst", default_ipv6 | other_subnet},
    {udp, "src", 1024},
    {udp, "dst", 9},
    {tcp, "src", 1024},
    {tcp, "dst", 9},
    {tcp, "flags", 0x10},
    {tcp, "window", 0xffff},
    {icmp, "type", 8},
    {icmpv6, "type", 128},
    {vxlan, "vni", 1},
    {gtpu, "teid", 1},
    {ipv6_routing, "type", 253},
    {sctp, "src", 1024},
    {sctp, "dst", 9},
    {sctp, "tag", 1},
    {sctp_data, "flags", 3},
    {geneve, "vni", 1},
    {pppoe, "session", 1},
    {pppoe_discovery, "code", 9},
    {pause, "opcode", 1},
    {pause, "time", 0xffff},
    {pfc, "opcode", 0x0101},
    {dns, "flags", 0x0100},
    {dns, "questions", 1},
    {dns, "type", 1},
    {dns, "class", 1},
};

}  // namespace

std::span<const Default> field_defaults() {
    return defaults;
}

std::optional<Value> default_of(HeaderKind header, std::string_view field) {
    for (const auto& entry : defaults) {
        if (entry.header == header && entry.field == field) return entry.value;
    }
    return std::nullopt;
}

}  // namespace volley::packet
