#pragma once

#include <cstdint>

namespace volley::imports {

/// The arithmetic of trafgen's expressions and of #if: signed, 64 bits, without overflow: sums and products
/// wrap, and shifts take the low 6 bits of their count, as x86 does.
constexpr std::int64_t wrapped(std::uint64_t value) {
    return static_cast<std::int64_t>(value);
}
/// Toward zero; `right` is not 0.
constexpr std::int64_t quotient(std::int64_t left, std::int64_t right) {
    return right == -1 ? wrapped(0 - static_cast<std::uint64_t>(left)) : left / right;
}
/// With the sign of `left`; `right` is not 0.
constexpr std::int64_t remainder(std::int64_t left, std::int64_t right) {
    return right == -1 ? 0 : left % right;
}
constexpr std::int64_t shifted_left(std::int64_t value, std::int64_t count) {
    return wrapped(static_cast<std::uint64_t>(value) << (static_cast<std::uint64_t>(count) & 63U));
}
constexpr std::int64_t shifted_right(std::int64_t value, std::int64_t count) {
    return value >> (static_cast<std::uint64_t>(count) & 63U);
}

}  // namespace volley::imports
