#include "soft82599/packet.h"

#include <algorithm>

namespace volley::soft82599 {
namespace {

constexpr std::size_t ethernet_header = 14;
constexpr std::uint8_t protocol_tcp = 6;
constexpr std::uint8_t protocol_udp = 17;
constexpr std::uint8_t protocol_sctp = 132;

Headers::L4 l4_of(std::uint8_t protocol) {
    switch (protocol) {
        case protocol_tcp:
            return Headers::L4::tcp;
        case protocol_udp:
            return Headers::L4::udp;
        case protocol_sctp:
            return Headers::L4::sctp;
        default:
            return Headers::L4::none;
    }
}

void accept_l4(Bytes frame, Headers& h, std::uint8_t protocol) {
    const Headers::L4 l4 = h.fragment ? Headers::L4::none : l4_of(protocol);
    const std::size_t least = l4 == Headers::L4::tcp ? 20 : (l4 == Headers::L4::sctp ? 12 : 8);
    if (h.l4_offset + least <= std::min(h.l3_end, frame.size())) h.l4 = l4;
}

void parse_ipv4(Bytes frame, Headers& h) {
    const std::size_t at = h.l3_offset;
    if (at + 20 > frame.size() || frame[at] >> 4 != 4) return;
    const std::size_t header = std::size_t{4} * (frame[at] & 0xF);
    if (header < 20 || at + header > frame.size()) return;
    h.l3 = Headers::L3::ipv4;
    h.l3_extended = header > 20;
    h.fragment = (load_be16(frame, at + 6) & 0x3FFF) != 0;  // MF or an offset
    h.l3_end = std::min<std::size_t>(frame.size(), at + load_be16(frame, at + 2));
    h.l4_offset = at + header;
    accept_l4(frame, h, frame[at + 9]);
}

void parse_ipv6(Bytes frame, Headers& h) {
    const std::size_t at = h.l3_offset;
    if (at + 40 > frame.size() || frame[at] >> 4 != 6) return;
    h.l3 = Headers::L3::ipv6;
    h.l3_end = std::min<std::size_t>(frame.size(), at + 40 + load_be16(frame, at + 4));
    std::uint8_t next = frame[at + 6];
    std::size_t offset = at + 40;
    // Hop-by-hop 0, routing 43, destination options 60: all with a length in 8-byte units; fragment 44 has 8
    // bytes.
    while ((next == 0 || next == 43 || next == 60 || next == 44) && offset + 8 <= h.l3_end) {
        h.l3_extended = true;
        if (next == 44) h.fragment = (load_be16(frame, offset + 2) & 0xFFF9) != 0;
        const std::size_t size = next == 44 ? 8 : 8U * (frame[offset + 1] + 1U);
        next = frame[offset];
        offset += size;
    }
    h.l4_offset = offset;
    accept_l4(frame, h, next);
}

}  // namespace

std::uint16_t load_be16(Bytes bytes, std::size_t offset) noexcept {
    return static_cast<std::uint16_t>(bytes[offset] << 8 | bytes[offset + 1]);
}

void store_be16(std::span<std::uint8_t> bytes, std::size_t offset, std::uint16_t value) noexcept {
    bytes[offset] = static_cast<std::uint8_t>(value >> 8);
    bytes[offset + 1] = static_cast<std::uint8_t>(value);
}

Headers parse(Bytes frame, std::uint16_t vlan_type) noexcept {
    Headers h;
    if (frame.size() < ethernet_header) return h;
    std::uint16_t type = load_be16(frame, 12);
    h.l3_offset = ethernet_header;
    if (type == vlan_type && frame.size() >= ethernet_header + 4) {
        h.vlan = true;
        h.vlan_tci = load_be16(frame, 14);
        type = load_be16(frame, 16);
        h.l3_offset += 4;
    }
    if (type == 0x0800) parse_ipv4(frame, h);
    if (type == 0x86DD) parse_ipv6(frame, h);
    return h;
}

std::uint16_t ones_sum(Bytes bytes, std::uint32_t initial) noexcept {
    std::uint64_t sum = initial;
    std::size_t i = 0;
    for (; i + 1 < bytes.size(); i += 2) sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
    if (i < bytes.size()) sum += static_cast<std::uint32_t>(bytes[i] << 8);
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(sum);
}

std::uint16_t pseudo_header_sum(Bytes frame, const Headers& h) noexcept {
    const bool v4 = h.l3 == Headers::L3::ipv4;
    const std::uint32_t protocol = h.l4 == Headers::L4::tcp ? protocol_tcp : protocol_udp;
    const auto length = static_cast<std::uint32_t>(h.l3_end - h.l4_offset);
    const std::size_t addresses = h.l3_offset + (v4 ? 12 : 8);
    return ones_sum(frame.subspan(addresses, v4 ? 8 : 32), protocol + length);
}

}  // namespace volley::soft82599
