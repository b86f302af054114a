#pragma once

#include <string>
#include <string_view>

namespace volley::config {

/// `text` in double quotes for a message: control characters and bytes that are not UTF-8 escaped, long texts
/// cut.
std::string quote(std::string_view text);

/// `text` on one line: control characters and bytes that are not UTF-8 escaped, nothing cut.
std::string on_one_line(std::string_view text);

/// Well-formed UTF-8 (RFC 3629).
bool is_utf8(std::string_view text);

}  // namespace volley::config
