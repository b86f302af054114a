#include "packet/describe.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "packet/layout.h"
#include "packet/resolve.h"
#include "packet/sizes.h"
#include "packet/text.h"

namespace volley::packet {
namespace {

/// Tuples up to this many are counted one by one.
constexpr std::uint64_t countable = 1 << 18;

std::string plain_text(FieldType type, const Program& program) {
    const auto text = [&](Value value) { return to_text(type, value); };
    switch (program.kind) {
        case Program::Kind::literal:
            return text(program.from);
        case Program::Kind::increment:
            return text(program.from) + " to " + text(program.to);
        case Program::Kind::decrement:
            return text(program.from) + " down to " + text(program.to);
        case Program::Kind::list:
            return "list of " + std::to_string(program.list.size()) + " from " +
                   text(program.list.empty() ? 0 : program.list.front());
        case Program::Kind::random:
            return "random " + text(program.from) + " to " + text(program.to) + ", seed " +
                   std::to_string(program.seed);
        case Program::Kind::variable:
            return "variable " + program.variable;
    }
    return {};
}

/// Addresses and ports of IP, and its protocol: what a five-tuple is made of.
bool in_five_tuple(const FieldInfo& field) {
    using enum HeaderKind;
    const bool ip = field.header == ipv4 || field.header == ipv6;
    const bool transport = field.header == udp || field.header == tcp || field.header == sctp;
    const bool protocol = field.name == "protocol" || field.name == "next_header";
    return ((ip || transport) && (field.name == "src" || field.name == "dst")) || (ip && protocol);
}

std::vector<const Sequence*> flow_sequences(const PacketModel& model, const Resolver& resolver,
                                            bool five_tuple) {
    std::vector<const Sequence*> sequences;
    for (std::size_t h = 0; h < model.headers.size(); ++h) {
        for (std::size_t f = 0; f < model.headers[h].fields.size(); ++f) {
            const auto& sequence = resolver.field(h, f);
            const FieldInfo& field = *model.headers[h].fields[f].field;
            if (identifies_flow(field) && !sequence.constant() && (!five_tuple || in_five_tuple(field)))
                sequences.push_back(&sequence);
        }
    }
    return sequences;
}

/// a * b and lcm(a, b); nothing when it does not fit 64 bits.
std::optional<std::uint64_t> times(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
    if (!a || !b) return std::nullopt;
    const auto product = product_or_never(*a, *b);
    return product == 0 ? std::nullopt : std::optional(product);
}

std::optional<std::uint64_t> common_multiple(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
    if (!a || !b) return std::nullopt;
    return times(a, *b / std::gcd(*a, *b));
}

/// Of those tuples that the five_tuple's fields make, or all. Where they cannot be counted one by one, all
/// that there may be.
TupleCount count_tuples(const PacketModel& model, const Resolver& resolver, bool five_tuple) {
    const auto sequences = flow_sequences(model, resolver, false);
    const auto counted = flow_sequences(model, resolver, five_tuple);
    if (counted.empty()) return {1, true};
    std::optional<std::uint64_t> period = 1;  // packets before the tuples repeat
    std::optional<std::uint64_t> values = 1;  // of the random fields
    std::uint64_t together = 0;
    bool random = false;
    for (const auto* sequence : sequences) {
        together = std::gcd(together, sequence->every);
        if (sequence->kind == Sequence::Kind::random) {
            random = true;
            const bool fits = sequence->last < ~std::uint64_t{0};
            const std::uint64_t range = fits ? static_cast<std::uint64_t>(sequence->last) + 1 : 0;
            const std::uint64_t members = sequence->set != 0 ? sequence->set : range;
            values = times(values, members == 0 ? std::nullopt : std::optional(members));
        } else {
            const auto own = product_or_never(sequence->every, sequence->cycle);
            period = common_multiple(period, own == 0 ? std::nullopt : std::optional(own));
        }
    }
    const std::uint64_t step = std::max<std::uint64_t>(together, 1);
    TupleCount count{times(period ? std::optional(*period / step) : std::nullopt, values), false};
    if (model.flows && (!count.most || *model.flows < *count.most)) count.most = model.flows;
    // The tuple changes at multiples of `step` only.
    if (!count.most || *count.most > countable || (random && !model.flows)) return count;
    std::set<std::vector<Value>> seen;
    for (std::uint64_t turn = 0; turn < *count.most; ++turn) {
        std::vector<Value> tuple;
        tuple.reserve(counted.size());
        for (const auto* sequence : counted) tuple.push_back(sequence->at(turn * step));
        seen.insert(std::move(tuple));
    }
    return {seen.size(), true};
}

std::string sizes_text(const PacketModel& model, const Sizes& sizes) {
    auto low = std::to_string(sizes.lengths.front() + fcs_bytes);
    if (sizes.lengths.size() == 1) return low;
    if (!model.frame_size || model.frame_size->weighted.empty()) {
        return low + " to " + std::to_string(sizes.lengths.back() + fcs_bytes);
    }
    std::string text;
    for (const auto& entry : model.frame_size->weighted) {
        text +=
            (text.empty() ? "" : ", ") + std::to_string(entry.size) + " x " + std::to_string(entry.weight);
    }
    return text + ": " + genome(model.frame_size->weighted);
}

std::string program_text(const PacketModel& model, const Resolver& resolver, std::size_t h,
                         const FieldInfo& field) {
    std::string text;
    for (std::size_t f = 0; f < model.headers[h].fields.size(); ++f) {
        const auto& value = model.headers[h].fields[f];
        if (value.field != &field || resolver.field(h, f).constant()) continue;
        text += (text.empty() ? "" : " and ") + to_text(field.type, value.program);
    }
    return text;
}

}  // namespace

std::string to_text(FieldType type, const Program& program) {
    const auto number = [](auto value) { return to_text(FieldType::number, Value{value}); };
    auto text = plain_text(type, program);
    if (program.step != 1 && program.kind != Program::Kind::literal)
        text += ", step " + to_text(type, program.step);
    if (program.every != 1) text += ", every " + number(program.every) + " packets";
    if (program.distinct) text += ", " + number(*program.distinct) + " of them";
    if (program.permute) text += ", each once";
    if (!program.nest.empty()) text += ", once per cycle of " + program.nest;
    if (program.add != 0) text += ", plus " + to_text(type, program.add);
    if (program.shift != 0)
        text += ", shifted " + std::string(program.shift > 0 ? "left " : "right ") +
                std::to_string(std::abs(program.shift));
    if (program.mask) text += ", mask " + to_text(type, *program.mask);
    return text;
}

Description describe(const PacketModel& model) {
    std::vector<Problem> problems;
    const Resolver resolver(model, problems);
    const auto layout = lay_out(model, resolver, std::nullopt, problems);
    const std::size_t given = model.payload.kind == Payload::Kind::bytes ? model.payload.bytes.size() : 0;
    const auto sizes = resolve_sizes(model, resolver.size(), layout.bytes.size(), given, problems);
    Description out;
    out.payload_at = static_cast<std::uint32_t>(layout.bytes.size());
    out.sizes = sizes_text(model, sizes);
    if (problems.empty()) {
        out.tuples = count_tuples(model, resolver, false);
        out.five_tuples = count_tuples(model, resolver, true);
    }
    for (std::size_t h = 0; h < layout.layers.size(); ++h) {
        const auto& layer = layout.layers[h];
        DescribedLayer described{layer.kind, layer.name, layer.offset, layer.length, {}};
        for (const auto& field : all_fields()) {
            if (field.header != layer.kind) continue;
            const std::uint32_t bit = bit_of(layer, field);
            if (!behind_variable_part(field) && field.bit_offset + field.bit_width > layer.length * 8)
                continue;  // a key that is absent
            auto program = program_text(model, resolver, h, field);
            for (const auto& part : layout.parts) {
                if (part.follows_flow && part.bit == bit) program = "hash of the flow within";
            }
            described.fields.push_back({&field, bit, std::move(program)});
        }
        out.layers.push_back(std::move(described));
    }
    return out;
}

}  // namespace volley::packet
