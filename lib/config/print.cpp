#include "config/print.h"

#include <cstddef>

namespace volley::config {
namespace {

constexpr std::size_t longest_shown = 60;

void escape(std::string& out, unsigned char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += "\\x";
    out.push_back(digits[c >> 4U]);
    out.push_back(digits[c & 15U]);
}

// Length of the well-formed UTF-8 sequence at `at` (RFC 3629), or 0.
std::size_t sequence_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(at);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc2 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    if (length == 0 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xc0U) != 0x80U) return 0;
    }
    if (length > 2 && ((lead == 0xe0 && byte(at + 1) < 0xa0) || (lead == 0xed && byte(at + 1) > 0x9f) ||
                       (lead == 0xf0 && byte(at + 1) < 0x90) || (lead == 0xf4 && byte(at + 1) > 0x8f))) {
        return 0;
    }
    return length;
}

// One character at `at`, escaped when it would disturb a line; moves `at` behind it.
void append_printable(std::string& out, std::string_view text, std::size_t& at) {
    const auto c = static_cast<unsigned char>(text[at]);
    const std::size_t length = sequence_length(text, at);
    if (c < 0x20 || c == 0x7f || length == 0) {
        escape(out, c);
        ++at;
    } else {
        out += text.substr(at, length);
        at += length;
    }
}

}  // namespace

bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = sequence_length(text, i);
        if (length == 0) return false;
        i += length;
    }
    return true;
}

std::string on_one_line(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) append_printable(out, text, i);
    return out;
}

std::string quote(std::string_view text) {
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size();) {
        if (i >= longest_shown) {
            out += "…";
            break;
        }
        append_printable(out, text, i);
    }
    return out + "\"";
}

}  // namespace volley::config
