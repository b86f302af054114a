#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/decoder.h"
#include "config/key.h"
#include "config/node.h"

namespace volley::config {

/// One key of T: what it is, how it is read and how it is written. The tables of rows are the whole decoder.
template <class T>
struct Row {
    Key key;
    void (*decode)(Decoder& decoder, const At& at, T& out);
    Node (*encode)(const T& value);
};

template <class T>
struct Table {
    std::string_view object;  ///< as in KeyInfo
    std::span<const Row<T>> rows;
};

template <class T>
void append_keys(const Table<T>& table, std::vector<KeyInfo>& out) {
    for (const Row<T>& row : table.rows) out.push_back({table.object, row.key});
}

/// Reads an object by its table. null stands for absence where the default is null. A duplicate counts once.
template <class T>
void decode_object(Decoder& decoder, const At& at, const Table<T>& table, T& out) {
    const auto* members = at.node.object();
    if (members == nullptr) {
        decoder.mismatch(at, "an object {…}");
        return;
    }
    std::vector<bool> seen(table.rows.size());
    for (const Member& member : *members) {
        const std::string pointer = child_pointer(at.pointer, member.key);
        if (const LaterKey* later = find_later(table.object, member.key)) {
            decoder.later_key(*later, member, pointer);
            continue;
        }
        const auto row = std::find_if(table.rows.begin(), table.rows.end(),
                                      [&](const Row<T>& r) { return r.key.name == member.key; });
        if (row == table.rows.end()) {
            std::vector<std::string_view> names;
            for (const Row<T>& r : table.rows) names.push_back(r.key.name);
            decoder.unknown_key(table.object, member, pointer, names);
            continue;
        }
        const auto index = static_cast<std::size_t>(row - table.rows.begin());
        if (seen[index]) continue;
        seen[index] = true;
        if (member.value.is_null() && row->key.standard == "null") continue;
        row->decode(decoder, {member.value, pointer}, out);
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const Key& key = table.rows[i].key;
        if (!seen[i] && key.standard == "required") {
            decoder.wrong(at,
                          "\"" + std::string(key.name) + "\" is missing: " + std::string(key.description));
        }
    }
}

template <class T>
Node encode_object(const Table<T>& table, const T& value) {
    Node::Object members;
    for (const Row<T>& row : table.rows) {
        if (row.encode == nullptr || find_later(table.object, row.key.name) != nullptr) continue;
        members.push_back({std::string(row.key.name), {}, row.encode(value)});
    }
    return {std::move(members), {}};
}

inline Node to_node(bool value) {
    return {value, {}};
}
inline Node to_node(double value) {
    return {value, {}};
}
inline Node to_node(std::uint64_t value) {
    return {value, {}};
}
inline Node to_node(std::uint32_t value) {
    return {std::uint64_t{value}, {}};
}
inline Node to_node(const std::string& value) {
    return {value, {}};
}
inline Node to_node(Duration value) {
    return {to_text(value), {}};
}
inline Node to_node(const Rate& value) {
    return {to_text(value), {}};
}
template <class T>
Node to_node(const std::vector<T>& values) {
    Node::Array items;
    for (const T& value : values) items.push_back(to_node(value));
    return {std::move(items), {}};
}
template <class T>
Node to_node(const std::optional<T>& value) {
    return value ? to_node(*value) : Node{};
}

}  // namespace volley::config
