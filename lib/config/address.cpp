#include "config/address.h"

#include <arpa/inet.h>

#include <charconv>
#include <string>

namespace volley::config {

std::optional<Address> parse_address(std::string_view text) {
    const std::size_t slash = text.find('/');
    const std::string host(text.substr(0, slash));
    Address out;
    if (inet_pton(AF_INET, host.c_str(), out.bytes.data()) == 1) {
        out.length = 4;
    } else if (inet_pton(AF_INET6, host.c_str(), out.bytes.data()) == 1) {
        out.length = 16;
    } else {
        return std::nullopt;
    }
    const unsigned bits = out.length * 8U;
    out.prefix = static_cast<std::uint8_t>(bits);
    if (slash == std::string_view::npos) return out;
    const std::string_view digits = text.substr(slash + 1);
    unsigned prefix = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
    if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || prefix > bits)
        return std::nullopt;
    out.prefix = static_cast<std::uint8_t>(prefix);
    return out;
}

}  // namespace volley::config
