#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "import/trafgen_frame.h"
#include "packet/bits.h"

// The header functions: where their fields lie, what stands in them by itself, and what follows from
// neighbours.
namespace volley::imports {
namespace {

using packet::Program;
using packet::RawChecksum;
using packet::Value;
using Names = std::pair<std::string_view, std::string_view>;

constexpr std::array<Names, 4> header_aliases{
    {{"ipv4", "ip4"}, {"ipv6", "ip6"}, {"icmpv4", "icmp4"}, {"icmpv6", "icmp6"}}};

constexpr std::array<Names, 23> field_aliases{
    {{"daddr", "da"},   {"saddr", "sa"},    {"etype", "type"},    {"sport", "sp"},   {"dport", "dp"},
     {"length", "len"}, {"tclass", "tc"},   {"flow", "fl"},       {"nexthdr", "nh"}, {"hoplimit", "hl"},
     {"hlen", "doff"},  {"ackseq", "aseq"}, {"window", "win"},    {"label", "lbl"},  {"exp", "tc"},
     {"oper", "op"},    {"sha", "smac"},    {"spa", "sip"},       {"tha", "tmac"},   {"tpa", "tip"},
     {"cfi", "dei"},    {"prio", "pri"},    {"urg_ptr", "urgptr"}}};

template <std::size_t n>
std::string_view canonical(const std::array<Names, n>& aliases, std::string_view name) {
    const auto found =
        std::find_if(aliases.begin(), aliases.end(), [&](const Names& entry) { return entry.first == name; });
    return found == aliases.end() ? name : found->second;
}

/// "prot" and "proto" mean the type of eth, the TPID of vlan and the protocol of ip4.
std::string_view canonical_field(std::string_view kind, std::string_view name) {
    if (name == "prot" || name == "proto" || name == "type") {
        if (kind == "eth") return "type";
        if (kind == "vlan") return "tpid";
        if (kind == "ip4") return "prot";
    }
    if (name == "ttl" && kind == "ip6") return "hl";
    if (name == "oper" && kind == "dns") return "oper";
    return canonical(field_aliases, name);
}

std::uint32_t length_of(std::string_view kind) {
    static constexpr std::array<std::pair<std::string_view, std::uint32_t>, 13> lengths{{{"eth", 14},
                                                                                         {"pause", 4},
                                                                                         {"pfc", 20},
                                                                                         {"vlan", 4},
                                                                                         {"mpls", 4},
                                                                                         {"arp", 28},
                                                                                         {"ip4", 20},
                                                                                         {"ip6", 40},
                                                                                         {"icmp4", 8},
                                                                                         {"icmp6", 4},
                                                                                         {"udp", 8},
                                                                                         {"tcp", 20},
                                                                                         {"dns", 12}}};
    const auto* const found =
        std::find_if(lengths.begin(), lengths.end(), [&](const auto& entry) { return entry.first == kind; });
    return found == lengths.end() ? 0 : found->second;
}

/// What carries a header that stands alone.
std::string_view lower_of(std::string_view kind) {
    if (kind == "eth") return {};
    if (kind == "udp" || kind == "tcp" || kind == "icmp4") return "ip4";
    if (kind == "icmp6") return "ip6";
    if (kind == "dns") return "udp";
    return "eth";
}

std::uint32_t number_for(std::string_view lower, std::string_view upper) {
    if (lower == "eth" || lower == "vlan" || lower == "mpls") {
        if (upper == "ip4") return 0x0800;
        if (upper == "ip6") return 0x86dd;
        if (upper == "arp") return 0x0806;
        if (upper == "mpls") return 0x8847;
        if (upper == "pause" || upper == "pfc") return 0x8808;
        return 0;
    }
    if (upper == "udp") return 17;
    if (upper == "tcp") return 6;
    if (upper == "icmp4") return 1;
    if (upper == "icmp6") return 58;
    if (upper == "ip4") return 4;
    return upper == "ip6" ? 41 : 0;
}

}  // namespace

const std::vector<TrafgenFrame::FieldPlace>& TrafgenFrame::places() {
    static const std::vector<FieldPlace> table{
        {"eth", "da", 0, 48},       {"eth", "sa", 48, 48},      {"eth", "type", 96, 16},
        {"pause", "code", 0, 16},   {"pause", "time", 16, 16},  {"pfc", "code", 0, 16},
        {"pfc", "pri", 16, 16},     {"vlan", "tci", 0, 16},     {"vlan", "pcp", 0, 3},
        {"vlan", "dei", 3, 1},      {"vlan", "id", 4, 12},      {"vlan", "next", 16, 16},
        {"mpls", "lbl", 0, 20},     {"mpls", "tc", 20, 3},      {"mpls", "last", 23, 1},
        {"mpls", "ttl", 24, 8},     {"arp", "htype", 0, 16},    {"arp", "ptype", 16, 16},
        {"arp", "op", 48, 16},      {"arp", "smac", 64, 48},    {"arp", "sip", 112, 32},
        {"arp", "tmac", 144, 48},   {"arp", "tip", 192, 32},    {"ip4", "ver", 0, 4},
        {"ip4", "ihl", 4, 4},       {"ip4", "tos", 8, 8},       {"ip4", "dscp", 8, 6},
        {"ip4", "ecn", 14, 2},      {"ip4", "len", 16, 16},     {"ip4", "id", 32, 16},
        {"ip4", "flags", 48, 3},    {"ip4", "df", 49, 1},       {"ip4", "mf", 50, 1},
        {"ip4", "frag", 51, 13},    {"ip4", "ttl", 64, 8},      {"ip4", "prot", 72, 8},
        {"ip4", "csum", 80, 16},    {"ip4", "sa", 96, 32},      {"ip4", "da", 128, 32},
        {"ip6", "ver", 0, 4},       {"ip6", "tc", 4, 8},        {"ip6", "fl", 12, 20},
        {"ip6", "len", 32, 16},     {"ip6", "nh", 48, 8},       {"ip6", "hl", 56, 8},
        {"ip6", "sa", 64, 128},     {"ip6", "da", 192, 128},    {"icmp4", "type", 0, 8},
        {"icmp4", "code", 8, 8},    {"icmp4", "csum", 16, 16},  {"icmp4", "id", 32, 16},
        {"icmp4", "seq", 48, 16},   {"icmp4", "mtu", 48, 16},   {"icmp4", "addr", 32, 32},
        {"icmp6", "type", 0, 8},    {"icmp6", "code", 8, 8},    {"icmp6", "csum", 16, 16},
        {"udp", "sp", 0, 16},       {"udp", "dp", 16, 16},      {"udp", "len", 32, 16},
        {"udp", "csum", 48, 16},    {"tcp", "sp", 0, 16},       {"tcp", "dp", 16, 16},
        {"tcp", "seq", 32, 32},     {"tcp", "aseq", 64, 32},    {"tcp", "doff", 96, 4},
        {"tcp", "cwr", 104, 1},     {"tcp", "ece", 105, 1},     {"tcp", "ecn", 105, 1},
        {"tcp", "urg", 106, 1},     {"tcp", "ack", 107, 1},     {"tcp", "psh", 108, 1},
        {"tcp", "rst", 109, 1},     {"tcp", "syn", 110, 1},     {"tcp", "fin", 111, 1},
        {"tcp", "win", 112, 16},    {"tcp", "csum", 128, 16},   {"tcp", "urgptr", 144, 16},
        {"dns", "id", 0, 16},       {"dns", "qr", 16, 1},       {"dns", "oper", 17, 4},
        {"dns", "aanswer", 21, 1},  {"dns", "trunc", 22, 1},    {"dns", "rdesired", 23, 1},
        {"dns", "ravail", 24, 1},   {"dns", "zero", 25, 3},     {"dns", "rcode", 28, 4},
        {"dns", "qdcount", 32, 16}, {"dns", "ancount", 48, 16}, {"dns", "nscount", 64, 16},
        {"dns", "arcount", 80, 16}};
    return table;
}

bool TrafgenFrame::given(const Layer& layer, std::string_view name) {
    return std::find(layer.given.begin(), layer.given.end(), name) != layer.given.end();
}

void TrafgenFrame::set_field(Layer& layer, std::string_view name, Value value) {
    for (const FieldPlace& field : places()) {
        if (field.kind != layer.kind || field.name != name) continue;
        packet::put_bits(header_.raw, layer.offset * std::size_t{8} + field.bit, field.width, value);
    }
}

/// A header of that kind may come next without one being added between.
bool TrafgenFrame::follows(std::string_view kind) const {
    if (kind == "eth") return true;
    if (layers_.empty()) return false;
    const std::string_view last = layers_.back().kind;
    const bool link = last == "eth" || last == "vlan" || last == "mpls";
    const bool ip = last == "ip4" || last == "ip6";
    const std::string_view lower = lower_of(kind);
    if (lower == "eth") return link || (ip && (kind == "ip4" || kind == "ip6"));
    if (lower == "udp") return last == "udp" || last == "tcp";
    return ip;
}

void TrafgenFrame::add_lower(std::string_view kind, Mark place) {
    if (follows(kind)) return;
    const std::string_view lower = lower_of(kind);
    add_lower(lower, place);
    open_layer(lower, length_of(lower), place, true);
}

void TrafgenFrame::open_layer(std::string_view kind, std::uint32_t length, Mark place, bool automatic) {
    layers_.push_back({kind, static_cast<std::uint32_t>(size()), length, place, {}, automatic});
    add_bytes(length, 0, place);
    fill_defaults(layers_.back());
    if (kind == "vlan") take_type();
}

/// A type that was given moves behind the tag; what follows there may still announce another.
void TrafgenFrame::take_type() {
    if (layers_.size() < 2) return;
    const Layer& below = layers_[layers_.size() - 2];
    Layer& tag = layers_.back();
    tag.has_type = below.has_type || (below.kind == "eth" && given(below, "type"));
    if (!tag.has_type) return;
    const std::size_t from = (below.offset + below.length - 2) * std::size_t{8};
    set_field(tag, "next", packet::get_bits(header_.raw, from, 16));
}

void TrafgenFrame::fill_defaults(Layer& layer) {
    if (layer.kind == "eth") set_field(layer, "sa", options_.device_mac);
    if (layer.kind == "pause") set_field(layer, "code", 1);
    if (layer.kind == "pfc") set_field(layer, "code", 0x0101);
    if (layer.kind == "ip4") {
        set_field(layer, "ver", 4);
        set_field(layer, "ihl", 5);
        set_field(layer, "sa", options_.device_ipv4);
    }
    if (layer.kind == "ip6") set_field(layer, "ver", 6);
    if (layer.kind == "tcp") set_field(layer, "doff", 5);
    if (layer.kind != "arp") return;
    set_field(layer, "htype", 1);
    set_field(layer, "ptype", 0x0800);
    header_.raw[layer.offset + 4] = 6;
    header_.raw[layer.offset + 5] = 4;
    set_field(layer, "op", 1);
    set_field(layer, "smac", options_.device_mac);
    set_field(layer, "sip", options_.device_ipv4);
    set_field(layer, "tip", options_.device_ipv4);
}

void TrafgenFrame::add_header(const std::string& name, const std::vector<FieldSetting>& settings,
                              Mark place) {
    std::string_view kind;
    const std::string_view wanted = canonical(header_aliases, name);
    for (const FieldPlace& field : places()) {
        if (field.kind == wanted) kind = field.kind;
    }
    if (kind.empty()) fail(place, "unknown function " + name + "()");
    add_lower(kind, place);
    open_layer(kind, length_of(kind), place, false);
    const std::size_t own = layers_.size() - 1;
    for (const FieldSetting& setting : settings) apply(layers_[own], setting);
}

bool TrafgenFrame::apply_special(Layer& layer, const FieldSetting& setting) {
    const std::string& name = setting.name;
    const bool flag = setting.kind == FieldSetting::Kind::flag;
    if (layer.kind == "icmp4" || layer.kind == "icmp6") {
        const std::string& word = name == "type" ? setting.text : name;
        const bool request = word == "echorequest";
        if (!request && word != "echoreply") return false;
        const Value reply = layer.kind == "icmp4" ? 0 : 129;
        set_field(layer, "type", request ? (layer.kind == "icmp4" ? 8 : 128) : reply);
        return true;
    }
    if (layer.kind == "arp" && (name == "op" || name == "oper" || flag)) {
        const std::string& word = flag ? name : setting.text;
        const bool request = word == "request" || word == "req";
        if (!request && word != "reply") return false;
        set_field(layer, "op", request ? 1 : 2);
        return true;
    }
    if (layer.kind == "vlan" && flag && (name == "1q" || name == "1ad")) {
        const Layer& lower = layers_[static_cast<std::size_t>(&layer - layers_.data()) - 1];
        packet::put_bits(header_.raw, (lower.offset + lower.length - 2) * std::size_t{8}, 16,
                         name == "1q" ? 0x8100 : 0x88a8);
        layer.given.emplace_back("tpid");
        return true;
    }
    if (layer.kind == "pfc" && setting.byte >= 0 && (name == "prio" || name == "time")) {
        const auto queue = static_cast<std::uint32_t>(setting.byte);
        if (queue > 7) fail(setting.place, "pfc has priorities 0 to 7");
        const std::size_t at = layer.offset * std::size_t{8};
        if (name == "prio") packet::put_bits(header_.raw, at + 31 - queue, 1, setting.number);
        if (name == "time") packet::put_bits(header_.raw, at + 32 + 16 * queue, 16, setting.number);
        return true;
    }
    if (layer.kind == "dns" &&
        (name == "qry" || name == "query" || name == "ans" || name == "auth" || name == "add")) {
        const std::string_view count = name == "ans"    ? "ancount"
                                       : name == "auth" ? "nscount"
                                       : name == "add"  ? "arcount"
                                                        : "qdcount";
        for (const FieldPlace& field : places()) {
            if (field.kind != "dns" || field.name != count || given(layer, count)) continue;
            const std::size_t bit = layer.offset * std::size_t{8} + field.bit;
            packet::put_bits(header_.raw, bit, 16, packet::get_bits(header_.raw, bit, 16) + 1);
        }
        // What carries answers is one, unless qr says otherwise.
        if (count == "ancount" && !given(layer, "qr")) set_field(layer, "qr", 1);
        add_dns_record(setting, setting.place);
        return true;
    }
    return false;
}

void TrafgenFrame::apply(Layer& layer, const FieldSetting& setting) {
    if (apply_special(layer, setting)) return;
    const std::string_view name = canonical_field(layer.kind, setting.name);
    FieldPlace field;
    std::size_t base = layer.offset * std::size_t{8};
    if (layer.kind == "vlan" && name == "tpid") {
        const Layer& lower = layers_[static_cast<std::size_t>(&layer - layers_.data()) - 1];
        base = (lower.offset + lower.length - 2) * std::size_t{8};
        field = {"vlan", "tpid", 0, 16};
    }
    for (const FieldPlace& known : places()) {
        if (known.kind == layer.kind && known.name == name) field = known;
    }
    if (field.width == 0) {
        fail(setting.place, std::string(layer.kind) + "() has no field " + setting.name);
    }
    layer.given.push_back(field.name);
    using Kind = FieldSetting::Kind;
    if (setting.kind == Kind::dinc || setting.kind == Kind::drnd) return set_program(layer, field, setting);
    const std::uint32_t bits = setting.kind == Kind::mac    ? 48
                               : setting.kind == Kind::ipv4 ? 32
                               : setting.kind == Kind::ipv6 ? 128
                                                            : 0;
    if ((bits != 0 && bits != field.width) || setting.kind == Kind::text || (bits == 0 && field.width > 32)) {
        fail(setting.place, "this is no value for " + setting.name + " of " + std::string(layer.kind) + "()");
    }
    const Value value = setting.kind == Kind::flag ? 1 : setting.number;
    if (setting.byte >= 0) fail(setting.place, "a part of a field takes dinc() or drnd()");
    if (value > packet::low_bits(field.width)) {
        fail(setting.place,
             setting.name + " has " + std::to_string(field.width) + " bits; the value does not fit");
    }
    packet::put_bits(header_.raw, base + field.bit, field.width, value);
}

void TrafgenFrame::set_program(const Layer& layer, const FieldPlace& field, const FieldSetting& setting) {
    std::uint32_t bit = layer.offset * 8 + field.bit;
    std::uint32_t width = field.width;
    if (setting.byte >= 0) {
        const auto byte = static_cast<std::uint32_t>(setting.byte);
        if ((byte + setting.length) * 8 > field.width)
            fail(setting.place, setting.name + " has " + std::to_string(field.width / 8) + " bytes");
        bit += byte * 8;
        width = setting.length * 8;
    }
    const Value most = packet::low_bits(width);
    const std::vector<std::uint64_t>& given = setting.arguments;
    packet::RawProgram raw;
    raw.offset = static_cast<std::uint16_t>(bit / 8);
    raw.first_bit = static_cast<std::uint8_t>(bit % 8);
    raw.width = static_cast<std::uint8_t>((bit % 8 + width + 7) / 8);
    raw.bits = static_cast<std::uint8_t>(width);
    Program& program = raw.program;
    program.seed = options_.seed + number_;
    const bool range = given.size() >= 2;
    if (range && (given[0] > given[1] || given[1] > most)) {
        fail(setting.place, "from " + std::to_string(given[0]) + " to " + std::to_string(given[1]) +
                                " is no range of " + setting.name);
    }
    program.from = range ? given[0] : 0;
    program.to = range ? Value{given[1]} : most;
    if (setting.kind == FieldSetting::Kind::drnd) {
        program.kind = Program::Kind::random;
    } else {
        program.kind = Program::Kind::increment;
        program.step = given.size() == 1 ? given[0] : given.size() == 3 ? given[2] : 1;
        if (program.step == 0) {
            program.kind = Program::Kind::literal;
        } else if (!range) {
            // Counts on from what stands there, modulo the field's width.
            program.add = packet::get_bits(header_.raw, bit, width);
            program.mask = most;
        }
    }
    // A later value of the same field holds.
    std::erase_if(header_.programs, [&](const packet::RawProgram& other) {
        return other.offset == raw.offset && other.first_bit == raw.first_bit && other.width == raw.width;
    });
    header_.programs.push_back(std::move(raw));
}

void TrafgenFrame::add_dns_name(const std::string& name, Mark place) {
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t end = std::min(name.find('.', at), name.size());
        if (end == at || end - at > 63) fail(place, "a label of a name has 1 to 63 characters");
        add_byte(static_cast<std::uint8_t>(end - at), place);
        for (; at < end; ++at) add_byte(static_cast<std::uint8_t>(name[at]), place);
        ++at;
    }
    add_byte(0, place);
}

