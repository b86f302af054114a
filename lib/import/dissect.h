#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "packet/fields.h"
#include "packet/model.h"

namespace volley::imports {

/// A header found in the bytes of a frame.
struct FoundLayer {
    packet::HeaderKind kind = packet::HeaderKind::raw;
    std::string name;           ///< "ipv4.2"
    std::uint32_t offset = 0;   ///< of its first byte
    std::uint32_t end = 0;      ///< behind what it carries, without padding of the frame
    std::uint32_t type_at = 0;  ///< eth, dns: where its type stands, behind the tags or the name
};

/// RawChecksum::final_address where the frame does not tell it; such a checksum is not whole.
constexpr std::uint16_t unknown_address = 0xffff;

/// A checksum found in the bytes of a frame.
struct FoundChecksum {
    packet::RawChecksum sum;  ///< offsets counted from the frame's first byte
    bool whole = true;        ///< all that it covers is in the frame: not that of a fragment's datagram
};

struct Dissected {
    std::vector<FoundLayer> layers;
    std::vector<FoundChecksum> checksums;  ///< outer before inner; without those that say "none"
};

/// Follows Ethernet, tags, PPPoE, MPLS, ARP, pauses, IPv4, IPv6 and its extension headers, UDP, TCP, SCTP,
/// ICMP, GRE, VXLAN, Geneve, GTP-U and DNS queries as far as the bytes allow. Offsets come from the headers
/// themselves; nothing is read beyond the frame.
Dissected dissect(std::span<const std::uint8_t> frame);

/// First bit of a field of a found layer, or nothing when the frame does not have it.
std::optional<std::uint32_t> bit_of(const FoundLayer& layer, const packet::FieldInfo& field,
                                    std::span<const std::uint8_t> frame);

}  // namespace volley::imports
