#include "config/reference.h"

#include <string_view>

#include "config/key.h"
#include "packet/fields.h"

namespace volley::config {
namespace {

std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c;
    }
    return out;
}

std::string code(std::string_view text) {
    return text.empty() ? std::string() : "`" + cell(text) + "`";
}

std::string standard_of(const Key& key) {
    return key.standard == "required" ? "required" : code(key.standard);
}

std::string type_of(const Key& key) {
    return cell(key.type) + (key.unit.empty() ? "" : ", " + cell(key.unit));
}

std::string bits_of(const packet::FieldInfo& field) {
    return field.bit_width == 0 ? std::string("any") : std::to_string(field.bit_width);
}

std::string_view type_of(const packet::FieldInfo& field) {
    switch (field.type) {
        case packet::FieldType::mac:
            return "MAC address";
        case packet::FieldType::ipv4:
            return "IPv4 address";
        case packet::FieldType::ipv6:
            return "IPv6 address";
        case packet::FieldType::flags:
            return "TCP flags";
        case packet::FieldType::bytes:
            return "hexadecimal text";
        case packet::FieldType::domain:
            return "domain name";
        case packet::FieldType::number:
            break;
    }
    return "number";
}

}  // namespace

std::string keys_reference() {
    std::string out;
    std::string_view object = "none yet";
    for (const KeyInfo& info : all_keys()) {
        if (info.object != object) {
            object = info.object;
            out += "\n### " + (object.empty() ? std::string("Top level") : code(object)) + "\n\n";
            out += "| key | type | default | reload | meaning |\n|---|---|---|---|---|\n";
        }
        out += "| " + code(info.key.name) + " | " + type_of(info.key) + " | " + standard_of(info.key) +
               " | " + std::string(name_of(info.key.effect)) + " | " + cell(info.key.description) + " |\n";
    }
    return out + "\n";
}

std::string fields_reference() {
    std::string out =
        "\n| header | field | type | bits | filled in when absent | meaning |\n|---|---|---|---|---|---|\n";
    for (const packet::FieldInfo& field : packet::all_fields()) {
        out += "| `" + std::string(packet::name_of(field.header)) + "` | " + code(field.name) + " | " +
               std::string(type_of(field)) + " | " + bits_of(field) + " | " + cell(field.filled) + " | " +
               cell(field.description) + " |\n";
    }
    return out + "\n";
}

std::string later_reference() {
    std::string out = "\n| object | key | may stand as | for |\n|---|---|---|---|\n";
    for (const LaterKey& key : later_keys()) {
        out += "| " + code(key.object) + " | " + code(key.name) + " | " + code(key.standard) + " | " +
               cell(key.description) + " |\n";
    }
    return out + "\n";
}

}  // namespace volley::config
