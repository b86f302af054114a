#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace volley::telemetry {

/// Appends one JSON text to a string, keys in the order they are given. A report holds 20,000 streams, so it
/// is written straight out instead of through a tree of nodes. The caller gives each key of an object once.
class JsonWriter {
  public:
    explicit JsonWriter(std::string& out) : out_(out) {}

    JsonWriter& begin_object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& begin_array() { return open('['); }
    JsonWriter& end_array() { return close(']'); }
    JsonWriter& key(std::string_view name);

    JsonWriter& value(std::string_view text);  ///< any bytes: what is not UTF-8 becomes U+FFFD
    JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(std::uint64_t number);
    JsonWriter& value(std::uint32_t number) { return value(std::uint64_t{number}); }
    JsonWriter& value(int number);
    JsonWriter& value(double number);  ///< the shortest text that reads back alike; null unless finite
    JsonWriter& value(bool truth);
    JsonWriter& null();
    template <class T>
    JsonWriter& value(const std::optional<T>& maybe) {
        return maybe ? value(*maybe) : null();
    }

    template <class T>
    JsonWriter& member(std::string_view name, const T& what) {
        return key(name).value(what);
    }

  private:
    JsonWriter& open(char bracket);
    JsonWriter& close(char bracket);
    void comma();
    void append_string(std::string_view text);

    std::string& out_;
    bool first_ = true;  ///< no comma before the next value: it is the first of its bracket, or follows a key
};

}  // namespace volley::telemetry
