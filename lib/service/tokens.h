#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace volley::service {

enum class Right : std::uint8_t { read, change };

/// The access tokens of a file: a line each, "read-only TOKEN" or "admin TOKEN", '#' begins a comment.
/// What is kept is their SHA-256, so a comparison tells nothing of length or content by its time.
class Tokens {
  public:
    static constexpr std::size_t shortest = 16;  ///< characters of a token

    /// Throws SetupError whose text is the next step: no such file, others may read it, no token.
    static Tokens load(const std::string& path);
    /// The same for the text of a file.
    static Tokens parse(std::string_view text, const std::string& path);

    /// What the bearer of an Authorization header (RFC 6750) may do. Takes the same time for any token.
    [[nodiscard]] std::optional<Right> right_of(std::string_view authorization) const;

  private:
    using Digest = std::array<unsigned char, 32>;
    struct Entry {
        Digest digest{};
        Right right = Right::read;
    };
    std::vector<Entry> entries_;
};

}  // namespace volley::service
