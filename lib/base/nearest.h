#pragma once

#include <span>
#include <string_view>

namespace volley {

/// The candidate closest to `word` by edit distance (case folded), or empty when none is close enough to be
/// meant.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace volley
