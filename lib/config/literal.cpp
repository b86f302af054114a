#include "config/literal.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/nearest.h"
#include "config/print.h"
#include "packet/text.h"

namespace volley::config {
namespace {

using packet::FieldType;
using packet::Value;

constexpr std::string_view digits = "0123456789abcdef";

std::optional<unsigned> hex_digit(char c) {
    const auto at = digits.find(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    if (at == std::string_view::npos) return std::nullopt;
    return static_cast<unsigned>(at);
}

std::optional<Value> parse_hex_number(std::string_view text, std::string& why) {
    Value value = 0;
    const std::string_view part = text.substr(2);
    for (const char c : part) {
        const auto digit = hex_digit(c);
        if (!digit) {
            why = quote(text) + " is not a hexadecimal number such as \"0x1f\"";
            return std::nullopt;
        }
        if (value >> 124U != 0) {
            why = quote(text) + " has more than 128 bits";
            return std::nullopt;
        }
        value = value << 4U | *digit;
    }
    if (!part.empty()) return value;
    why = quote(text) + " is not a hexadecimal number such as \"0x1f\"";
    return std::nullopt;
}

std::optional<Value> parse_mac(std::string_view text) {
    Value value = 0;
    if (text.size() != 17) return std::nullopt;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i % 3 == 2) {
            if (text[i] != text[2] || (text[i] != ':' && text[i] != '-')) return std::nullopt;
        } else if (const auto digit = hex_digit(text[i])) {
            value = value << 4U | *digit;
        } else {
            return std::nullopt;
        }
    }
    return value;
}

template <std::size_t N>
std::optional<Value> parse_address(int family, const std::string& text) {
    std::array<unsigned char, N> bytes{};
    if (inet_pton(family, text.c_str(), bytes.data()) != 1) return std::nullopt;
    Value value = 0;
    for (const unsigned char byte : bytes) value = value << 8U | byte;
    return value;
}

std::optional<Value> parse_flags(const std::string& text, std::string& why) {
    Value value = 0;
    std::size_t start = 0;
    while (start <= text.size()) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        std::string word = text.substr(start, end - start);
        word.erase(std::remove(word.begin(), word.end(), ' '), word.end());
        const auto names = packet::tcp_flag_names();
        const auto flag = std::find(names.begin(), names.end(), word);
        if (flag == names.end()) {
            const auto close = nearest(word, names);
            why =
                "unknown TCP flag " + quote(word) + " in " + quote(text) +
                (close.empty() ? "" : "; did you mean " + quote(close) + "?") +
                "; write flags as \"syn,ack\" of fin, syn, rst, psh, ack, urg, ece, cwr, ae, or as a number";
            return std::nullopt;
        }
        value |= Value{1} << static_cast<unsigned>(flag - names.begin());
        start = end + 1;
    }
    return value;
}

std::string_view example(FieldType type) {
    switch (type) {
        case FieldType::mac:
            return "a MAC address such as \"02:00:00:00:00:01\"";
        case FieldType::ipv4:
            return "an IPv4 address such as \"10.0.0.1\"";
        case FieldType::ipv6:
            return "an IPv6 address such as \"2001:db8::1\"";
        case FieldType::flags:
            return "TCP flags such as \"syn,ack\" or a number";
        case FieldType::bytes:
            return "bytes as hexadecimal text such as \"0x9404\"";
        case FieldType::domain:
            return "a name such as \"www.example.com\"";
        case FieldType::number:
            break;
    }
    return "a number such as 5 or \"0x1f\"";
}

}  // namespace

std::optional<Value> parse_literal(FieldType type, const Node& node, std::string& why) {
    if (const auto* number = node.number()) return *number;
    const std::string* text = node.text();
    std::optional<Value> value;
    if (text != nullptr) {
        if (text->starts_with("0x") || text->starts_with("0X")) return parse_hex_number(*text, why);
        switch (type) {
            case FieldType::mac:
                value = parse_mac(*text);
                break;
            case FieldType::ipv4:
                value = parse_address<4>(AF_INET, *text);
                break;
            case FieldType::ipv6:
                value = parse_address<16>(AF_INET6, *text);
                break;
            case FieldType::flags:
                return parse_flags(*text, why);
            case FieldType::number:
            case FieldType::bytes:
            case FieldType::domain:
                break;
        }
    }
    if (!value) why = "is " + describe(node) + "; " + std::string(example(type)) + " is needed";
    return value;
}

std::optional<Value> parse_untyped(const Node& node, std::string& why) {
    for (const FieldType type : {FieldType::number, FieldType::mac, FieldType::ipv4, FieldType::ipv6}) {
        if (const auto value = parse_literal(type, node, why)) return value;
    }
    why = "is " + describe(node) + "; a number such as 5 or \"0x1f\", or an address, is needed";
    return std::nullopt;
}

Node literal_node(FieldType type, Value value) {
    const unsigned width = type == FieldType::mac    ? 48
                           : type == FieldType::ipv4 ? 32
                           : type == FieldType::ipv6 ? 128
                                                     : 64;
    if (width < 128 && value >> width != 0) {
        std::string text;
        for (; value != 0; value >>= 4U)
            text.insert(text.begin(), digits[static_cast<std::size_t>(value & 15U)]);
        return {"0x" + text, {}};
    }
    std::string text = packet::to_text(type, value);
    if (value <= UINT64_MAX && text == packet::to_text(FieldType::number, value)) {
        return {static_cast<std::uint64_t>(value), {}};
    }
    return {std::move(text), {}};
}

std::optional<std::vector<std::uint8_t>> parse_hex(std::string_view text, std::string& why) {
    std::string_view rest = text;
    if (rest.starts_with("0x") || rest.starts_with("0X")) rest.remove_prefix(2);
    std::vector<std::uint8_t> bytes;
    std::size_t nibbles = 0;
    for (const char c : rest) {
        if (c == ' ' || c == ':') continue;
        const auto digit = hex_digit(c);
        if (!digit) {
            why = quote(std::string_view(&c, 1)) + " in " + quote(text) +
                  " is no hexadecimal digit; write bytes as \"0x45000014\" or \"45 00 00 14\"";
            return std::nullopt;
        }
        if (nibbles++ % 2 == 0) {
            bytes.push_back(static_cast<std::uint8_t>(*digit << 4U));
        } else {
            bytes.back() = static_cast<std::uint8_t>(bytes.back() | *digit);
        }
    }
    if (nibbles == 0 || nibbles % 2 != 0) {
        why = quote(text) + (nibbles == 0 ? " holds no byte" : " has an odd number of hexadecimal digits") +
              "; write two a byte, as in \"0x45000014\"";
        return std::nullopt;
    }
    return bytes;
}

std::string hex_text(const std::vector<std::uint8_t>& bytes) {
    std::string out = "0x";
    for (const std::uint8_t byte : bytes) {
        out.push_back(digits[byte >> 4U]);
        out.push_back(digits[byte & 15U]);
    }
    return out;
}

}  // namespace volley::config
