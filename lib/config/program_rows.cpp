#include "config/program_rows.h"

#include <array>

#include "config/print.h"
#include "config/tables.h"

namespace volley::config {
namespace {

using packet::Program;
using packet::Value;
using Kind = Program::Kind;

template <Value Program::*member>
void literal_row(Decoder& decoder, const At& at, ProgramDraft& out) {
    decode_literal(decoder, at, *out.spec, out.program.*member);
}

void step_row(Decoder& decoder, const At& at, ProgramDraft& out) {
    Value step = 1;
    decode_literal(decoder, at, *out.spec, step);
    if (step == 0) {
        decoder.wrong(at, "a step of 0 never moves; the least is 1");
    } else {
        out.program.step = step;
    }
}

void every_row(Decoder& decoder, const At& at, ProgramDraft& out) {
    decoder.integer(at, 1, UINT64_MAX, out.program.every);
}

void nest_row(Decoder& decoder, const At& at, ProgramDraft& out) {
    decoder.text(at, "a field such as \"ipv4.src\"", out.program.nest);
}

Node from_node(const ProgramDraft& d) {
    return literal_node(d.spec->type, d.program.from);
}
Node to_row_node(const ProgramDraft& d) {
    return literal_node(d.spec->type, d.program.to);
}
Node step_node(const ProgramDraft& d) {
    return literal_node(packet::FieldType::number, d.program.step);
}
Node add_node(const ProgramDraft& d) {
    return d.program.add == 0 ? to_node(std::uint64_t{0}) : literal_node(d.spec->type, d.program.add);
}
Node every_node(const ProgramDraft& d) {
    return to_node(d.program.every);
}
Node nest_node(const ProgramDraft& d) {
    return d.program.nest.empty() ? Node{} : to_node(d.program.nest);
}

void from_row(Decoder& decoder, const At& at, ProgramDraft& out) {
    out.from.emplace(at);
    literal_row<&Program::from>(decoder, at, out);
}

void to_row(Decoder& decoder, const At& at, ProgramDraft& out) {
    out.to.emplace(at);
    literal_row<&Program::to>(decoder, at, out);
}

constexpr Row<ProgramDraft> every_key{{"every", "integer from 1", "1", "packets", Effect::live,
                                       "packets that share a value before it moves on"},
                                      every_row,
                                      every_node};
constexpr Row<ProgramDraft> nest_key{{"nest", "\"layer.field\" or a variable", "null", "", Effect::live,
                                      "move on once per full cycle of that field instead of once per packet"},
                                     nest_row,
                                     nest_node};

const std::array<Row<ProgramDraft>, 5> range_rows{{
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

const std::array<Row<ProgramDraft>, 6> random_rows{{
    {{"from", "value", "required", "", Effect::live, "the smallest value"}, from_row, from_node},
    {{"to", "value", "required", "", Effect::live, "the largest value"}, to_row, to_row_node},
    {{"seed", "integer", "1", "", Effect::live, "the same seed gives the same packets"},
     [](Decoder& d, const At& at, ProgramDraft& p) { d.integer(at, 0, UINT64_MAX, p.program.seed); },
     [](const ProgramDraft& p) { return to_node(p.program.seed); }},
    {{"distinct", "integer from 1", "null", "", Effect::live, "draw from this many different values only"},
     [](Decoder& d, const At& at, ProgramDraft& p) { d.integer(at, 1, UINT64_MAX, p.program.distinct); },
     [](const ProgramDraft& p) { return to_node(p.program.distinct); }},
    {{"permute", "boolean", "false", "", Effect::live, "every value once before any comes again"},
     [](Decoder& d, const At& at, ProgramDraft& p) { d.read(at, p.program.permute); },
     [](const ProgramDraft& p) { return to_node(p.program.permute); }},
    every_key,
}};

const Table<ProgramDraft> increment_table{"value.increment", range_rows};
const Table<ProgramDraft> decrement_table{"value.decrement", range_rows};
const Table<ProgramDraft> random_table{"value.random", random_rows};

void form(ProgramDraft& out, Kind kind) {
    out.program.kind = kind;
    out.forms += (out.form_count++ > 0 ? " and " : "") + quote(key_of(kind));
}

void list_row(Decoder& decoder, const At& at, ProgramDraft& out) {
    form(out, Kind::list);
    const auto* array = at.node.array();
    if (array == nullptr || array->empty()) {
        decoder.mismatch(at, "an array of at least one value");
        return;
    }
    out.list.emplace(at);
    out.program.list.resize(array->size());
    for (std::size_t i = 0; i < array->size(); ++i) {
        decode_literal(decoder, {(*array)[i], child_pointer(at.pointer, i)}, *out.spec, out.program.list[i]);
    }
}

void shift_row(Decoder& decoder, const At& at, ProgramDraft& out) {
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

Node list_node(const ProgramDraft& d) {
    Node::Array items;
    for (const Value value : d.program.list) items.push_back(literal_node(d.spec->type, value));
    return {std::move(items), {}};
}

const std::array<Row<ProgramDraft>, 10> value_rows{{
    {{"increment", "object", "", "", Effect::live, "count up from `from` to `to`, then again"},
     [](Decoder& d, const At& at, ProgramDraft& p) {
         form(p, Kind::increment);
         decode_object(d, at, increment_table, p);
     },
     [](const ProgramDraft& p) { return encode_object(increment_table, p); }},
    {{"decrement", "object", "", "", Effect::live, "count down from `from` to `to`, then again"},
     [](Decoder& d, const At& at, ProgramDraft& p) {
         form(p, Kind::decrement);
         decode_object(d, at, decrement_table, p);
     },
     [](const ProgramDraft& p) { return encode_object(decrement_table, p); }},
    {{"list", "array of values", "", "", Effect::live, "these values in turn"}, list_row, list_node},
    {{"random", "object", "", "", Effect::live, "seeded random values"},
     [](Decoder& d, const At& at, ProgramDraft& p) {
         form(p, Kind::random);
         decode_object(d, at, random_table, p);
     },
     [](const ProgramDraft& p) { return encode_object(random_table, p); }},
    {{"variable", "name", "", "", Effect::live, "the value of that entry of packet.variables"},
     [](Decoder& d, const At& at, ProgramDraft& p) {
         form(p, Kind::variable);
         d.text(at, "the name of an entry of packet.variables", p.program.variable);
     },
     [](const ProgramDraft& p) { return to_node(p.program.variable); }},
    every_key,
    nest_key,
    {{"mask", "value", "null", "", Effect::live,
      "applied last: only these bits are written, the others stay"},
     [](Decoder& d, const At& at, ProgramDraft& p) {
         decode_literal(d, at, *p.spec, p.program.mask.emplace(0));
     },
     [](const ProgramDraft& p) {
         return p.program.mask ? literal_node(p.spec->type, *p.program.mask) : Node{};
     }},
    {{"shift", "integer -127..127", "0", "bits", Effect::live,
      "to the left, or right when negative, before the mask"},
     shift_row,
     [](const ProgramDraft& p) {
         return Node{std::int64_t{p.program.shift}, {}};
     }},
    {{"add", "value", "0", "", Effect::live, "added before the shift"}, literal_row<&Program::add>, add_node},
}};

}  // namespace

void decode_literal(Decoder& decoder, const At& at, const ValueSpec& spec, Value& out) {
    std::string why;
    const auto value = spec.untyped ? parse_untyped(at.node, why) : parse_literal(spec.type, at.node, why);
    if (value) {
        out = *value;
    } else {
        decoder.wrong(at, why);
    }
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

const Table<ProgramDraft>& program_table() {
    static const Table<ProgramDraft> table{"value", value_rows};
    return table;
}

void append_value_keys(std::vector<KeyInfo>& out) {
    append_keys(program_table(), out);
    append_keys(increment_table, out);
    append_keys(decrement_table, out);
    append_keys(random_table, out);
}

}  // namespace volley::config
