#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace volley::config {

/// An IP address of a port, or of its gateway.
struct Address {
    std::array<std::uint8_t, 16> bytes{};  ///< network order; IPv4 takes the first four
    std::uint8_t length = 4;               ///< 4 or 16
    std::uint8_t prefix = 32;              ///< bits of the network
};

/// "10.0.0.1/24", "2001:db8::1/64", or either without prefix, which then is the whole address.
std::optional<Address> parse_address(std::string_view text);

}  // namespace volley::config