void TrafgenFrame::add_dns_record(const FieldSetting& record, Mark place) {
    using Kind = FieldSetting::Kind;
    const bool query = record.name == "qry" || record.name == "query";
    std::string owner = query ? "www.netsniff-ng.com" : "";
    Value type = query ? 1 : 0;
    Value type_class = 1;
    Value ttl = 1;
    std::optional<Value> length;
    const FieldSetting* data = nullptr;
    for (const FieldSetting& part : record.inner) {
        const bool typed =
            part.name == "addr" || part.name == "ns" || part.name == "cname" || part.name == "ptr";
        if (typed && !query) {
            data = &part;
            type = dns_type(part);
        } else if (part.name == "name") {
            if (part.kind != Kind::text) fail(part.place, "name is a text, such as name=\"a.example\"");
            owner = part.text;
        } else if (part.name == "type") {
            type = dns_number(part, 16);
        } else if (part.name == "class") {
            type_class = dns_number(part, 16);
        } else if (part.name == "ttl" && !query) {
            ttl = dns_number(part, 32);
        } else if (part.name == "len" && !query) {
            length = dns_number(part, 16);
        } else if (part.name == "data" && !query) {
            if (part.kind != Kind::text)
                fail(part.place, "data is a text; addr(), ns(), cname() and ptr() give others");
            data = &part;
        } else {
            fail(part.place,
                 (part.name.empty() ? "a value without a name" : part.name) + " is no part of " +
                     record.name + "(): it takes name, type" +
                     (query ? " and class" : ", class, ttl, len, data, addr(), ns(), cname() and ptr()"));
        }
    }
    const auto put = [&](Value value, unsigned bytes) {
        while (bytes-- > 0) add_byte(static_cast<std::uint8_t>(value >> (bytes * 8)), place);
    };
    add_dns_name(owner, place);
    put(type, 2);
    put(type_class, 2);
    if (query) return;
    put(ttl, 4);
    const std::size_t length_at = size();
    put(0, 2);
    if (data != nullptr) add_dns_data(*data, place);
    packet::put_bits(header_.raw, length_at * 8, 16, length.value_or(size() - length_at - 2));
}

