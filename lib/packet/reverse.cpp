#include "packet/reverse.h"

#include <algorithm>
#include <array>
#include <string>

#include "packet/bits.h"
#include "packet/defaults.h"
#include "packet/resolve.h"
#include "packet/stacking.h"

namespace volley::packet {
namespace {

using enum HeaderKind;

struct Pair {
    HeaderKind header;
    std::string_view one;
    std::string_view other;
    bool with_default;  ///< exchanged even when not given; of the first header never: a port's own address
                        ///< stands there
};

constexpr std::array pairs{
    Pair{eth, "src", "dst", true},
    Pair{ipv4, "src", "dst", true},
    Pair{ipv6, "src", "dst", true},
    Pair{udp, "src", "dst", true},
    Pair{tcp, "src", "dst", true},
    Pair{sctp, "src", "dst", true},
    Pair{arp, "sender_mac", "target_mac", false},
    Pair{arp, "sender_ip", "target_ip", true},
};

/// The other name of a field, or its own.
std::string_view exchanged(HeaderKind header, std::string_view name) {
    for (const auto& pair : pairs) {
        if (pair.header != header) continue;
        if (pair.one == name) return pair.other;
        if (pair.other == name) return pair.one;
    }
    return name;
}

/// A tunnel's destination port says what it carries, in both directions.
bool is_tunnel(const PacketModel& model, std::size_t h) {
    if (model.headers[h].kind != udp || h + 1 >= model.headers.size()) return false;
    const HeaderKind carried = model.headers[h + 1].kind;
    return carried != dns && udp_port(carried).has_value();
}

/// The names of the headers whose fields stay.
std::vector<std::string> names_of_tunnels(const PacketModel& model, const std::vector<std::string>& names) {
    std::vector<std::string> out;
    for (std::size_t h = 0; h < names.size(); ++h) {
        if (is_tunnel(model, h)) out.push_back(names[h]);
    }
    return out;
}

/// "ipv4.2.src" becomes "ipv4.2.dst"; names of variables stay, and those of fields that do.
std::string exchanged(const std::string& nest, const std::vector<std::string>& stays) {
    const auto dot = nest.rfind('.');
    if (dot == std::string::npos) return nest;
    if (std::find(stays.begin(), stays.end(), nest.substr(0, dot)) != stays.end()) return nest;
    const auto* const header = find_header(std::string_view(nest).substr(0, nest.find('.')));
    if (header == nullptr) return nest;
    return nest.substr(0, dot + 1) + std::string(exchanged(*header, std::string_view(nest).substr(dot + 1)));
}

void add_default(HeaderModel& header, std::string_view name) {
    give_rest(header, name, default_of(header.kind, name).value_or(0));
}

}  // namespace

void give_rest(HeaderModel& header, std::string_view name, Value filled) {
    const auto* const field = find_field(header.kind, name);
    Value left = low_bits(field->bit_width);
    bool given = false;
    for (const FieldValue& value : header.fields) {
        if (value.field != field) continue;
        given = true;
        left &= value.program.mask ? ~*value.program.mask : 0;
    }
    if (left == 0) return;
    // Behind what was given, whose programs other fields may nest in by the field's name.
    FieldValue value{field, {}};
    value.program.from = filled;
    if (given) value.program.mask = left;
    header.fields.push_back(std::move(value));
}

PacketModel reversed(PacketModel model) {
    const auto names = layer_names(model);
    const auto stays = names_of_tunnels(model, names);
    for (std::size_t h = 0; h < model.headers.size(); ++h) {
        auto& header = model.headers[h];
        const bool tunnel = is_tunnel(model, h);
        const bool query =
            header.kind == udp && h + 1 < model.headers.size() && model.headers[h + 1].kind == dns;
        if (query) give_rest(header, "dst", *udp_port(dns));
        for (const auto& pair : pairs) {
            if (pair.header != header.kind || !pair.with_default || tunnel || h == 0) continue;
            add_default(header, pair.one);
            add_default(header, pair.other);
        }
        for (auto& [field, program] : header.fields) {
            if (!tunnel) {
                // The way back draws what the way there does, packet by packet.
                if (program.drawn_as.empty()) program.drawn_as = names[h] + "." + std::string(field->name);
                field = find_field(header.kind, exchanged(header.kind, field->name));
            }
            program.nest = exchanged(program.nest, stays);
        }
    }
    for (auto& [name, program] : model.variables) program.nest = exchanged(program.nest, stays);
    return model;
}

}  // namespace volley::packet
