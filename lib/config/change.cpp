#include "config/change.h"

#include <algorithm>
#include <string_view>

#include "config/key.h"
#include "config/print.h"
#include "config/tables.h"

namespace volley::config {
namespace {

bool is_object(std::string_view object) {
    return std::any_of(all_keys().begin(), all_keys().end(),
                       [&](const KeyInfo& k) { return k.object == object; });
}

Effect effect_of(std::string_view object, std::string_view name) {
    for (const KeyInfo& info : all_keys()) {
        if (info.object == object && info.key.name == name) return info.key.effect;
    }
    return Effect::restart;
}

void note(Change& change, Effect effect, std::string pointer) {
    switch (effect) {
        case Effect::live:
            change.live.push_back(std::move(pointer));
            break;
        case Effect::next_run:
            change.next_run.push_back(std::move(pointer));
            break;
        case Effect::restart:
            change.restart.push_back(std::move(pointer));
            break;
        case Effect::none:
            break;
    }
}

const Node* named(const Node& ports, const Node& name) {
    for (const Node& port : *ports.array()) {
        if (same_value(*find(port, "name"), name)) return &port;
    }
    return nullptr;
}

void compare_ports(Change& change, const Node& running, const Node& fresh);

// Both trees come from the encoder: the same members in the same order, every default filled in.
void compare(Change& change, const std::string& object, const std::string& pointer, const Node& running,
             const Node& fresh) {
    for (const Member& member : *fresh.object()) {
        const Node& old = *find(running, member.key);
        if (same_value(old, member.value)) continue;
        const std::string child = object.empty() ? member.key : object + "." + member.key;
        const std::string place = child_pointer(pointer, member.key);
        if (child == "ports") {
            compare_ports(change, old, member.value);
        } else if (old.object() != nullptr && member.value.object() != nullptr && is_object(child)) {
            compare(change, child, place, old, member.value);
        } else {
            note(change, effect_of(object, member.key), place);
        }
    }
}

void compare_ports(Change& change, const Node& running, const Node& fresh) {
    for (std::size_t i = 0; i < fresh.array()->size(); ++i) {
        const Node& port = (*fresh.array())[i];
        const std::string pointer = child_pointer("/ports", i);
        if (const Node* old = named(running, *find(port, "name"))) {
            compare(change, "ports[]", pointer, *old, port);
        } else {
            change.restart.push_back(pointer);
        }
    }
    for (const Node& port : *running.array()) {
        const Node& name = *find(port, "name");
        if (named(fresh, name) == nullptr)
            change.restart.push_back("/ports (without " + quote(*name.text()) + ")");
    }
}

}  // namespace

Change classify(const Model& running, const Model& fresh) {
    Change change;
    compare(change, "", "", encode_model(running), encode_model(fresh));
    if (!change.restart.empty()) {
        change.kind = Change::Kind::needs_restart;
    } else if (!change.live.empty() || !change.next_run.empty()) {
        change.kind = Change::Kind::traffic_only;
    }
    return change;
}

}  // namespace volley::config