/// The data of a record; a text ends with a zero, as trafgen's does.
void TrafgenFrame::add_dns_data(const FieldSetting& data, Mark place) {
    if (data.name == "data") {
        for (const char c : data.text) add_byte(static_cast<std::uint8_t>(c), place);
        return add_byte(0, place);
    }
    const FieldSetting& value = data.inner.front();
    if (data.name != "addr") return add_dns_name(value.text, place);
    for (unsigned i = value.kind == FieldSetting::Kind::ipv6 ? 16 : 4; i-- > 0;)
        add_byte(static_cast<std::uint8_t>(value.number >> (i * 8U)), place);
}

/// The type that addr(1.2.3.4), ns("name"), cname("name") or ptr("name") gives a record.
Value TrafgenFrame::dns_type(const FieldSetting& data) const {
    using Kind = FieldSetting::Kind;
    const bool address = data.name == "addr";
    const Kind kind =
        data.inner.size() == 1 && data.inner.front().name.empty() ? data.inner.front().kind : Kind::flag;
    if (address ? kind != Kind::ipv4 && kind != Kind::ipv6 : kind != Kind::text) {
        fail(data.place,
             data.name + (address ? "() takes one IPv4 or IPv6 address" : "() takes one name in quotes"));
    }
    if (address) return kind == Kind::ipv6 ? 28 : 1;
    return data.name == "ns" ? 2 : data.name == "cname" ? 5 : 12;
}

