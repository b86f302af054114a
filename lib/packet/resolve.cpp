#include "packet/resolve.h"

#include <algorithm>
#include <numeric>

#include "base/nearest.h"
#include "packet/bits.h"
#include "packet/prf.h"
#include "packet/text.h"

namespace volley::packet {
namespace {

/// Sets up to this size are held as a table; larger ones are computed draw by draw.
constexpr std::uint64_t held_set = 65536;

constexpr Value top = ~Value{0};

std::string number_text(Value value) {
    return to_text(FieldType::number, value);
}

Sequence::Transform transform_of(const Program& program) {
    return {program.add, program.shift, program.mask.value_or(top)};
}

/// Values before the first comes again as 64 bits, 0 for more than they hold.
std::uint64_t cycle_of(Value last) {
    return last >= top >> 64 ? 0 : static_cast<std::uint64_t>(last) + 1;
}

}  // namespace

std::vector<std::string> layer_names(const PacketModel& model) {
    std::vector<std::string> names;
    std::vector<unsigned> seen(header_kinds);
    for (const auto& header : model.headers) {
        const unsigned nth = ++seen[static_cast<std::size_t>(header.kind)];
        names.emplace_back(name_of(header.kind));
        if (nth > 1) names.back() += "." + std::to_string(nth);
    }
    return names;
}

bool identifies_flow(const FieldInfo& field) {
    switch (field.header) {
        case HeaderKind::arp:
        case HeaderKind::icmp:
        case HeaderKind::icmpv6:
        case HeaderKind::ipv6_hop_by_hop:
        case HeaderKind::ipv6_routing:
        case HeaderKind::ipv6_fragment:
        case HeaderKind::ipv6_destination:
        case HeaderKind::sctp_data:
        case HeaderKind::pppoe_discovery:
        case HeaderKind::pause:
        case HeaderKind::pfc:
        case HeaderKind::dns:
        case HeaderKind::raw:
            return false;
        default:
            break;
    }
    static constexpr std::string_view names[] = {"src",      "dst",         "id",        "label",
                                                 "vni",      "key",         "teid",      "session",
                                                 "protocol", "next_header", "flow_label"};
    const bool named = std::find(std::begin(names), std::end(names), field.name) != std::end(names);
    return named && !(field.header == HeaderKind::ipv4 && field.name == "id");
}

Resolver::Resolver(const PacketModel& model, std::vector<Problem>& problems)
    : model_(model), problems_(problems) {
    add_variables();
    add_fields();
    if (model_.frame_size && model_.frame_size->program) {
        size_ = nodes_.size();
        nodes_.push_back(
            {&*model_.frame_size->program, "/frame_size", "frame_size", FieldType::number, 32, false, {}});
    }
    for (auto& node : nodes_) compile(node);
    for (auto& node : nodes_) nest(node);
    for (auto& node : nodes_) check_width(node);
    cap_flows();
}

const Sequence& Resolver::field(std::size_t header, std::size_t field) const {
    return nodes_[first_field_[header] + field].sequence;
}

const Sequence& Resolver::raw_program(std::size_t header, std::size_t program) const {
    return nodes_[first_program_[header] + program].sequence;
}

const Sequence* Resolver::size() const {
    return size_ ? &nodes_[*size_].sequence : nullptr;
}

void Resolver::refuse(const Node& node, std::string text) {
    problems_.push_back({node.pointer, std::move(text)});
}

void Resolver::add_variables() {
    for (const auto& [name, program] : model_.variables) {
        Node node{&program, "/variables/" + name, name, FieldType::number, 128, false, {}};
        if (program.kind == Program::Kind::variable) {
            refuse(node,
                   "a variable cannot take its value from another variable; use one variable in both places");
        }
        if (!by_name_.emplace(name, nodes_.size()).second)
            refuse(node, "this name is taken; give each variable its own");
        nodes_.push_back(std::move(node));
    }
}

void Resolver::add_fields() {
    const auto names = layer_names(model_);
    for (std::size_t h = 0; h < model_.headers.size(); ++h) {
        const auto& header = model_.headers[h];
        const std::string at = "/headers/" + std::to_string(h) + "/" + std::string(name_of(header.kind));
        first_field_.push_back(nodes_.size());
        for (const auto& [field, program] : header.fields) {
            const std::string name = names[h] + "." + std::string(field->name);
            by_name_.emplace(name, nodes_.size());
            nodes_.push_back({&program,
                              at + "/" + std::string(field->name),
                              name,
                              field->type,
                              field->bit_width,
                              identifies_flow(*field),
                              {}});
        }
        first_program_.push_back(nodes_.size());
        for (const auto& patch : header.programs) {
            std::string name = names[h] + "." + std::to_string(patch.offset);
            if (patch.first_bit != 0) name += "." + std::to_string(patch.first_bit);
            by_name_.emplace(name, nodes_.size());
            nodes_.push_back({&patch.program, at, name, FieldType::number, bits_of(patch), false, {}});
        }
    }
}

void Resolver::compile(Node& node) {
    const Program& program = *node.program;
    auto& out = node.sequence;
    out.every = program.every;
    const std::string& drawn_as = program.drawn_as.empty() ? node.name : program.drawn_as;
    out.key = key_of(program.seed, drawn_as.data(), drawn_as.size());
    if (program.every == 0)
        refuse(node, "every must be at least 1: the number of packets that share a value");
    if (program.shift <= -128 || program.shift >= 128)
        refuse(node, "shift must lie between -127 and 127 bits");
    switch (program.kind) {
        case Program::Kind::literal:
            out.from = out.smallest = out.largest = program.from;
            break;
        case Program::Kind::increment:
        case Program::Kind::decrement:
        case Program::Kind::random:
            compile_range(node);
            break;
        case Program::Kind::list:
            if (program.list.empty()) {
                refuse(node, "the list is empty; give at least one value");
                break;
            }
            out.kind = Sequence::Kind::list;
            out.list = program.list;
            out.cycle = out.list.size();
            out.smallest = *std::min_element(out.list.begin(), out.list.end());
            out.largest = *std::max_element(out.list.begin(), out.list.end());
            break;
        case Program::Kind::variable: {
            if (node.pointer.starts_with("/variables/")) break;  // refused before
            const auto found = by_name_.find(program.variable);
            if (found == by_name_.end() || found->second >= model_.variables.size()) {
                std::vector<std::string_view> known;
                for (const auto& [name, unused] : model_.variables) known.emplace_back(name);
                const auto close = nearest(program.variable, known);
                refuse(node, "no variable is named \"" + program.variable + "\"" +
                                 (close.empty() ? "; declare it under \"variables\""
                                                : "; did you mean \"" + std::string(close) + "\"?"));
            } else {
                const Node& variable = nodes_[found->second];
                out = variable.sequence;
                out.inner = transform_of(*variable.program);
            }
            break;
        }
    }
    if (node.program->shift > -128 && node.program->shift < 128) out.outer = transform_of(program);
}

void Resolver::compile_range(Node& node) {
    const Program& program = *node.program;
    auto& out = node.sequence;
    const bool down = program.kind == Program::Kind::decrement;
    const Value low = down ? program.to : program.from;
    const Value high = down ? program.from : program.to;
    if (low > high) {
        const auto text = [&](Value value) { return to_text(node.type, value); };
        refuse(node, down
                         ? "decrement runs from " + text(program.from) + " up to " + text(program.to) +
                               "; swap from and to, or use increment"
                         : "from " + text(program.from) + " is above to " + text(program.to) + "; swap them" +
                               (program.kind == Program::Kind::increment ? ", or use decrement" : ""));
        return;
    }
    if (program.step == 0) {
        refuse(node, "step must be at least 1");
        return;
    }
    out.from = program.from;
    out.step = down ? Value{0} - program.step : program.step;
    out.last = (high - low) / program.step;
    const Value end = out.from + out.step * out.last;
    out.smallest = std::min(out.from, end);
    out.largest = std::max(out.from, end);
    out.cycle = cycle_of(out.last);
    if (program.kind == Program::Kind::random) compile_set(node);
}

void Resolver::compile_set(Node& node) {
    const Program& program = *node.program;
    auto& out = node.sequence;
    out.kind = program.permute ? Sequence::Kind::permuted : Sequence::Kind::random;
    if (program.distinct) {
        if (*program.distinct == 0) {
            refuse(node, "distinct must be at least 1: the number of values to draw from");
            return;
        }
        if (Value{*program.distinct} - 1 > out.last) {
            refuse(node, "distinct " + number_text(*program.distinct) + " is more than the " +
                             number_text(out.last + 1) + " values between from and to");
            return;
        }
        // The set's members are the first values of a permutation, so they are exactly as many as asked for.
        out.set = *program.distinct;
        out.cycle = out.set;
    }
    const std::uint64_t members = out.set != 0 ? out.set : out.cycle;
    if (members == 0 || members > held_set || (out.set == 0 && !program.permute)) return;
    std::vector<Value> held(members);
    const bool set = out.set != 0;
    for (std::uint64_t j = 0; j < members; ++j) {
        held[j] = set ? out.from + out.step * permuted(out.key ^ set_key, j, out.last) : out.number(j);
    }
    if (!set) out.kind = Sequence::Kind::list;
    out.list = std::move(held);
    out.smallest = *std::min_element(out.list.begin(), out.list.end());
    out.largest = *std::max_element(out.list.begin(), out.list.end());
}

/// Without a mask every value must fit the field; with one, the mask must.
void Resolver::check_width(Node& node) {
    const auto& sequence = node.sequence;
    const Value limit = low_bits(node.width);
    const auto fits =
        " does not fit in " + std::to_string(node.width) + " bits; at most " + to_text(node.type, limit);
    if (node.program->mask) {
        if (*node.program->mask > limit) refuse(node, "mask " + number_text(*node.program->mask) + fits);
        return;
    }
    Value low = sequence.smallest;
    Value high = sequence.largest;
    if (sequence.inner != Sequence::Transform{}) {
        low = 0;  // a variable's own mask may cut anything
        high = sequence.constant() ? Sequence::apply(sequence.inner, high) : sequence.inner.mask;
    }
    const auto& outer = sequence.outer;
    if (low + outer.add > high + outer.add) {
        refuse(node,
               "add takes some of the values below 0 or above 128 bits; choose a smaller one or a mask");
        return;
    }
    const Value added = high + outer.add;
    const bool lost = outer.shift > 0 && added >> (128 - outer.shift) != 0;
    const Value largest = Sequence::apply(outer, high);
    if (lost || largest > limit) {
        const Value told = outer.shift == 0 ? added : high;
        refuse(node, to_text(node.type, told) + (outer.shift > 0 ? " shifted left" : "") + fits +
                         (node.program->kind == Program::Kind::literal ? "" : "; or give a mask"));
    }
}

/// Folds nesting into `every` and returns the packets of one whole cycle (0: never within 2^64).
std::uint64_t Resolver::nest(Node& node) {
    auto& sequence = node.sequence;
    if (node.nesting == Node::Nesting::in_progress) {
        refuse(node, "nest runs in a circle; let the innermost program have none");
        sequence.every = 0;
        node.nesting = Node::Nesting::known;
        return 0;
    }
    if (node.nesting == Node::Nesting::unknown) {
        node.nesting = Node::Nesting::in_progress;
        const Program& program = *node.program;
        const auto variable = by_name_.find(program.variable);
        if (program.kind == Program::Kind::variable && variable != by_name_.end()) {
            nest(nodes_[variable->second]);
            sequence.every = nodes_[variable->second].sequence.every;
        } else if (!program.nest.empty()) {
            const auto found = by_name_.find(program.nest);
            if (found == by_name_.end()) {
                std::vector<std::string_view> known;
                for (const auto& [name, unused] : by_name_) known.emplace_back(name);
                const auto close = nearest(program.nest, known);
                refuse(node, "nest names \"" + program.nest + "\", which has no program" +
                                 (close.empty() ? "; name a field as \"ipv4.src\""
                                                : "; did you mean \"" + std::string(close) + "\"?"));
            } else if (nodes_[found->second].sequence.constant()) {
                refuse(node, "nest names \"" + program.nest +
                                 "\", which does not vary; name a field that has a program");
            } else if (nodes_[found->second].sequence.kind == Sequence::Kind::random) {
                refuse(node, "nest names \"" + program.nest +
                                 "\", whose random draws have no cycle; give it \"permute\": true");
            } else {
                sequence.every = product_or_never(sequence.every, nest(nodes_[found->second]));
            }
        }
        node.nesting = Node::Nesting::known;
    }
    return product_or_never(sequence.every, sequence.cycle);
}

/// The tuple changes at multiples of the greatest common divisor of the programs' `every`, so a period of
/// `flows` times that holds at most `flows` tuples, and exactly as many when the programs step together or
/// are nested.
void Resolver::cap_flows() {
    if (!model_.flows) return;
    if (*model_.flows == 0) {
        problems_.push_back({"/flows", "flows must be at least 1"});
        return;
    }
    std::uint64_t together = 0;
    for (const auto& node : nodes_) {
        if (node.flow && !node.sequence.constant()) together = std::gcd(together, node.sequence.every);
    }
    for (auto& node : nodes_) {
        if (node.flow) node.sequence.flow_packets = product_or_never(*model_.flows, together);
    }
}

}  // namespace volley::packet
