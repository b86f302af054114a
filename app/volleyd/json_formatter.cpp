#include "volleyd/json_formatter.h"

#include <chrono>
#include <string>
#include <string_view>

namespace volley::app {
namespace {

void append(spdlog::memory_buf_t& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
}

void append_escaped(spdlog::memory_buf_t& out, std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out.push_back('\\');
            out.push_back(c);
        } else if (byte < 0x20) {
            append(out, "\\u00");
            out.push_back(hex[byte >> 4]);
            out.push_back(hex[byte & 15]);
        } else {
            out.push_back(c);
        }
    }
}

}  // namespace

void JsonFormatter::format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) {
    const auto ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(message.time.time_since_epoch()).count();
    const auto level = spdlog::level::to_string_view(message.level);
    append(out, "{\"time_unix_ns\":" + std::to_string(ns) + ",\"level\":\"");
    append(out, {level.data(), level.size()});
    append(out, "\",\"message\":\"");
    append_escaped(out, {message.payload.data(), message.payload.size()});
    append(out, "\"}\n");
}

std::unique_ptr<spdlog::formatter> JsonFormatter::clone() const {
    return std::make_unique<JsonFormatter>();
}

}  // namespace volley::app
