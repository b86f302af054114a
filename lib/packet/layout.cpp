#include "packet/layout.h"

#include <algorithm>
#include <numeric>

#include "packet/bits.h"
#include "packet/checksum.h"
#include "packet/defaults.h"
#include "packet/prf.h"
#include "packet/stacking.h"

namespace volley::packet {
namespace {

using enum HeaderKind;

constexpr Value broadcast_mac = 0xffffffffffff;
constexpr Value mac_control_group = 0x0180c2000001;
constexpr Value first_dynamic_port = 49152;  // RFC 6335 section 6
constexpr std::uint64_t held_ports = 65536;  // as many source ports are held as a table

class Builder {
  public:
    Builder(const PacketModel& model, const Resolver& resolver, std::optional<Value> port_mac,
            std::vector<Problem>& problems)
        : model_(model), resolver_(resolver), port_mac_(port_mac), problems_(problems) {}

    Layout run() {
        check_order();
        place_headers();
        for (std::size_t h = 0; h < count(); ++h) fill_defaults(h);
        for (std::size_t h = 0; h < count(); ++h) apply_given(h);
        for (std::size_t h = 0; h < count(); ++h) fill_from_neighbours(h);
        for (std::size_t h = 0; h < count(); ++h) fill_source_port(h);
        for (std::size_t h = 0; h < count(); ++h) {
            add_length(h);
            add_checksum(h);
            add_raw(h);
        }
        return std::move(out_);
    }

  private:
    [[nodiscard]] std::size_t count() const { return model_.headers.size(); }
    [[nodiscard]] HeaderKind kind(std::size_t h) const { return model_.headers[h].kind; }
    [[nodiscard]] std::optional<HeaderKind> next(std::size_t h) const {
        return h + 1 < count() ? std::optional(kind(h + 1)) : std::nullopt;
    }
    [[nodiscard]] std::string pointer(std::size_t h, std::string_view field = {}) const {
        std::string text = "/headers/" + std::to_string(h) + "/" + std::string(name_of(kind(h)));
        if (!field.empty()) text += "/" + std::string(field);
        return text;
    }
    [[nodiscard]] bool given(std::size_t h, std::string_view name) const {
        const auto& fields = model_.headers[h].fields;
        return std::any_of(fields.begin(), fields.end(),
                           [&](const FieldValue& value) { return value.field->name == name; });
    }
    [[nodiscard]] std::size_t bit_of(std::size_t h, const FieldInfo& field) const {
        return packet::bit_of(out_.layers[h], field);
    }
    void set(std::size_t h, std::string_view name, Value value) {
        const auto* const field = find_field(kind(h), name);
        put_bits(out_.bytes, bit_of(h, *field), field->bit_width, value);
    }
    [[nodiscard]] Value get(std::size_t h, std::string_view name) const {
        const auto* const field = find_field(kind(h), name);
        return get_bits(out_.bytes, bit_of(h, *field), field->bit_width);
    }
    void refuse(std::string at, std::string text) { problems_.push_back({std::move(at), std::move(text)}); }

    /// The header that `h` stands behind once tags are left out; tags belong to their eth.
    [[nodiscard]] std::size_t untagged(std::size_t h) const {
        while (h > 0 && kind(h) == vlan) --h;
        return h;
    }
    [[nodiscard]] std::optional<std::size_t> after_tags(std::size_t h) const {
        ++h;
        while (h < count() && kind(h) == vlan) ++h;
        return h < count() ? std::optional(h) : std::nullopt;
    }
    /// The IP header whose payload `h` is, through extension headers, which may be raw bytes.
    [[nodiscard]] std::optional<std::size_t> enclosing_ip(std::size_t h) const {
        while (h > 0) {
            --h;
            if (kind(h) == ipv4 || kind(h) == ipv6) return h;
            if (kind(h) != raw && !is_ipv6_extension(kind(h))) break;
        }
        return std::nullopt;
    }
    [[nodiscard]] bool varies(std::size_t h, std::string_view name) const {
        const auto& fields = model_.headers[h].fields;
        for (std::size_t f = 0; f < fields.size(); ++f) {
            if (fields[f].field->name == name && !resolver_.field(h, f).constant()) return true;
        }
        return false;
    }

