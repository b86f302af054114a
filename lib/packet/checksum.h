#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace volley::packet {

// Sums are kept over 16-bit words as they stand in memory, which gives the checksum as it is to be stored,
// for byte order does not matter to a one's complement sum (RFC 1071 section 2 B).
static_assert(std::endian::native == std::endian::little,
              "stored forms of fields assume a little-endian host");

/// Adds the carries back in until the sum fits 16 bits. A sum that is not zero never becomes zero.
constexpr std::uint16_t fold(std::uint64_t sum) {
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(sum);
}

constexpr std::uint16_t swap_bytes(std::uint16_t word) {
    return static_cast<std::uint16_t>(word << 8 | word >> 8);
}

/// One's complement sum of `bytes` as memory-order words, not complemented; an odd last byte is padded with
/// zero.
constexpr std::uint64_t sum_of(std::span<const std::uint8_t> bytes) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) sum += static_cast<std::uint64_t>(bytes[i]) << (i % 2 * 8);
    return sum;
}

}  // namespace volley::packet
