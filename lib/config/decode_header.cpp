#include "config/decode_header.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/nearest.h"
#include "config/literal.h"
#include "config/next_hop.h"
#include "config/print.h"
#include "config/rows.h"
#include "config/value.h"
#include "packet/domain.h"

namespace volley::config {
namespace {

using packet::FieldInfo;
using packet::FieldType;
using packet::HeaderKind;
using packet::HeaderModel;

struct RawDraft {
    std::vector<std::uint8_t> bytes;
    std::optional<std::uint32_t> length;
    bool fill = false;
    int forms = 0;
};

const std::array<Row<RawDraft>, 4> raw_rows{{
    {{"hex", "hexadecimal text", "", "", Effect::live, "these bytes"},
     [](Decoder& d, const At& at, RawDraft& r) {
         ++r.forms;
         decode_hex(d, at, r.bytes);
     },
     [](const RawDraft& r) { return to_node(hex_text(r.bytes)); }},
    {{"fill", "hexadecimal text", "", "", Effect::live, "these bytes repeated to `length`, such as \"0xff\""},
     [](Decoder& d, const At& at, RawDraft& r) {
         ++r.forms;
         r.fill = true;
         decode_hex(d, at, r.bytes);
     },
     nullptr},
    {{"length", "integer 1..9724", "", "bytes", Effect::live, "how many bytes `fill` makes"},
     [](Decoder& d, const At& at, RawDraft& r) { d.integer(at, 1, packet::max_frame, r.length); },
     nullptr},
    {{"text", "text", "", "", Effect::live, "the bytes of this text"},
     [](Decoder& d, const At& at, RawDraft& r) {
         ++r.forms;
         decode_bytes_of_text(d, at, r.bytes);
     },
     nullptr},
}};
const Table<RawDraft> raw_table{"raw", raw_rows};

void decode_raw(Decoder& decoder, const At& at, HeaderModel& out) {
    const std::size_t before = decoder.problem_count();
    RawDraft draft;
    decode_object(decoder, at, raw_table, draft);
    if (decoder.problem_count() != before) return;
    if (draft.forms != 1) {
        decoder.wrong(at, "raw takes exactly one of \"hex\", \"text\", and \"fill\" with \"length\"");
    } else if (draft.fill != draft.length.has_value()) {
        decoder.wrong(
            at, draft.fill ? "\"fill\" needs \"length\": how many bytes to fill"
                           : "\"length\" goes with \"fill\" only; hex and text have a length of their own");
    } else if (draft.fill) {
        for (std::uint32_t i = 0; i < *draft.length; ++i)
            out.raw.push_back(draft.bytes[i % draft.bytes.size()]);
    } else {
        out.raw = std::move(draft.bytes);
    }
}

void unknown_field(Decoder& decoder, const Member& member, const std::string& pointer, HeaderKind kind) {
    std::vector<std::string_view> names;
    std::string others;
    for (const FieldInfo& field : packet::all_fields()) {
        if (field.header == kind) names.push_back(field.name);
        if (field.header != kind && field.name == member.key) {
            others += (others.empty() ? "" : ", ") + std::string(packet::name_of(field.header));
        }
    }
    const auto close = nearest(member.key, names);
    std::string text = std::string(packet::name_of(kind)) + " has no field " + quote(member.key);
    if (!close.empty()) {
        text += "; did you mean " + quote(close) + "?";
    } else if (!others.empty()) {
        text += "; a field of that name is in " + others;
    } else {
        text += "; its fields are";
        for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? " " : ", ") + std::string(names[i]);
    }
    decoder.wrong(member.mark, pointer, text);
}

void decode_domain(Decoder& decoder, const At& at, std::vector<std::uint8_t>& out) {
    const std::string* text = at.node.text();
    std::string why;
    if (text == nullptr) {
        decoder.mismatch(at, "a name such as \"www.example.com\"");
    } else if (auto labels = packet::domain_labels(*text, why); !labels) {
        decoder.wrong(at, why);
    } else {
        out = std::move(*labels);
    }
}

void decode_field(Decoder& decoder, const At& at, const FieldInfo& field, HeaderModel& out) {
    if (field.type == FieldType::bytes || field.type == FieldType::domain) {
        std::vector<std::uint8_t> bytes;
        const std::size_t before = decoder.problem_count();
        field.type == FieldType::bytes ? decode_hex(decoder, at, bytes) : decode_domain(decoder, at, bytes);
        if (decoder.problem_count() == before) out.bytes.emplace_back(&field, std::move(bytes));
        return;
    }
    if (out.kind == HeaderKind::eth && field.name == "dst" && at.node.text() != nullptr &&
        *at.node.text() == resolve_word) {
        out.resolve = true;
        return;
    }
    if (auto program = decode_value(decoder, at, spec_of(field)))
        out.fields.push_back({&field, std::move(*program)});
}

bool has_field(const HeaderModel& header, const FieldInfo* field) {
    return std::any_of(header.fields.begin(), header.fields.end(),
                       [&](const auto& f) { return f.field == field; }) ||
           std::any_of(header.bytes.begin(), header.bytes.end(),
                       [&](const auto& f) { return f.first == field; });
}

void decode_fields(Decoder& decoder, const At& at, HeaderModel& out) {
    const auto* members = at.node.object();
    if (members == nullptr) {
        decoder.mismatch(at, "an object of fields, or {} for the defaults,");
        return;
    }
    for (const Member& member : *members) {
        const std::string pointer = child_pointer(at.pointer, member.key);
        const FieldInfo* field = packet::find_field(out.kind, member.key);
        if (field == nullptr) {
            unknown_field(decoder, member, pointer, out.kind);
        } else if (!has_field(out, field)) {
            decode_field(decoder, {member.value, pointer}, *field, out);
        }
    }
}

void unknown_header(Decoder& decoder, const Member& member, const std::string& pointer) {
    const auto close = nearest(member.key, packet::header_names());
    std::string text = "unknown header " + quote(member.key);
    if (!close.empty()) {
        text += "; did you mean " + quote(close) + "?";
    } else {
        text += "; the headers are";
        for (const std::string_view name : packet::header_names()) text += " " + std::string(name);
    }
    decoder.wrong(member.mark, pointer, text);
}

}  // namespace