    void check_order();
    void check_follows(std::size_t h);
    void place_headers();
    void fill_defaults(std::size_t h);
    void apply_given(std::size_t h);
    void add_part(std::size_t h, std::size_t bit, unsigned width, const Sequence& sequence, std::string at);
    void fill_from_neighbours(std::size_t h);
    void fill_target_mac(std::size_t h);
    void fill_source_port(std::size_t h);
    [[nodiscard]] Sequence hash_of_flow(std::size_t first) const;
    void add_length(std::size_t h);
    void add_checksum(std::size_t h);
    void add_crc(std::size_t h);
    [[nodiscard]] bool may_be_zero(std::size_t h, const FieldInfo& field) const;
    void add_pseudo_header(ChecksumField& sum, std::size_t ip, std::size_t h);
    [[nodiscard]] std::optional<std::uint32_t> final_destination(std::size_t ip, std::size_t h);
    void add_raw(std::size_t h);

    const PacketModel& model_;
    const Resolver& resolver_;
    std::optional<Value> port_mac_;
    std::vector<Problem>& problems_;
    Layout out_;
};

void Builder::check_order() {
    if (count() > max_headers) {
        refuse("/headers",
               std::to_string(count()) + " headers; there is room for " + std::to_string(max_headers));
    }
    if (count() > 0 && kind(0) != eth && kind(0) != raw) {
        refuse(pointer(0),
               "a frame cannot start with " + std::string(name_of(kind(0))) + "; put eth (or raw) first");
    }
    for (std::size_t h = 1; h < count(); ++h) check_follows(h);
}

void Builder::check_follows(std::size_t h) {
    const std::string names =
        std::string(name_of(kind(h))) + " cannot follow " + std::string(name_of(kind(h - 1)));
    if (kind(h) == vlan) {
        if (kind(h - 1) != eth && kind(h - 1) != vlan)
            refuse(pointer(h), names + "; a tag stands behind eth or vlan");
        return;
    }
    const std::size_t parent = untagged(h - 1);
    if (const auto* const field = next_field(kind(parent))) {
        if (!next_number(kind(parent), kind(h)) && !given(parent, field->name)) {
            refuse(pointer(h), names +
                                   (kind(parent) == eth ? "; put ipv4 or ipv6 between them, or give "
                                                        : "; put what carries it between them, or give ") +
                                   std::string(name_of(kind(parent))) + " " + std::string(field->name));
        }
        return;
    }
    std::string instead;
    if (!carries(kind(parent), kind(h), instead)) {
        refuse(pointer(h), names + ", which carries " + instead + "; for other bytes use raw");
    }
}

void Builder::place_headers() {
    const auto names = layer_names(model_);
    for (std::size_t h = 0; h < count(); ++h) {
        std::string why;
        const auto blank = blank_header(model_.headers[h], why);
        if (!why.empty()) refuse(pointer(h, model_.headers[h].bytes.front().first->name), why);
        out_.layers.push_back({kind(h), names[h], static_cast<std::uint32_t>(out_.bytes.size()),
                               static_cast<std::uint32_t>(blank.size()), 0});
        out_.bytes.insert(out_.bytes.end(), blank.begin(), blank.end());
        if (kind(h) == dns) out_.layers[h].type_at = static_cast<std::uint32_t>(out_.bytes.size()) - 4;
        const std::size_t owner = untagged(h);
        if (kind(owner) == eth && next(h) != vlan) {
            out_.layers[owner].type_at = static_cast<std::uint32_t>(out_.bytes.size());
            out_.bytes.resize(out_.bytes.size() + 2);
        }
    }
}

void Builder::fill_defaults(std::size_t h) {
    for (const auto& entry : field_defaults()) {
        if (entry.header == kind(h)) set(h, entry.field, entry.value);
    }
    const bool first_eth =
        std::none_of(out_.layers.begin(), out_.layers.begin() + static_cast<std::ptrdiff_t>(h),
                     [](const Layer& layer) { return layer.kind == eth; });
    if (kind(h) == eth && first_eth && port_mac_) set(h, "src", *port_mac_);
}

void Builder::apply_given(std::size_t h) {
    const auto& header = model_.headers[h];
    for (std::size_t f = 0; f < header.fields.size(); ++f) {
        const auto& field = *header.fields[f].field;
        add_part(h, bit_of(h, field), field.bit_width, resolver_.field(h, f), pointer(h, field.name));
    }
    for (std::size_t p = 0; p < header.programs.size(); ++p) {
        const auto& patch = header.programs[p];
        if (patch.width == 0 || patch.width > 16 || patch.offset + patch.width > header.raw.size() ||
            patch.first_bit + bits_of(patch) > patch.width * 8U) {
            refuse(pointer(h), "a program at byte " + std::to_string(patch.offset) + " reaches beyond the " +
                                   std::to_string(header.raw.size()) + " raw bytes");
            continue;
        }
        add_part(h, (out_.layers[h].offset + patch.offset) * std::size_t{8} + patch.first_bit, bits_of(patch),
                 resolver_.raw_program(h, p), pointer(h));
    }
}

void Builder::add_part(std::size_t h, std::size_t bit, unsigned width, const Sequence& sequence,
                       std::string at) {
    const Value mask = sequence.outer.mask & low_bits(width);
    if (sequence.constant()) {
        const Value old = get_bits(out_.bytes, bit, width);
        put_bits(out_.bytes, bit, width, (old & ~mask) | (sequence.at(0) & mask));
        return;
    }
    out_.parts.push_back({static_cast<std::uint32_t>(bit), width, mask, &sequence,
                          static_cast<std::uint32_t>(h), std::move(at)});
}

void Builder::fill_from_neighbours(std::size_t h) {
    const auto behind = after_tags(h);
    const auto child = behind ? std::optional(kind(*behind)) : std::nullopt;
    const auto* const field = kind(h) == vlan ? nullptr : next_field(kind(h));
    if (field != nullptr && !given(h, field->name)) {
        set(h, field->name, next_number(kind(h), child).value_or(0));
    }
    switch (kind(h)) {
        case eth:
            if (!given(h, "dst")) fill_target_mac(h);
            break;
        case mpls:
            if (!given(h, "bottom")) set(h, "bottom", next(h) != mpls);
            break;
        case udp:
            if (const auto port = child ? udp_port(*child) : std::nullopt; port && !given(h, "dst")) {
                set(h, "dst", *port);
            }
            break;
        case arp: {
            const std::size_t owner = h > 0 ? untagged(h - 1) : h;
            if (!given(h, "sender_mac")) {
                set(h, "sender_mac",
                    kind(owner) == eth ? get(owner, "src") : port_mac_.value_or(*default_of(eth, "src")));
            }
            break;
        }
        default:
            break;
    }
}

/// Broadcast for ARP requests and PADI (RFC 2516 section 5.1), the group of MAC control for pauses (IEEE
/// 802.3 annex 31B); RFC 1112 section 6.4 and RFC 2464 section 7 for multicast groups.
void Builder::fill_target_mac(std::size_t h) {
    const auto behind = after_tags(h);
    if (!behind) return;
    if (kind(*behind) == arp && get(*behind, "operation") == 1) set(h, "dst", broadcast_mac);
    if (kind(*behind) == pppoe_discovery && get(*behind, "code") == 9) set(h, "dst", broadcast_mac);
    if (kind(*behind) == pause || kind(*behind) == pfc) set(h, "dst", mac_control_group);
    if (kind(*behind) == ipv4) {
        const Value group = get(*behind, "dst");
        if (group >> 28 == 0xe) set(h, "dst", Value{0x01005e000000} | (group & 0x7fffff));
    }
    if (kind(*behind) == ipv6) {
        const Value group = get(*behind, "dst");
        if (group >> 120 == 0xff) set(h, "dst", Value{0x333300000000} | (group & 0xffffffff));
    }
}

/// RFC 7348 section 5, RFC 8926 section 3.3, RFC 7510 section 3, RFC 8086 section 3.2: a port that differs
/// from flow to flow, out of the dynamic range.
void Builder::fill_source_port(std::size_t h) {
    if (kind(h) != udp || given(h, "src") || h + 2 >= count()) return;
    if (kind(h + 1) != vxlan && kind(h + 1) != geneve && kind(h + 1) != mpls && kind(h + 1) != gre) return;
    Sequence hash = hash_of_flow(h + 2);
    if (hash.of.empty()) return set(h, "src", hash.number(0));
    hash.smallest = hash.from;
    hash.largest = hash.from + hash.last;
    if (hash.cycle != 0 && hash.cycle <= held_ports) {
        for (std::uint64_t i = 0; i < hash.cycle; ++i) hash.list.push_back(hash.number(i));
        hash.kind = Sequence::Kind::list;
    }
    const auto* const field = find_field(udp, "src");
    const auto bit = static_cast<std::uint32_t>(bit_of(h, *field));
    out_.derived.push_back(std::move(hash));
    out_.parts.push_back({bit, field->bit_width, low_bits(field->bit_width), &out_.derived.back(),
                          static_cast<std::uint32_t>(h), pointer(h, "src"), true});
}

/// What tells flows apart from header `first` on: the fields that stay go into the key, the others into `of`.
Sequence Builder::hash_of_flow(std::size_t first) const {
    Sequence out;
    out.kind = Sequence::Kind::hashed;
    out.from = first_dynamic_port;
    out.last = 0xffff - first_dynamic_port;
    for (std::size_t h = first; h < count(); ++h) {
        const auto& fields = model_.headers[h].fields;
        for (std::size_t f = 0; f < fields.size(); ++f) {
            const auto& sequence = resolver_.field(h, f);
            if (!identifies_flow(*fields[f].field) || sequence.constant()) continue;
            const std::uint64_t period = sequence.period();
            const std::uint64_t common = period == 0 || out.cycle == 0 ? 0 : std::gcd(out.cycle, period);
            out.cycle = common == 0 ? 0 : product_or_never(out.cycle, period / common);
            out.of.push_back(sequence);
        }
        for (const auto& field : all_fields()) {
            const std::size_t end = field.bit_offset + std::size_t{field.bit_width};
            const bool absent = !behind_variable_part(field) && end > out_.layers[h].length * std::size_t{8};
            if (field.header != kind(h) || !identifies_flow(field) || absent) continue;
            const Value value = get_bits(out_.bytes, bit_of(h, field), field.bit_width);
            out.key =
                draw(out.key ^ static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(value >> 64));
        }
    }
    return out;
}

void Builder::add_length(std::size_t h) {
    const std::uint32_t at = out_.layers[h].offset;
    if (kind(h) == ipv4 && !given(h, "total_length")) out_.lengths.push_back({at + 2, at});
    if (kind(h) == ipv6 && !given(h, "payload_length")) out_.lengths.push_back({at + 4, at + 40});
    if (kind(h) == udp && !given(h, "length")) out_.lengths.push_back({at + 4, at});
    if (kind(h) == gtpu && !given(h, "length")) out_.lengths.push_back({at + 2, at + 8});
    if ((kind(h) == pppoe || kind(h) == pppoe_discovery) && !given(h, "length"))
        out_.lengths.push_back({at + 4, at + 6});
    if (kind(h) == sctp_data && !given(h, "length")) {
        out_.lengths.push_back({at + 2, at});
        out_.whole_words_from = at;
    }
}

void Builder::add_checksum(std::size_t h) {
    const auto* const field = find_field(kind(h), "checksum");
    if (field == nullptr) return;
    const std::uint32_t at = out_.layers[h].offset;
    const auto ip = enclosing_ip(h);
    if (given(h, "checksum")) {
        if (kind(h) == udp && ip && kind(*ip) == ipv6 && may_be_zero(h, *field)) {
            refuse(pointer(h, "checksum"),
                   "UDP over IPv6 must have a checksum (RFC 8200 section 8.1); leave it out to have it "
                   "computed");
        }
        return;
    }
    if (kind(h) == sctp) return add_crc(h);
    ChecksumField sum;
    sum.at = at + field->bit_offset / 8U;
    sum.covered.push_back({at, kind(h) == ipv4 ? at + out_.layers[h].length : to_the_end});
    if (kind(h) == udp || kind(h) == tcp || kind(h) == icmpv6) {
        if (!ip) return;  // no addresses to sum: the field stays zero
        sum.zero_is_ffff = kind(h) == udp;
        add_pseudo_header(sum, *ip, h);
        sum.constant = std::uint32_t{ip_protocol(kind(h))} << 8;
        sum.length_from = at;
    }
    out_.checksums.push_back(std::move(sum));
}

/// Of a program only its smallest value is looked at: zero is the smallest there is.
bool Builder::may_be_zero(std::size_t h, const FieldInfo& field) const {
    const auto& fields = model_.headers[h].fields;
    bool zero = get(h, field.name) == 0;
    for (std::size_t f = 0; f < fields.size(); ++f) {
        const auto& sequence = resolver_.field(h, f);
        if (fields[f].field == &field && !sequence.constant())
            zero = sequence.transformed(sequence.smallest) == 0;
    }
    return zero;
}

void Builder::add_crc(std::size_t h) {
    const std::uint32_t at = out_.layers[h].offset;
    out_.crcs.push_back({at + 8, at, to_the_end, pointer(h, "checksum")});
}

void Builder::add_pseudo_header(ChecksumField& sum, std::size_t ip, std::size_t h) {
    const std::uint32_t at = out_.layers[ip].offset;
    if (kind(ip) == ipv4) {
        sum.covered.push_back({at + 12, at + 20});
    } else if (const auto last = final_destination(ip, h)) {
        sum.covered.push_back({at + 8, at + 24});
        sum.covered.push_back({*last, *last + 16});
    } else {
        sum.covered.push_back({at + 8, at + 40});
    }
}

/// RFC 8200 section 8.1: behind a routing header that is not used up, the pseudo-header takes the address
/// where the packet ends: the first of segment routing's list (RFC 8754), the last of the other types' (RFC
/// 5095, RFC 6275).
std::optional<std::uint32_t> Builder::final_destination(std::size_t ip, std::size_t h) {
    for (std::size_t r = ip + 1; r < h; ++r) {
        if (kind(r) != ipv6_routing) continue;
        const bool unknown = varies(r, "segments_left") || varies(r, "type");
        if (!unknown && get(r, "segments_left") == 0) continue;
        const Value type = get(r, "type");
        const Layer& layer = out_.layers[r];
        if (unknown || layer.length < 24 || (type != 0 && type != 2 && type != 4)) {
            refuse(pointer(h),
                   "its checksum takes the address where the packet ends, which the routing header "
                   "before it does not tell: give checksum, or segments_left 0");
            return std::nullopt;
        }
        return type == 4 ? layer.offset + 8 : layer.offset + layer.length - 16;
    }
    return std::nullopt;
}

void Builder::add_raw(std::size_t h) {
    for (const auto& wanted : model_.headers[h].checksums) {
        const auto size = static_cast<std::uint32_t>(out_.bytes.size());
        const bool crc = wanted.pseudo == RawChecksum::Pseudo::crc32c;
        const std::uint32_t addresses = wanted.pseudo == RawChecksum::Pseudo::ipv4 ? 20 : 40;
        const bool inside = crc || wanted.pseudo == RawChecksum::Pseudo::none ||
                            (wanted.ip + addresses <= size && wanted.final_address + 16U <= size);
        if (wanted.offset + (crc ? 4U : 2U) > model_.headers[h].raw.size() || wanted.from > size || !inside ||
            (wanted.to && (*wanted.to < wanted.from || *wanted.to > size))) {
            refuse(pointer(h), "a checksum at byte " + std::to_string(wanted.offset) +
                                   " stands in, or covers, bytes that the packet does not have");
            continue;
        }
        if (crc) {
            out_.crcs.push_back({out_.layers[h].offset + wanted.offset, wanted.from,
                                 wanted.to ? *wanted.to : to_the_end, pointer(h)});
            continue;
        }
        ChecksumField sum;
        sum.at = out_.layers[h].offset + wanted.offset;
        sum.covered.push_back({wanted.from, wanted.to ? *wanted.to : to_the_end});
        if (wanted.pseudo == RawChecksum::Pseudo::ipv4)
            sum.covered.push_back({wanted.ip + 12U, wanted.ip + 20U});
        if (wanted.pseudo == RawChecksum::Pseudo::ipv6) {
            const std::uint32_t last = wanted.final_address != 0 ? wanted.final_address : wanted.ip + 24U;
            sum.covered.push_back({wanted.ip + 8U, wanted.ip + 24U});
            sum.covered.push_back({last, last + 16});
        }
        if (wanted.pseudo != RawChecksum::Pseudo::none) {
            sum.constant = std::uint32_t{wanted.protocol} << 8;
            if (wanted.to) {
                sum.constant += swap_bytes(static_cast<std::uint16_t>(*wanted.to - wanted.from));
            } else {
                sum.length_from = wanted.from;
            }
            sum.zero_is_ffff = wanted.protocol == ip_protocol(udp);
        }
        out_.checksums.push_back(std::move(sum));
    }
}

}  // namespace

Layout lay_out(const PacketModel& model, const Resolver& resolver, std::optional<Value> port_mac,
               std::vector<Problem>& problems) {
    return Builder(model, resolver, port_mac, problems).run();
}

}  // namespace volley::packet
