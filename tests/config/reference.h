#pragma once

#include <string>

namespace volley::config {

/// The tables of docs/configuration.md as the decoder's own tables say them, in Markdown.
std::string keys_reference();
std::string fields_reference();
std::string later_reference();

}  // namespace volley::config
