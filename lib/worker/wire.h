#pragma once

#include <cstdint>

namespace volley::worker {

/// Two bytes of a frame in network byte order, at any alignment.
inline std::uint16_t word(const std::uint8_t* at) noexcept {
    return static_cast<std::uint16_t>(at[0] << 8 | at[1]);
}

}  // namespace volley::worker