void decode_hex(Decoder& decoder, const At& at, std::vector<std::uint8_t>& out) {
    const std::string* text = at.node.text();
    std::string why;
    if (text == nullptr) {
        decoder.mismatch(at, "bytes as hexadecimal text such as \"0xff00\"");
    } else if (auto bytes = parse_hex(*text, why); !bytes) {
        decoder.wrong(at, why);
    } else if (bytes->size() > packet::max_frame) {
        decoder.wrong(at, "is " + std::to_string(bytes->size()) + " bytes long; the most is " +
                              std::to_string(packet::max_frame));
    } else {
        out = std::move(*bytes);
    }
}

void decode_bytes_of_text(Decoder& decoder, const At& at, std::vector<std::uint8_t>& out) {
    const std::string* text = at.node.text();
    if (text == nullptr || text->empty()) {
        decoder.mismatch(at, "a text");
    } else if (text->size() > packet::max_frame) {
        decoder.wrong(at, "is " + std::to_string(text->size()) + " bytes long; the most is " +
                              std::to_string(packet::max_frame));
    } else {
        out.assign(text->begin(), text->end());
    }
}

void decode_headers(Decoder& decoder, const At& at, packet::PacketModel& out) {
    const auto* array = at.node.array();
    if (array == nullptr) {
        decoder.mismatch(at, "an array such as [{\"eth\": {}}, {\"ipv4\": {}}]");
        return;
    }
    for (std::size_t i = 0; i < array->size(); ++i) {
        const At item{(*array)[i], child_pointer(at.pointer, i)};
        const auto* members = item.node.object();
        if (members == nullptr || members->size() != 1) {
            decoder.wrong(
                item,
                members == nullptr
                    ? "is " + describe(item.node) + "; a header such as {\"eth\": {}} is needed"
                    : "holds " + std::to_string(members->size()) +
                          " headers; each stands in braces of its own: [{\"eth\": {}}, {\"ipv4\": {}}]");
            continue;
        }
        const Member& member = members->front();
        const At body{member.value, child_pointer(item.pointer, member.key)};
        const HeaderKind* kind = packet::find_header(member.key);
        if (kind == nullptr) {
            unknown_header(decoder, member, body.pointer);
            continue;
        }
        HeaderModel& header = out.headers.emplace_back();
        header.kind = *kind;
        header.pointer = item.pointer;
        if (*kind == HeaderKind::raw) {
            decode_raw(decoder, body, header);
        } else {
            decode_fields(decoder, body, header);
        }
    }
}

Node encode_headers(const packet::PacketModel& packet) {
    Node::Array items;
    for (const HeaderModel& header : packet.headers) {
        Node::Object fields;
        if (header.kind == HeaderKind::raw) fields.push_back({"hex", {}, to_node(hex_text(header.raw))});
        if (header.resolve) fields.push_back({"dst", {}, to_node(std::string(resolve_word))});
        for (const auto& value : header.fields) {
            if (header.resolve && value.field->name == "dst") continue;  // found out, not said
            fields.push_back(
                {std::string(value.field->name), {}, encode_value(value.program, spec_of(*value.field))});
        }
        for (const auto& [field, bytes] : header.bytes) {
            const bool domain = field->type == FieldType::domain;
            fields.push_back({std::string(field->name),
                              {},
                              to_node(domain ? packet::domain_text(bytes) : hex_text(bytes))});
        }
        Node::Object one;
        one.push_back({std::string(packet::name_of(header.kind)), {}, Node{std::move(fields), {}}});
        items.push_back({std::move(one), {}});
    }
    return {std::move(items), {}};
}

void append_header_keys(std::vector<KeyInfo>& out) {
    append_keys(raw_table, out);
}

}  // namespace volley::config
