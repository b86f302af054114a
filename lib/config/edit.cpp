#include "config/edit.h"

#include <algorithm>
#include <utility>

#include "config/print.h"
#include "config/reader.h"

namespace volley::config {
namespace {

void forget_marks(Node& node) {
    node.mark = {};
    if (auto* array = node.array()) {
        for (Node& item : *array) forget_marks(item);
    }
    if (auto* object = node.object()) {
        for (Member& member : *object) {
            member.mark = {};
            forget_marks(member.value);
        }
    }
}

// JSON when it is JSON; a duplicate key in it is still a problem. Anything else is a text: name=east needs no
// quotes.
Node value_of(const std::string& text, const std::string& pointer, Problems& problems) {
    Problems found;
    auto node = read_json(text, "--set", false, found);
    if (!node) return {text, {}};
    if (!found.empty()) problems.add({"--set", 0, 0, pointer, "a key stands twice in " + quote(text)});
    forget_marks(*node);
    return std::move(*node);
}

// The child that `key` names, made when it may be; nullptr with `why` when it cannot be.
Node* child(Node& node, const std::string& key, std::string& why) {
    if (node.is_null()) node.value = Node::Object{};
    if (auto* object = node.object()) {
        for (Member& member : *object) {
            if (member.key == key) return &member.value;
        }
        return &object->emplace_back(Member{key, {}, {}}).value;
    }
    auto* array = node.array();
    if (array == nullptr) {
        why = "is " + describe(node) + ", which holds nothing";
        return nullptr;
    }
    if (key == "-" || key == std::to_string(array->size())) return &array->emplace_back();
    const std::size_t index = array_index(key, array->size());
    if (index < array->size()) return &(*array)[index];
    why = "has " + std::to_string(array->size()) + " entries; there is no entry " + quote(key) +
          " (\"-\" appends)";
    return nullptr;
}

}  // namespace

void apply_edit(Node& root, const std::string& edit, Problems& problems) {
    const std::size_t equals = edit.find('=');
    if (equals == std::string::npos || equals == 0 || edit[0] != '/') {
        problems.add({"--set", 0, 0, "",
                      quote(edit) + " is not of the form /json/pointer=value, such as /streams/0/rate=50%"});
        return;
    }
    const std::string pointer = edit.substr(0, equals);
    if (!is_utf8(edit)) return problems.add({"--set", 0, 0, "", quote(edit) + " is not valid UTF-8"});
    if (static_cast<std::size_t>(std::count(pointer.begin(), pointer.end(), '/')) > deepest_nesting) {
        return problems.add(
            {"--set", 0, 0, "",
             quote(pointer) + " goes deeper than " + std::to_string(deepest_nesting) + " levels"});
    }
    Node* node = &root;
    std::string_view rest = pointer;
    while (!rest.empty()) {
        const std::size_t walked = pointer.size() - rest.size();
        PointerStep step = next_step(rest);
        std::string why;
        node = child(*node, step.key, why);
        if (node == nullptr) {
            problems.add(
                {"--set", 0, 0, pointer, (walked == 0 ? "the file" : pointer.substr(0, walked)) + " " + why});
            return;
        }
        rest = step.rest;
    }
    *node = value_of(edit.substr(equals + 1), pointer, problems);
}

}  // namespace volley::config
