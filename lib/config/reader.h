#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "config/node.h"
#include "config/problem.h"

namespace volley::config {

/// Bounds on what is read, so that no input can exhaust memory or the stack.
inline constexpr std::size_t most_bytes = 32U << 20U;
inline constexpr std::size_t most_values = 1'000'000;
inline constexpr std::size_t deepest_nesting = 64;
inline constexpr std::size_t longest_key = 256;

/// Reads JSON (RFC 8259) into a tree that knows its places. Duplicate keys and syntax errors go to `problems`
/// with `file` as their file; a syntax error leaves nothing. `comments`: // and /* */ count as blanks.
std::optional<Node> read_json(std::string_view text, const std::string& file, bool comments,
                              Problems& problems);

/// The tree as JSON text; indent 0 writes one line.
std::string write_json(const Node& node, unsigned indent);

}  // namespace volley::config
