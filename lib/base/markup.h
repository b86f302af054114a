#pragma once

#include <string>
#include <string_view>

namespace volley {

/// Text for use in HTML, SVG and XML, in an element or a quoted attribute. Control characters other than tab
/// and newline become '?': XML 1.0 has none, not even escaped.
std::string markup_text(std::string_view text);

}  // namespace volley