Value TrafgenFrame::dns_number(const FieldSetting& part, unsigned bits) const {
    if (part.kind != FieldSetting::Kind::number || part.byte >= 0 || part.number > packet::low_bits(bits))
        fail(part.place, part.name + " of a record is a number of " + std::to_string(bits) + " bits");
    return part.number;
}

/// What a header says of the one behind it, unless it was given.
void TrafgenFrame::announce(std::size_t lower, std::size_t upper) {
    Layer& below = layers_[lower];
    const Layer& above = layers_[upper];
    if (below.kind == "eth" || below.kind == "vlan") {
        const std::size_t at = (below.offset + below.length - 2) * std::size_t{8};
        if (above.kind == "vlan") {
            if (!given(above, "tpid")) packet::put_bits(header_.raw, at, 16, 0x8100);
        } else if (!given(below, "type") && number_for(below.kind, above.kind) != 0) {
            packet::put_bits(header_.raw, at, 16, number_for(below.kind, above.kind));
        }
        if (below.kind == "eth" && !given(below, "da")) {
            if (above.kind == "arp") set_field(below, "da", packet::low_bits(48));
            if (above.kind == "pause" || above.kind == "pfc") set_field(below, "da", Value{0x0180c2000001});
        }
    }
    if (below.kind == "mpls" && !given(below, "last")) set_field(below, "last", above.kind == "mpls" ? 0 : 1);
    if (below.kind == "ip4" && !given(below, "prot")) set_field(below, "prot", number_for("ip4", above.kind));
    if (below.kind == "ip6" && !given(below, "nh")) set_field(below, "nh", number_for("ip6", above.kind));
    if (below.kind == "udp" && above.kind == "dns" && !given(below, "dp")) set_field(below, "dp", 53);
}

