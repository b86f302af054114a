#pragma once

#include <cstdint>
#include <span>

#include "base/int128.h"

namespace volley::packet {

/// The low `width` bits set. width 0 to 128.
constexpr Uint128 low_bits(unsigned width) {
    return width >= 128 ? ~Uint128{0} : (Uint128{1} << width) - 1;
}

/// Writes the low `width` bits of `value` at bit `bit` of `bytes`, most significant bit first; other bits
/// stay.
inline void put_bits(std::span<std::uint8_t> bytes, std::size_t bit, unsigned width, Uint128 value) {
    for (unsigned i = 0; i < width; ++i) {
        const std::size_t at = bit + width - 1 - i;
        const auto one = static_cast<std::uint8_t>(0x80U >> (at % 8));
        auto& byte = bytes[at / 8];
        byte = static_cast<std::uint8_t>(((value >> i) & 1) != 0 ? byte | one : byte & ~one);
    }
}

/// The `width` bits at bit `bit` of `bytes`, most significant bit first.
inline Uint128 get_bits(std::span<const std::uint8_t> bytes, std::size_t bit, unsigned width) {
    Uint128 value = 0;
    for (std::size_t at = bit; at < bit + width; ++at) {
        value = value << 1 | static_cast<unsigned>(bytes[at / 8] >> (7 - at % 8) & 1);
    }
    return value;
}

}  // namespace volley::packet
