#include <algorithm>
#include <array>
#include <limits>

#include "config/print.h"
#include "config/rows.h"
#include "config/tables.h"
#include "config/value.h"
#include "packet/text.h"

namespace volley::config {
namespace {

using packet::Program;
using packet::Value;
using Kind = Program::Kind;

constexpr Value largest_value = ~Value{0};

// A program while it is read, with the places that later checks point at.
struct Draft {
    const ValueSpec* spec = nullptr;
    Program program;
    std::string forms;  // the program keys seen, "increment and list"
    int form_count = 0;
    std::optional<At> from;
    std::optional<At> to;
    std::optional<At> list;
};

void literal(Decoder& decoder, const At& at, const ValueSpec& spec, Value& out) {
    std::string why;
    const auto value = spec.untyped ? parse_untyped(at.node, why) : parse_literal(spec.type, at.node, why);
    if (value) {
        out = *value;
    } else {
        decoder.wrong(at, why);
    }
}

template <Value Program::*member>
void literal_row(Decoder& decoder, const At& at, Draft& out) {
    literal(decoder, at, *out.spec, out.program.*member);
}

void step_row(Decoder& decoder, const At& at, Draft& out) {
    Value step = 1;
    literal(decoder, at, *out.spec, step);
    if (step == 0) {
        decoder.wrong(at, "a step of 0 never moves; the least is 1");
    } else {
        out.program.step = step;
    }
}

void every_row(Decoder& decoder, const At& at, Draft& out) {
    decoder.integer(at, 1, UINT64_MAX, out.program.every);
}

void nest_row(Decoder& decoder, const At& at, Draft& out) {
    decoder.text(at, "a field such as \"ipv4.src\"", out.program.nest);
}

Node from_node(const Draft& d) {
    return literal_node(d.spec->type, d.program.from);
}
Node to_row_node(const Draft& d) {
    return literal_node(d.spec->type, d.program.to);
}
Node step_node(const Draft& d) {
    return literal_node(packet::FieldType::number, d.program.step);
}
Node add_node(const Draft& d) {
    return d.program.add == 0 ? to_node(std::uint64_t{0}) : literal_node(d.spec->type, d.program.add);
}
Node every_node(const Draft& d) {
    return to_node(d.program.every);
}
Node nest_node(const Draft& d) {
    return d.program.nest.empty() ? Node{} : to_node(d.program.nest);
}

void from_row(Decoder& decoder, const At& at, Draft& out) {
    out.from.emplace(at);
    literal_row<&Program::from>(decoder, at, out);
}

void to_row(Decoder& decoder, const At& at, Draft& out) {
    out.to.emplace(at);
    literal_row<&Program::to>(decoder, at, out);
}

constexpr Row<Draft> every_key{{"every", "integer from 1", "1", "packets", Effect::live,
                                "packets that share a value before it moves on"},
                               every_row,
                               every_node};
constexpr Row<Draft> nest_key{{"nest", "\"layer.field\" or a variable", "null", "", Effect::live,
                               "move on once per full cycle of that field instead of once per packet"},
                              nest_row,
                              nest_node};

const std::array<Row<Draft>, 5> range_rows{{
    {{"from", "value", "required", "", Effect::live, "the first value; the largest for decrement"},
     from_row,
     from_node},
    {{"to", "value", "required", "", Effect::live, "the last value, inclusive; then it starts again"},
     to_row,
     to_row_node},
    {{"step", "value from 1", "1", "", Effect::live, "distance of two values"}, step_row, step_node},
    every_key,
    nest_key,
}};

const std::array<Row<Draft>, 6> random_rows{{
    {{"from", "value", "required", "", Effect::live, "the smallest value"}, from_row, from_node},
    {{"to", "value", "required", "", Effect::live, "the largest value"}, to_row, to_row_node},
    {{"seed", "integer", "1", "", Effect::live, "the same seed gives the same packets"},
     [](Decoder& d, const At& at, Draft& p) { d.integer(at, 0, UINT64_MAX, p.program.seed); },
     [](const Draft& p) { return to_node(p.program.seed); }},
    {{"distinct", "integer from 1", "null", "", Effect::live, "draw from this many different values only"},
     [](Decoder& d, const At& at, Draft& p) { d.integer(at, 1, UINT64_MAX, p.program.distinct); },
     [](const Draft& p) { return to_node(p.program.distinct); }},
    {{"permute", "boolean", "false", "", Effect::live, "every value once before any comes again"},
     [](Decoder& d, const At& at, Draft& p) { d.read(at, p.program.permute); },
     [](const Draft& p) { return to_node(p.program.permute); }},
    every_key,
}};

const Table<Draft> increment_table{"value.increment", range_rows};
const Table<Draft> decrement_table{"value.decrement", range_rows};
const Table<Draft> random_table{"value.random", random_rows};

void form(Draft& out, Kind kind) {
    out.program.kind = kind;
    out.forms += (out.form_count++ > 0 ? " and " : "") + quote(key_of(kind));
}

void list_row(Decoder& decoder, const At& at, Draft& out) {
    form(out, Kind::list);
    const auto* array = at.node.array();
    if (array == nullptr || array->empty()) {
        decoder.mismatch(at, "an array of at least one value");
        return;
    }
    out.list.emplace(at);
    out.program.list.resize(array->size());
    for (std::size_t i = 0; i < array->size(); ++i) {
        literal(decoder, {(*array)[i], child_pointer(at.pointer, i)}, *out.spec, out.program.list[i]);
    }
}

void shift_row(Decoder& decoder, const At& at, Draft& out) {
    const auto* up = at.node.number();
    const auto* down = std::get_if<std::int64_t>(&at.node.value);
    if (up != nullptr && *up < 128) {
        out.program.shift = static_cast<int>(*up);
    } else if (down != nullptr && *down > -128) {
        out.program.shift = static_cast<int>(*down);
    } else {
        decoder.mismatch(at, "an integer from -127 to 127");
    }
}

Node list_node(const Draft& d) {
    Node::Array items;
    for (const Value value : d.program.list) items.push_back(literal_node(d.spec->type, value));
    return {std::move(items), {}};
}

const std::array<Row<Draft>, 10> value_rows{{
    {{"increment", "object", "", "", Effect::live, "count up from `from` to `to`, then again"},
     [](Decoder& d, const At& at, Draft& p) {
         form(p, Kind::increment);
         decode_object(d, at, increment_table, p);
     },
     [](const Draft& p) { return encode_object(increment_table, p); }},
    {{"decrement", "object", "", "", Effect::live, "count down from `from` to `to`, then again"},
     [](Decoder& d, const At& at, Draft& p) {
         form(p, Kind::decrement);
         decode_object(d, at, decrement_table, p);
     },
     [](const Draft& p) { return encode_object(decrement_table, p); }},
    {{"list", "array of values", "", "", Effect::live, "these values in turn"}, list_row, list_node},
    {{"random", "object", "", "", Effect::live, "seeded random values"},
     [](Decoder& d, const At& at, Draft& p) {
         form(p, Kind::random);
         decode_object(d, at, random_table, p);
     },
     [](const Draft& p) { return encode_object(random_table, p); }},
    {{"variable", "name", "", "", Effect::live, "the value of that entry of packet.variables"},
     [](Decoder& d, const At& at, Draft& p) {
         form(p, Kind::variable);
         d.text(at, "the name of an entry of packet.variables", p.program.variable);
     },
     [](const Draft& p) { return to_node(p.program.variable); }},
    every_key,
    nest_key,
    {{"mask", "value", "null", "", Effect::live,
      "applied last: only these bits are written, the others stay"},
     [](Decoder& d, const At& at, Draft& p) { literal(d, at, *p.spec, p.program.mask.emplace(0)); },
     [](const Draft& p) { return p.program.mask ? literal_node(p.spec->type, *p.program.mask) : Node{}; }},
    {{"shift", "integer -127..127", "0", "bits", Effect::live,
      "to the left, or right when negative, before the mask"},
     shift_row,
     [](const Draft& p) {
         return Node{std::int64_t{p.program.shift}, {}};
     }},
    {{"add", "value", "0", "", Effect::live, "added before the shift"}, literal_row<&Program::add>, add_node},
}};

const Table<Draft> value_table{"value", value_rows};

std::string shown(const ValueSpec& spec, Value value) {
    return packet::to_text(spec.type, value);
}

void check_fits(Decoder& decoder, const At& at, const Draft& draft, Value source) {
    const ValueSpec& spec = *draft.spec;
    const Value value = transformed(draft.program, source);
    if (draft.program.mask || (value >= spec.low && value <= spec.high)) return;
    const std::string made =
        value == source ? shown(spec, value)
                        : shown(spec, source) + " with add and shift makes " + shown(spec, value) + ", which";
    decoder.wrong(at, made + " is out of range: " + spec.name + " goes from " + shown(spec, spec.low) +
                          " to " + shown(spec, spec.high));
}

void check_range(Decoder& decoder, const At& at, const Draft& draft) {
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
void check_modifiers(Decoder& decoder, const At& at, const Draft& draft) {
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

std::string_view key_of(Kind kind) {
    switch (kind) {
        case Kind::increment:
            return "increment";
        case Kind::decrement:
            return "decrement";
        case Kind::list:
            return "list";
        case Kind::random:
            return "random";
        case Kind::variable:
            return "variable";
        case Kind::literal:
            break;
    }
    return {};
}

Value transformed(const Program& program, Value source) {
    const Value sum = source + program.add;
    return program.shift >= 0 ? sum << static_cast<unsigned>(program.shift)
                              : sum >> static_cast<unsigned>(-program.shift);
}

std::optional<Program> decode_value(Decoder& decoder, const At& at, const ValueSpec& spec) {
    if (at.node.object() != nullptr) return decode_program(decoder, at, spec);
    const std::size_t before = decoder.problem_count();
    Draft draft;
    draft.spec = &spec;
    literal(decoder, at, spec, draft.program.from);
    if (decoder.problem_count() == before) check_fits(decoder, at, draft, draft.program.from);
    if (decoder.problem_count() != before) return std::nullopt;
    return draft.program;
}

std::optional<Program> decode_program(Decoder& decoder, const At& at, const ValueSpec& spec) {
    const std::size_t before = decoder.problem_count();
    Draft draft;
    draft.spec = &spec;
    decode_object(decoder, at, value_table, draft);
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
    Draft draft;
    draft.spec = &spec;
    draft.program = program;
    Node::Object members;
    for (const Row<Draft>& row : value_rows) {
        const std::string_view name = row.key.name;
        const bool is_form = row.key.standard.empty();
        const bool applies = is_form                             ? name == key_of(program.kind)
                             : name == "every" || name == "nest" ? program.kind == Kind::list
                                                                 : true;
        if (applies) members.push_back({std::string(name), {}, row.encode(draft)});
    }
    return {std::move(members), {}};
}

void append_value_keys(std::vector<KeyInfo>& out) {
    append_keys(value_table, out);
    append_keys(increment_table, out);
    append_keys(decrement_table, out);
    append_keys(random_table, out);
}

}  // namespace volley::config
