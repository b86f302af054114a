#pragma once

#include <CLI/Validators.hpp>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

namespace volley {

/// A number without a sign, in decimal, of at most 64 bits. Options of an unsigned type take it as
/// `transform`: CLI11 itself reads their text as strtoull does, by which -5 and 2^64 are very large numbers
/// and 010 is 8.
inline CLI::Validator whole_number() {
    return {[](std::string& text) -> std::string {
                std::uint64_t value = 0;
                const char* const end = text.data() + text.size();
                const auto [behind, error] = std::from_chars(text.data(), end, value);
                if (error == std::errc::result_out_of_range) return text + " is too large: at most 2^64 - 1";
                if (error != std::errc{} || behind != end) return text + " is no whole number of 0 or more";
                text = std::to_string(value);
                return {};
            },
            "UINT"};
}

}  // namespace volley
