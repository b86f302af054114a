#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace volley::config {

/// Where a value starts in its file, both from 1. line 0: it came from --set or from a default.
struct Mark {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
};

struct Member;

/// A JSON value that remembers its place. Members keep their order; a number keeps the form it was written
/// in.
struct Node {
    using Array = std::vector<Node>;
    using Object = std::vector<Member>;
    /// null by default; no initializer, for clang would want Member complete here.
    std::variant<std::nullptr_t, bool, std::uint64_t, std::int64_t, double, std::string, Array, Object> value;
    Mark mark;

    [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value); }
    [[nodiscard]] const bool* boolean() const { return std::get_if<bool>(&value); }
    [[nodiscard]] const std::uint64_t* number() const { return std::get_if<std::uint64_t>(&value); }
    [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&value); }
    [[nodiscard]] const Array* array() const { return std::get_if<Array>(&value); }
    [[nodiscard]] const Object* object() const { return std::get_if<Object>(&value); }
    [[nodiscard]] Array* array() { return std::get_if<Array>(&value); }
    [[nodiscard]] Object* object() { return std::get_if<Object>(&value); }
};

struct Member {
    std::string key;
    Mark mark;  ///< of the key
    Node value;
};

/// The member of that name, or nullptr; of an object only.
const Node* find(const Node& node, std::string_view key);
/// Equal values, wherever they stand. 1 and 1.0 are equal.
bool same_value(const Node& a, const Node& b);
/// "the number 5", "the text \"x\"", "an array": for messages.
std::string describe(const Node& node);

/// `pointer` + "/" + key with ~ and / escaped (RFC 6901).
std::string child_pointer(std::string_view pointer, std::string_view key);
std::string child_pointer(std::string_view pointer, std::size_t index);
/// The value at `pointer`, or nullptr.
const Node* at_pointer(const Node& root, std::string_view pointer);
/// The place of `pointer` below `root`, or of the deepest value on the way that exists.
Mark locate(const Node& root, std::string_view pointer);

/// One token of a pointer, unescaped, and the rest of the pointer.
struct PointerStep {
    std::string key;
    std::string_view rest;
};
/// `pointer` is not empty and starts with '/'.
PointerStep next_step(std::string_view pointer);
/// An array index below `size` in the canonical form of RFC 6901, else `size`.
std::size_t array_index(std::string_view key, std::size_t size);

}  // namespace volley::config
