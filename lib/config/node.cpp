#include "config/node.h"

#include <algorithm>
#include <charconv>

#include "config/print.h"

namespace volley::config {
namespace {

bool number_of(const Node& node, double& out) {
    if (const auto* u = node.number()) {
        out = static_cast<double>(*u);
    } else if (const auto* i = std::get_if<std::int64_t>(&node.value)) {
        out = static_cast<double>(*i);
    } else if (const auto* d = std::get_if<double>(&node.value)) {
        out = *d;
    } else {
        return false;
    }
    return true;
}

std::string real_text(double value) {
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
    return {buffer, end.ptr};
}

const Node* child(const Node& node, const std::string& key) {
    const auto* array = node.array();
    if (array == nullptr) return find(node, key);
    const std::size_t index = array_index(key, array->size());
    return index < array->size() ? &(*array)[index] : nullptr;
}

}  // namespace

const Node* find(const Node& node, std::string_view key) {
    const auto* object = node.object();
    if (object == nullptr) return nullptr;
    const auto at =
        std::find_if(object->begin(), object->end(), [&](const Member& m) { return m.key == key; });
    return at == object->end() ? nullptr : &at->value;
}

bool same_value(const Node& a, const Node& b) {
    if (a.value.index() != b.value.index()) {
        double x = 0;
        double y = 0;
        return number_of(a, x) && number_of(b, y) && x == y;
    }
    if (const auto* array = a.array()) {
        return std::equal(array->begin(), array->end(), b.array()->begin(), b.array()->end(), same_value);
    }
    if (const auto* object = a.object()) {
        return object->size() == b.object()->size() &&
               std::all_of(object->begin(), object->end(), [&](const Member& m) {
                   const Node* other = find(b, m.key);
                   return other != nullptr && same_value(m.value, *other);
               });
    }
    if (a.is_null()) return true;
    if (const auto* text = a.text()) return *text == *b.text();
    if (const auto* boolean = a.boolean()) return *boolean == *b.boolean();
    if (const auto* number = a.number()) return *number == *b.number();
    double x = 0;
    double y = 0;
    return number_of(a, x) && number_of(b, y) && x == y;
}

std::string describe(const Node& node) {
    if (node.is_null()) return "null";
    if (const auto* boolean = node.boolean()) return *boolean ? "true" : "false";
    if (const auto* number = node.number()) return "the number " + std::to_string(*number);
    if (const auto* number = std::get_if<std::int64_t>(&node.value))
        return "the number " + std::to_string(*number);
    if (const auto* number = std::get_if<double>(&node.value)) return "the number " + real_text(*number);
    if (const auto* text = node.text()) return "the text " + quote(*text);
    return node.array() != nullptr ? "an array" : "an object";
}

std::string child_pointer(std::string_view pointer, std::string_view key) {
    std::string out(pointer);
    out.push_back('/');
    for (const char c : key) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out.push_back(c);
        }
    }
    return out;
}

std::string child_pointer(std::string_view pointer, std::size_t index) {
    return std::string(pointer) + "/" + std::to_string(index);
}

PointerStep next_step(std::string_view pointer) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    PointerStep step{{}, pointer.substr(end)};
    for (std::size_t i = 0; i < end; ++i) {
        if (pointer[i] == '~' && i + 1 < end && (pointer[i + 1] == '0' || pointer[i + 1] == '1')) {
            step.key.push_back(pointer[++i] == '0' ? '~' : '/');
        } else {
            step.key.push_back(pointer[i]);
        }
    }
    return step;
}

std::size_t array_index(std::string_view key, std::size_t size) {
    std::size_t index = size;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    const bool canonical = key == "0" || (!key.empty() && key[0] != '0');
    return error == std::errc{} && end == key.data() + key.size() && canonical && index < size ? index : size;
}

const Node* at_pointer(const Node& root, std::string_view pointer) {
    const Node* node = &root;
    while (node != nullptr && !pointer.empty()) {
        const PointerStep step = next_step(pointer);
        pointer = step.rest;
        node = child(*node, step.key);
    }
    return node;
}

Mark locate(const Node& root, std::string_view pointer) {
    const Node* node = &root;
    while (!pointer.empty()) {
        const PointerStep step = next_step(pointer);
        pointer = step.rest;
        const Node* next = child(*node, step.key);
        if (next == nullptr) break;
        node = next;
    }
    return node->mark;
}

}  // namespace volley::config
