#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace volley::packet {

/// "www.example.com" as DNS sends it: labels of 1 to 63 bytes with their lengths before them, then an empty
/// one, at most 255 bytes (RFC 1035 section 3.1). A dot at the end may stand; "." is the root. What is wrong
/// comes back in `why`.
std::optional<std::vector<std::uint8_t>> domain_labels(std::string_view text, std::string& why);
/// The text of labels that domain_labels() made.
std::string domain_text(std::span<const std::uint8_t> labels);

}  // namespace volley::packet
