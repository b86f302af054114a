#include <algorithm>

#include "config/print.h"
#include "config/program_rows.h"

namespace volley::config {
namespace {

using packet::Program;
using packet::Value;
using Kind = Program::Kind;

constexpr Value largest_value = ~Value{0};

std::string shown(const ValueSpec& spec, Value value) {
    const Node node = literal_node(spec.type, value);
    return node.text() != nullptr ? *node.text() : std::to_string(*node.number());
}

void check_fits(Decoder& decoder, const At& at, const ProgramDraft& draft, Value source) {
    const ValueSpec& spec = *draft.spec;
    const Value value = transformed(draft.program, source);
    if (draft.program.mask || (value >= spec.low && value <= spec.high)) return;
    const std::string made =
        value == source ? shown(spec, value)
                        : shown(spec, source) + " with add and shift makes " + shown(spec, value) + ", which";
    decoder.wrong(at, made + " is out of range: " + spec.name + " goes from " + shown(spec, spec.low) +
                          " to " + shown(spec, spec.high));
}

void check_range(Decoder& decoder, const At& at, const ProgramDraft& draft) {
    const Program& program = draft.program;
    if (!draft.from || !draft.to) return;  // said already
    const bool down = program.kind == Kind::decrement;
    if (down ? program.from < program.to : program.from > program.to) {
        decoder.wrong(*draft.from,
                      down ? "a decrement runs from its largest value down: exchange \"from\" and \"to\""
                           : "\"from\" is larger than \"to\": exchange them");
        return;
    }
    check_fits(decoder, *draft.from, draft, program.from);
    check_fits(decoder, *draft.to, draft, program.to);
    const Value count = program.kind == Kind::random ? program.to - program.from : 0;
    if (program.distinct && count != largest_value && *program.distinct > count + 1) {
        decoder.wrong(at, "\"distinct\" asks for " + std::to_string(*program.distinct) + " values of " +
                              shown({}, count + 1) + " that there are");
    }
}

// What only makes sense with some of the programs.
void check_modifiers(Decoder& decoder, const At& at, const ProgramDraft& draft) {
    const bool outer_every = find(at.node, "every") != nullptr;
    const bool outer_nest = find(at.node, "nest") != nullptr;
    const Kind kind = draft.program.kind;
    if ((outer_every || outer_nest) && kind != Kind::list) {
        const std::string key = outer_every ? "every" : "nest";
        decoder.wrong(at, quote(key) + " stands beside \"list\" only; " +
                              (kind == Kind::variable ? "give it to the variable"
                                                      : "write it inside " + quote(key_of(kind))));
    }
}

}  // namespace

ValueSpec spec_of(const packet::FieldInfo& field) {
    const Value high = field.bit_width >= 128 ? largest_value : (Value{1} << field.bit_width) - 1;
    return {field.type, false, 0, high,
            std::string(packet::name_of(field.header)) + "." + std::string(field.name)};
}

ValueSpec variable_spec(std::string name) {
    return {packet::FieldType::number, true, 0, largest_value, std::move(name)};
}

ValueSpec frame_size_spec() {
    return {packet::FieldType::number, false, fcs_bytes + 1, largest_frame, "frame_size"};
}

Value transformed(const Program& program, Value source) {
    const Value sum = source + program.add;
    return program.shift >= 0 ? sum << static_cast<unsigned>(program.shift)
                              : sum >> static_cast<unsigned>(-program.shift);
}

std::optional<Program> decode_value(Decoder& decoder, const At& at, const ValueSpec& spec) {
    if (at.node.object() != nullptr) return decode_program(decoder, at, spec);
    const std::size_t before = decoder.problem_count();
    ProgramDraft draft;
    draft.spec = &spec;
    decode_literal(decoder, at, spec, draft.program.from);
    if (decoder.problem_count() == before) check_fits(decoder, at, draft, draft.program.from);
    if (decoder.problem_count() != before) return std::nullopt;
    return draft.program;
}

std::optional<Program> decode_program(Decoder& decoder, const At& at, const ValueSpec& spec) {
    const std::size_t before = decoder.problem_count();
    ProgramDraft draft;
    draft.spec = &spec;
    decode_object(decoder, at, program_table(), draft);
    if (draft.form_count != 1 && decoder.problem_count() == before) {
        const std::string known = "increment, decrement, list, random or variable";
        decoder.wrong(at, draft.form_count == 0 ? "a value as an object needs one of " + known
                                                : "holds " + draft.forms + "; a value takes one of " + known);
    }
    if (decoder.problem_count() != before) return std::nullopt;
    check_modifiers(decoder, at, draft);
    if (draft.list) {
        for (std::size_t i = 0; i < draft.program.list.size(); ++i) {
            check_fits(decoder, {(*draft.list->node.array())[i], child_pointer(draft.list->pointer, i)},
                       draft, draft.program.list[i]);
        }
    } else if (draft.program.kind != Kind::variable) {
        check_range(decoder, at, draft);
    }
    if (draft.program.mask && *draft.program.mask > spec.high) {
        decoder.wrong(at, "the mask " + shown(spec, *draft.program.mask) + " has bits outside " + spec.name);
    }
    if (decoder.problem_count() != before) return std::nullopt;
    return draft.program;
}

Node encode_value(const Program& program, const ValueSpec& spec) {
    if (program.kind == Kind::literal) {
        return literal_node(spec.type, program.from);
    }
    ProgramDraft draft;
    draft.spec = &spec;
    draft.program = program;
    Node::Object members;
    for (const Row<ProgramDraft>& row : program_table().rows) {
        const std::string_view name = row.key.name;
        const bool is_form = row.key.standard.empty();
        const bool applies = is_form                             ? name == key_of(program.kind)
                             : name == "every" || name == "nest" ? program.kind == Kind::list
                                                                 : true;
        if (applies) members.push_back({std::string(name), {}, row.encode(draft)});
    }
    return {std::move(members), {}};
}

}  // namespace volley::config
