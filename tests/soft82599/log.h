#pragma once

namespace volley::soft82599 {

/// One line on stderr, "soft82599: " in front. Allocates nothing, so it may be called from the trap.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept;

}  // namespace volley::soft82599
