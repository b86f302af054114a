#include "random_models.h"

#include <numeric>

#include "packet/domain.h"
#include "packet/resolve.h"

namespace volley::packet {
namespace {

using enum HeaderKind;

Value most(unsigned width) {
    return width >= 128 ? ~Value{0} : (Value{1} << width) - 1;
}

/// Fields that say how the rest is to be read stay as they are filled in.
bool structural(const FieldInfo& field) {
    for (const auto* name :
         {"type",           "tpid",           "protocol",      "next_header",   "total_length",
          "payload_length", "length",         "checksum",      "bottom",        "segments_left",
          "code",           "class",          "opcode",        "version",       "ihl",
          "data_offset",    "options_length", "hardware_type", "protocol_type", "hardware_length",
          "protocol_length"}) {
        if (field.name == name)
            return !((field.name == "type" || field.name == "code") &&
                     (field.header == icmp || field.header == icmpv6));
    }
    if (field.name == "flags" && (field.header == gre || field.header == vxlan || field.header == gtpu))
        return true;
    return field.bit_width == 0 || (field.header == udp && field.name == "dst");
}

const Program* named(const PacketModel& model, const std::string& name) {
    for (const auto& [variable, program] : model.variables) {
        if (variable == name) return &program;
    }
    const auto names = layer_names(model);
    for (std::size_t h = 0; h < model.headers.size(); ++h) {
        for (const auto& [field, program] : model.headers[h].fields) {
            if (names[h] + "." + std::string(field->name) == name) return &program;
        }
    }
    return nullptr;
}

Value values_of(const Program& program) {
    switch (program.kind) {
        case Program::Kind::increment:
            return (program.to - program.from) / program.step + 1;
        case Program::Kind::decrement:
            return (program.from - program.to) / program.step + 1;
        case Program::Kind::list:
            return program.list.size();
        default:
            return 1;
    }
}

/// Packets that share a value, with nesting.
Value hold(const PacketModel& model, const Program& program) {
    if (program.kind == Program::Kind::variable) return hold(model, *named(model, program.variable));
    if (program.nest.empty()) return program.every;
    const auto& inner = *named(model, program.nest);
    const auto& source = inner.kind == Program::Kind::variable ? *named(model, inner.variable) : inner;
    return program.every * hold(model, inner) * values_of(source);
}

Value transformed(const Program& program, Value value) {
    value += program.add;
    value = program.shift >= 0 ? value << program.shift : value >> -program.shift;
    return program.mask ? value & *program.mask : value;
}

bool varies(const PacketModel& model, const Program& program) {
    if (program.kind == Program::Kind::variable) return varies(model, *named(model, program.variable));
    if (program.kind == Program::Kind::random) return program.from != program.to;
    return values_of(program) > 1;
}

}  // namespace

Value ModelMaker::value(unsigned width) {
    return (Value{random_()} << 64 | random_()) & most(width);
}

std::vector<std::uint8_t> ModelMaker::bytes(std::size_t length) {
    std::vector<std::uint8_t> out(length);
    for (auto& byte : out) byte = static_cast<std::uint8_t>(random_());
    return out;
}

Program ModelMaker::range(unsigned width) {
    Value from = value(width);
    Value to = value(width);
    if (chance(60)) to = from + below(300);
    to &= most(width);
    if (from > to) std::swap(from, to);
    Value step = chance(50) ? 1 : 1 + below(1000);
    if (chance(10)) step = value(width) | 1;
    static constexpr std::uint64_t everys[] = {1, 1, 1, 2, 3, 63, 64, 65, 1000, std::uint64_t{1} << 40};
    return increment(from, to, step, everys[below(std::size(everys))]);
}

Program ModelMaker::program_for(unsigned width) {
    auto program = range(width);
    switch (below(6)) {
        case 0:
        case 1:
            break;
        case 2:
            program.kind = Program::Kind::decrement;
            std::swap(program.from, program.to);
            break;
        case 3:
            program.kind = Program::Kind::list;
            for (std::uint64_t i = 1 + below(chance(10) ? 2000 : 6); i > 0; --i)
                program.list.push_back(value(width));
            break;
        case 4:
            program = literal(value(width));
            break;
        default:
            program.kind = Program::Kind::random;
            program.step = 1;
            program.seed = below(3);
            if (chance(30))
                program.distinct =
                    1 + below(static_cast<std::uint64_t>(std::min<Value>(program.to - program.from + 1, 40)));
            program.permute = chance(30);
            break;
    }
    if (chance(15)) {
        program.mask = value(width);
        program.shift = static_cast<int>(below(40)) - 20;
        program.add = value(width);
    }
    return program;
}

HeaderModel ModelMaker::plain(HeaderKind kind) {
    HeaderModel model;
    model.kind = kind;
    for (const auto& field : all_fields()) {
        if (field.header != kind || structural(field) || !chance(25)) continue;
        model.fields.push_back({&field, program_for(field.bit_width)});
        if (chance(10)) model.fields.back().program = variable("x");
        if (model.fields.back().program.kind == Program::Kind::variable)
            model.fields.back().program.mask = most(field.bit_width);
    }
    if ((kind == ipv4 || kind == tcp || kind == geneve) && chance(20))
        model = with_options(std::move(model), bytes(below(41)));
    return model;
}

HeaderModel ModelMaker::extension(HeaderKind kind) {
    auto model = plain(kind);
    if ((kind == ipv6_hop_by_hop || kind == ipv6_destination) && chance(50)) {
        std::vector<std::uint8_t> option{0x1e, static_cast<std::uint8_t>(below(30))};  // experimental
        option.resize(option.size() + option[1], 0x55);
        model = with_options(std::move(model), std::move(option));
    }
    if (kind == ipv6_routing && chance(70)) {  // segment routing
        model.fields.push_back({find_field(kind, "type"), literal(4)});
        model.fields.push_back({find_field(kind, "segments_left"), literal(below(2))});
        model.bytes.emplace_back(find_field(kind, "data"), bytes(4 + 16 * (1 + below(3))));
    }
    return model;
}

void ModelMaker::add_extensions(std::vector<HeaderModel>& headers) {
    if (chance(50)) headers.push_back(extension(ipv6_hop_by_hop));
    for (const auto kind : {ipv6_destination, ipv6_routing, ipv6_fragment, ipv6_destination}) {
        if (chance(40)) headers.push_back(extension(kind));
    }
}

void ModelMaker::add_sctp(std::vector<HeaderModel>& headers, int depth) {
    headers.push_back(plain(sctp));
    if (depth < 3 && chance(30)) {  // a CRC that covers another
        headers.push_back(raw_bytes(bytes(4 * below(10))));
        headers.push_back(plain(ipv6));
        return add_sctp(headers, depth + 1);
    }
    if (chance(70)) headers.push_back(plain(sctp_data));
    if (chance(50)) headers.push_back(raw_bytes(bytes(4 * below(10))));
}

void ModelMaker::add_dns(std::vector<HeaderModel>& headers) {
    headers.push_back(plain(dns));
    if (chance(50)) return;
    std::string why;
    const auto labels = domain_labels(std::string(1 + below(63), 'a') + ".example", why);
    headers.back().bytes.emplace_back(find_field(dns, "name"), *labels);
}

void ModelMaker::add_ethernet(std::vector<HeaderModel>& headers, int depth) {
    headers.push_back(plain(eth));
    for (auto tags = below(4); tags > 0 && chance(50); --tags) {
        headers.push_back(plain(vlan));
        if (chance(30)) headers.back().fields.push_back({find_field(vlan, "tpid"), literal(0x88a8)});
    }
    if (chance(5)) {
        static constexpr HeaderKind last[] = {arp, pause, pfc, pppoe_discovery};
        headers.push_back(plain(last[below(std::size(last))]));
        return;
    }
    if (chance(10)) headers.push_back(plain(pppoe));
    for (auto labels = below(4); labels > 0 && chance(40); --labels) headers.push_back(plain(mpls));
    add_ip(headers, depth);
}

void ModelMaker::add_ip(std::vector<HeaderModel>& headers, int depth) {
    const bool four = chance(60);
    headers.push_back(plain(four ? ipv4 : ipv6));
    if (!four && chance(10)) {  // as extension headers are given
        headers.back().fields.push_back({find_field(ipv6, "next_header"), literal(0)});
        headers.push_back(raw_bytes(bytes(8)));
    } else if (!four && chance(40)) {
        add_extensions(headers);
    }
    if (depth < 3 && chance(10)) return add_ip(headers, depth + 1);
    if (depth < 3 && chance(15)) {
        headers.push_back(plain(gre));
        return chance(50) ? add_ip(headers, depth + 1) : add_ethernet(headers, depth + 1);
    }
    add_transport(headers, four, depth);
}

void ModelMaker::add_transport(std::vector<HeaderModel>& headers, bool four, int depth) {
    const auto choice = below(10);
    if (choice < 2) {
        headers.push_back(plain(tcp));
    } else if (choice < 4) {
        headers.push_back(plain(four ? icmp : icmpv6));
    } else if (choice < 9) {
        headers.push_back(plain(udp));
        if (depth < 3 && chance(30)) {
            headers.push_back(plain(chance(50) ? vxlan : geneve));
            return add_ethernet(headers, depth + 1);
        }
        if (chance(15)) return add_dns(headers);
        if (depth < 3 && chance(20)) {
            headers.push_back(plain(gtpu));
            return add_ip(headers, depth + 1);
        }
    } else {
        return add_sctp(headers, depth);
    }
    if (chance(40)) headers.push_back(raw_bytes(bytes(below(40))));
}

void ModelMaker::add_nesting(PacketModel& model) {
    const auto names = layer_names(model);
    std::string inner;
    for (std::size_t h = 0; h < model.headers.size(); ++h) {
        for (auto& [field, program] : model.headers[h].fields) {
            const bool ranged =
                program.kind == Program::Kind::increment || program.kind == Program::Kind::list;
            if (!ranged || !varies(model, program)) continue;
            if (!inner.empty() && chance(60)) program.nest = inner;
            inner = names[h] + "." + std::string(field->name);
        }
    }
}

void ModelMaker::add_size(PacketModel& model) {
    const std::uint64_t floor = 64 + below(2) * 700;
    switch (below(6)) {
        case 0:
            return;
        case 1:
            model.frame_size = size_of(literal(floor + below(200)));
            return;
        case 2:
            model.frame_size = size_of(increment(floor, floor + below(400), 1 + below(7), 1 + below(3)));
            return;
        case 3:
            model.frame_size = size_of(random_of(floor, floor + 1 + below(400)));
            return;
        case 4:
            model.frame_size = size_of(list({floor, floor + 7, floor + 1, floor}));
            return;
        default:
            model.frame_size = SizeModel{};
            for (std::uint64_t i = 1 + below(4); i > 0; --i) {
                model.frame_size->weighted.push_back({static_cast<std::uint32_t>(floor + below(1500)),
                                                      static_cast<std::uint32_t>(1 + below(20))});
            }
            return;
    }
}

PacketModel ModelMaker::make() {
    PacketModel model;
    model.variables.emplace_back("x", range(40));
    add_ethernet(model.headers, 0);
    if (chance(40)) add_nesting(model);
    add_size(model);
    if (chance(30)) model.flows = 1 + below(chance(50) ? 5 : 5000);
    switch (below(4)) {
        case 0:
            model.payload.bytes = bytes(1 + below(5));
            break;
        case 1:
            model.payload.kind = Payload::Kind::random;
            break;
        case 2:
            model.payload.kind = Payload::Kind::bytes;
            model.payload.bytes = bytes(below(30));
            break;
        default:
            break;
    }
    return model;
}

std::vector<Checker::Expected> stack_of(const PacketModel& model) {
    std::vector<Checker::Expected> stack;
    for (const auto& header : model.headers) stack.push_back({header.kind, header.raw.size()});
    return stack;
}

std::optional<Value> expected_value(const PacketModel& model, const Program& program, bool flow,
                                    std::uint64_t index) {
    if (model.flows && flow) {
        std::uint64_t together = 0;
        for (const auto& header : model.headers) {
            for (const auto& [field, other] : header.fields) {
                const Value held = hold(model, other);
                const bool counts = identifies_flow(*field) && varies(model, other) && held >> 64 == 0;
                if (counts) together = std::gcd(together, static_cast<std::uint64_t>(held));
            }
        }
        const Value period = Value{together} * *model.flows;
        if (period != 0) index = static_cast<std::uint64_t>(index % period);
    }
    const bool shared = program.kind == Program::Kind::variable;
    const auto& source = shared ? *named(model, program.variable) : program;
    const Value k = index / hold(model, program) % values_of(source);
    Value value = source.from;
    if (source.kind == Program::Kind::random && source.from != source.to) return std::nullopt;
    if (source.kind == Program::Kind::increment) value = source.from + k * source.step;
    if (source.kind == Program::Kind::decrement) value = source.from - k * source.step;
    if (source.kind == Program::Kind::list) value = source.list[static_cast<std::size_t>(k)];
    return shared ? transformed(program, transformed(source, value)) : transformed(program, value);
}

}  // namespace volley::packet
