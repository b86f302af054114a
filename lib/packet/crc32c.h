#pragma once

#include <cstdint>

namespace volley::packet {

/// CRC32c of SCTP (RFC 9260 appendix A) of `count` bytes, as the word that a little-endian host stores into
/// the checksum field. By the CPU's own instruction where it has one.
std::uint32_t crc32c(const std::uint8_t* bytes, std::uint32_t count) noexcept;

/// The same byte by byte, for CPUs without the instruction.
std::uint32_t crc32c_by_table(const std::uint8_t* bytes, std::uint32_t count) noexcept;

}  // namespace volley::packet
