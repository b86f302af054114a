#pragma once

#include <cstddef>

namespace volley {

/// Bytes of an x86-64 cache line. A constant of ours: std::hardware_destructive_interference_size may differ
/// between g++ and clang, and shared layouts must not.
inline constexpr std::size_t cache_line = 64;

}  // namespace volley
