#include "service/target.h"

#include <algorithm>

namespace volley::service {
namespace {

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::optional<std::string> decode(std::string_view text, bool plus_is_blank) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            if (text.size() - i < 3) return std::nullopt;
            const int high = digit_of(text[i + 1]);
            const int low = digit_of(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            c = static_cast<char>(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus_is_blank) {
            c = ' ';
        }
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) return std::nullopt;
        out += c;
    }
    return out;
}

std::string_view cut(std::string_view& text, char at) {
    const std::size_t end = text.find(at);
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return part;
}

}  // namespace

const std::string* Target::parameter(std::string_view name) const {
    const auto found =
        std::find_if(query.begin(), query.end(), [&](const auto& p) { return p.first == name; });
    return found == query.end() ? nullptr : &found->second;
}

std::optional<Target> parse_target(std::string_view text) {
    if (text.empty() || text.front() != '/') return std::nullopt;
    text.remove_prefix(1);
    Target out;
    std::string_view path = cut(text, '?');
    if (path.ends_with('/')) return std::nullopt;
    while (!path.empty()) {
        const auto segment = decode(cut(path, '/'), false);
        if (!segment || segment->empty() || *segment == "." || *segment == "..") return std::nullopt;
        out.path.push_back(*segment);
    }
    while (!text.empty()) {
        std::string_view pair = cut(text, '&');
        const auto name = decode(cut(pair, '='), true);
        const auto value = decode(pair, true);
        if (!name || !value) return std::nullopt;
        out.query.emplace_back(*name, *value);
    }
    return out;
}

bool names_loopback(std::string_view host) {
    if (host.starts_with('[')) return host.substr(0, host.find(']') + 1) == "[::1]";
    const std::string_view name = host.substr(0, host.find(':'));
    if (name == "localhost") return true;
    return name.starts_with("127.") &&
           std::all_of(name.begin(), name.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

bool same_origin(std::string_view origin, std::string_view host) {
    if (origin.empty()) return true;
    const std::size_t scheme = origin.find("://");
    return scheme != std::string_view::npos && origin.substr(scheme + 3) == host;
}

}  // namespace volley::service
