#include "packet/reverse.h"

#include <algorithm>
#include <array>
#include <string>

#include "packet/defaults.h"
#include "packet/stacking.h"

namespace volley::packet {
namespace {

using enum HeaderKind;

struct Pair {
    HeaderKind header;
    std::string_view one;
    std::string_view other;
    bool with_default;  ///< exchanged even when not given
};

constexpr std::array pairs{
    Pair{eth, "src", "dst", false},
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

/// "ipv4.2.src" becomes "ipv4.2.dst"; names of variables stay.
std::string exchanged(const std::string& nest) {
    const auto dot = nest.rfind('.');
    if (dot == std::string::npos) return nest;
    const auto* const header = find_header(std::string_view(nest).substr(0, nest.find('.')));
    if (header == nullptr) return nest;
    return nest.substr(0, dot + 1) + std::string(exchanged(*header, std::string_view(nest).substr(dot + 1)));
}

void add_value(HeaderModel& header, std::string_view name, Value filled) {
    const auto* const field = find_field(header.kind, name);
    const bool given = std::any_of(header.fields.begin(), header.fields.end(),
                                   [&](const FieldValue& value) { return value.field == field; });
    if (given) return;
    FieldValue value{field, {}};
    value.program.from = filled;
    header.fields.push_back(std::move(value));
}

void add_default(HeaderModel& header, std::string_view name) {
    add_value(header, name, default_of(header.kind, name).value_or(0));
}

}  // namespace

PacketModel reversed(PacketModel model) {
    for (std::size_t h = 0; h < model.headers.size(); ++h) {
        auto& header = model.headers[h];
        const auto carried = header.kind == udp && h + 1 < model.headers.size()
                                 ? std::optional(model.headers[h + 1].kind)
                                 : std::nullopt;
        // A tunnel's destination port says what it carries, in both directions.
        const bool tunnel = carried && *carried != dns && udp_port(*carried);
        if (carried == dns) add_value(header, "dst", *udp_port(dns));
        for (const auto& pair : pairs) {
            if (pair.header != header.kind || !pair.with_default || tunnel) continue;
            add_default(header, pair.one);
            add_default(header, pair.other);
        }
        for (auto& [field, program] : header.fields) {
            if (!tunnel) field = find_field(header.kind, exchanged(header.kind, field->name));
            program.nest = exchanged(program.nest);
        }
    }
    for (auto& [name, program] : model.variables) program.nest = exchanged(program.nest);
    return model;
}

}  // namespace volley::packet
