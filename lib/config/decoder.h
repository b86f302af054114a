#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "config/key.h"
#include "config/node.h"
#include "config/problem.h"

namespace volley::config {

/// A value and its JSON pointer.
struct At {
    const Node& node;
    std::string pointer;
};

/// Reads typed values and gathers what is wrong with them. Every reader leaves `out` alone when the value is
/// wrong.
class Decoder {
  public:
    /// base: folder that relative paths are taken from; empty leaves them as they are.
    Decoder(std::string file, std::string base, Problems& problems)
        : file_(std::move(file)), base_(std::move(base)), problems_(problems) {}

    void wrong(const At& at, std::string text) { wrong(at.node.mark, at.pointer, std::move(text)); }
    void wrong(Mark mark, std::string pointer, std::string text);
    /// "is the number 5; `wanted` is needed".
    void mismatch(const At& at, std::string_view wanted);

    void read(const At& at, bool& out);
    void text(const At& at, std::string_view wanted, std::string& out);
    void text(const At& at, std::string_view wanted, std::optional<std::string>& out);
    /// A name of a port, stream or process: printable, no glob characters, at most 64 bytes.
    void name(const At& at, std::string& out);
    void choice(const At& at, std::span<const std::string_view> choices, std::string& out);
    void path(const At& at, std::string& out);
    void texts(const At& at, std::string_view wanted, std::vector<std::string>& out);
    void real(const At& at, double low, double high, double& out);
    void rate(const At& at, std::optional<Rate>& out);
    void speed(const At& at, std::optional<std::uint64_t>& out);
    void duration(const At& at, Duration low, Duration high, Duration& out);
    void duration(const At& at, Duration low, Duration high, std::optional<Duration>& out);

    std::optional<std::uint64_t> integer(const At& at, std::uint64_t low, std::uint64_t high);
    template <class T>
    void integer(const At& at, std::uint64_t low, std::uint64_t high, T& out) {
        if (const auto value = integer(at, low, high)) out = narrowed(*value, out);
    }
    /// A non-empty array of different integers.
    void integers(const At& at, std::uint64_t low, std::uint64_t high, std::vector<std::uint32_t>& out);

    [[nodiscard]] std::size_t problem_count() const { return problems_.count(); }
    [[nodiscard]] bool any_wrong_below(std::string_view pointer) const {
        return problems_.any_below(pointer);
    }

    /// Judges a member that has no row in the table of `object`: a later key, a key of another level, or a
    /// slip.
    void unknown_key(std::string_view object, const Member& member, const std::string& pointer,
                     std::span<const std::string_view> names);
    void later_key(const LaterKey& later, const Member& member, const std::string& pointer);

  private:
    template <class T>
    static T narrowed(std::uint64_t value, const T& /*like*/) {
        return static_cast<T>(value);
    }
    template <class T>
    static std::optional<T> narrowed(std::uint64_t value, const std::optional<T>& /*like*/) {
        return static_cast<T>(value);
    }

    std::string file_;
    std::string base_;
    Problems& problems_;
};

}  // namespace volley::config
