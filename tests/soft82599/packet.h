#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace volley::soft82599 {

using Bytes = std::span<const std::uint8_t>;

/// Frame lengths without FCS: what the MAC pads to, and what the model can hold at most.
inline constexpr std::size_t shortest_frame = 60;
inline constexpr std::size_t longest_frame = 16384;
inline constexpr std::size_t fcs_bytes = 4;

/// Where the headers of a received frame are. Offsets in bytes from the start of the frame.
struct Headers {
    enum class L3 : std::uint8_t { none, ipv4, ipv6 };
    enum class L4 : std::uint8_t { none, tcp, udp, sctp };

    bool vlan = false;           ///< the outermost tag has the type asked for
    std::uint16_t vlan_tci = 0;  ///< host order
    L3 l3 = L3::none;
    L4 l4 = L4::none;          ///< none for a fragment
    bool l3_extended = false;  ///< IPv4 options or IPv6 extension headers
    bool fragment = false;
    std::size_t l3_offset = 0;
    std::size_t l4_offset = 0;
    std::size_t l3_end = 0;  ///< end of the datagram by its own length field, at most the frame's end
};

/// One VLAN tag of type `vlan_type` is skipped; a header that does not fit ends the walk.
Headers parse(Bytes frame, std::uint16_t vlan_type) noexcept;

std::uint16_t load_be16(Bytes bytes, std::size_t offset) noexcept;
void store_be16(std::span<std::uint8_t> bytes, std::size_t offset, std::uint16_t value) noexcept;

/// One's complement sum of RFC 1071 over `bytes` in network order, folded to 16 bits, not inverted.
std::uint16_t ones_sum(Bytes bytes, std::uint32_t initial = 0) noexcept;
/// The sum of the TCP or UDP pseudo header of an IPv4 or IPv6 datagram with that L4 length.
std::uint16_t pseudo_header_sum(Bytes frame, const Headers& headers) noexcept;

}  // namespace volley::soft82599