/// Lengths and checksums, once all that is behind the header is there.
void TrafgenFrame::close_layer(std::size_t index, Mark end) {
    Layer& layer = layers_[index];
    const auto behind = static_cast<std::uint32_t>(size()) - layer.offset;
    const bool last = index + 1 == layers_.size();
    if (!last) announce(index, index + 1);
    if (last && layer.kind == "mpls" && !given(layer, "last")) set_field(layer, "last", 1);
    if (layer.kind == "ip4") {
        const std::uint32_t header = (header_.raw[layer.offset] & 15U) * 4U;
        const std::uint32_t room =
            (last ? static_cast<std::uint32_t>(size()) : layers_[index + 1].offset) - layer.offset;
        if (header < 20 || header > room || (!last && header != room)) {
            fail(layer.place,
                 "ihl says " + std::to_string(header) + " bytes: its options must follow ipv4() as bytes");
        }
        if (!given(layer, "len")) set_field(layer, "len", behind);
        RawChecksum sum;
        sum.from = static_cast<std::uint16_t>(layer.offset);
        sum.to = static_cast<std::uint16_t>(layer.offset + header);
        if (!given(layer, "csum")) put_sum(layer.offset + 10, sum);
    }
    if (layer.kind == "ip6" && !given(layer, "len")) set_field(layer, "len", behind - 40);
    if (layer.kind == "udp" && !given(layer, "len")) set_field(layer, "len", behind);
    const bool transport = layer.kind == "udp" || layer.kind == "tcp" || layer.kind == "icmp6";
    if (!transport && layer.kind != "icmp4") return;
    if (given(layer, "csum")) return;
    RawChecksum sum;
    sum.from = static_cast<std::uint16_t>(layer.offset);
    if (transport) {
        const Layer& ip = layers_[index - 1];
        sum.pseudo = ip.kind == "ip4" ? RawChecksum::Pseudo::ipv4 : RawChecksum::Pseudo::ipv6;
        sum.ip = static_cast<std::uint16_t>(ip.offset);
        sum.protocol = static_cast<std::uint8_t>(number_for("ip4", layer.kind));
    }
    const std::uint32_t at = layer.kind == "udp" ? 6 : layer.kind == "tcp" ? 16 : 2;
    if (behind < at + 2) fail(end, "the packet ends within a header");
    put_sum(layer.offset + at, sum);
}

}  // namespace volley::imports
