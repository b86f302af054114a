#pragma once

#include <array>
#include <cstdint>

#include "soft82599/packet.h"
#include "soft82599/register_file.h"

namespace volley::soft82599 {

/// Result of receive-side scaling for one frame; type as in the RX descriptor (datasheet 7.1.2.8.1), 0 is "no
/// hash".
struct RssHash {
    std::uint32_t hash = 0;
    std::uint8_t type = 0;
};

using RssKey = std::array<std::uint8_t, 40>;

/// The Toeplitz hash of Microsoft's RSS: the exclusive or of the key's 32-bit windows at the input's set
/// bits. The input may be as long as the key allows: 36 bytes.
std::uint32_t toeplitz(const RssKey& key, Bytes input) noexcept;

/// RSSRK as the driver loaded it: byte 0 of the key in the low byte of register 0.
RssKey load_rss_key(const RegisterFile& registers) noexcept;

/// Hashes what MRQC (its field bits 31:16) selects: the TCP or UDP five-tuple's addresses and ports, else the
/// addresses.
RssHash rss_hash(const RssKey& key, std::uint32_t mrqc, Bytes frame, const Headers& headers) noexcept;

/// The queue of a frame: RETA at the low 7 bits of its hash when RSS is on and there is a hash, else 0.
unsigned rss_queue(const RegisterFile& registers, const RssHash& hash) noexcept;

}  // namespace volley::soft82599
