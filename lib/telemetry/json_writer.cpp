#include "telemetry/json_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace volley::telemetry {
namespace {

template <class Number>
void append_number(std::string& out, Number number) {
    std::array<char, 32> text;  // the longest double takes 24 characters, 2^64 - 1 takes 20
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    out.append(text.data(), static_cast<std::size_t>(end - text.data()));
}

}  // namespace

void JsonWriter::comma() {
    if (!first_) out_.push_back(',');
    first_ = false;
}

JsonWriter& JsonWriter::open(char bracket) {
    comma();
    out_.push_back(bracket);
    first_ = true;
    return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
    out_.push_back(bracket);
    first_ = false;
    return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
    comma();
    append_string(name);
    out_.push_back(':');
    first_ = true;
    return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
    comma();
    append_string(text);
    return *this;
}

JsonWriter& JsonWriter::value(std::uint64_t number) {
    comma();
    append_number(out_, number);
    return *this;
}

JsonWriter& JsonWriter::value(int number) {
    comma();
    append_number(out_, number);
    return *this;
}

JsonWriter& JsonWriter::value(double number) {
    if (!std::isfinite(number)) return null();
    comma();
    append_number(out_, number);
    return *this;
}

JsonWriter& JsonWriter::value(bool truth) {
    comma();
    out_ += truth ? "true" : "false";
    return *this;
}

JsonWriter& JsonWriter::null() {
    comma();
    out_ += "null";
    return *this;
}

void JsonWriter::append_string(std::string_view text) {
    const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    if (std::all_of(text.begin(), text.end(), plain)) {
        out_.push_back('"');
        out_ += text;
        out_.push_back('"');
        return;
    }
    using nlohmann::json;
    out_ += json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace volley::telemetry
