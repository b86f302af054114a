#include "packet/text.h"

#include <array>
#include <cstdio>

namespace volley::packet {
namespace {

std::string decimal(Value value) {
    std::string digits;
    do {
        digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
        value /= 10;
    } while (value != 0);
    return digits;
}

std::string separated(Value value, unsigned groups, unsigned bits, const char* format, char separator) {
    std::string text;
    for (unsigned i = groups; i-- > 0;) {
        std::array<char, 8> group{};
        const auto part = static_cast<unsigned>(value >> (i * bits)) & ((1U << bits) - 1);
        std::snprintf(group.data(), group.size(), format, part);
        text += group.data();
        if (i != 0) text += separator;
    }
    return text;
}

/// RFC 5952: the longest run of two or more zero groups (the first of equals) is written "::".
std::string ipv6_text(Value value) {
    std::array<unsigned, 8> groups{};
    for (unsigned i = 0; i < 8; ++i) groups[i] = static_cast<unsigned>(value >> (112 - 16 * i)) & 0xffff;
    unsigned best = 8;
    unsigned length = 1;
    for (unsigned i = 0; i < 8; ++i) {
        unsigned run = 0;
        while (i + run < 8 && groups[i + run] == 0) ++run;
        if (run > length) {
            best = i;
            length = run;
        }
    }
    std::string text;
    for (unsigned i = 0; i < 8; ++i) {
        if (i == best) {
            text += "::";
            i += length - 1;
            continue;
        }
        if (!text.empty() && text.back() != ':') text += ':';
        std::array<char, 8> group{};
        std::snprintf(group.data(), group.size(), "%x", groups[i]);
        text += group.data();
    }
    return text;
}

std::string flags_text(Value value) {
    const auto names = tcp_flag_names();
    if (value == 0 || (value >> names.size()) != 0) return decimal(value);
    std::string text;
    for (std::size_t bit = 0; bit < names.size(); ++bit) {
        if ((value >> bit & 1) == 0) continue;
        if (!text.empty()) text += ',';
        text += names[bit];
    }
    return text;
}

}  // namespace

std::string to_text(FieldType type, Value value) {
    switch (type) {
        case FieldType::mac:
            if (value >> 48 == 0) return separated(value, 6, 8, "%02x", ':');
            break;
        case FieldType::ipv4:
            if (value >> 32 == 0) return separated(value, 4, 8, "%u", '.');
            break;
        case FieldType::ipv6:
            return ipv6_text(value);
        case FieldType::flags:
            return flags_text(value);
        case FieldType::number:
        case FieldType::bytes:
        case FieldType::domain:
            break;
    }
    return decimal(value);
}

}  // namespace volley::packet
