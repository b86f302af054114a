#include "import/dissect.h"

#include <algorithm>
#include <array>

namespace volley::imports {
namespace {

using packet::HeaderKind;
using packet::RawChecksum;
using enum packet::HeaderKind;

constexpr std::uint32_t deepest = 64;  // headers; what nests deeper is no traffic

class Dissector {
  public:
    explicit Dissector(std::span<const std::uint8_t> frame)
        : frame_(frame), end_(static_cast<std::uint32_t>(frame.size())) {}

    Dissected run() {
        read_eth(0);
        name_layers();
        return std::move(out_);
    }

  private:
    [[nodiscard]] bool has(std::uint32_t at, std::uint32_t bytes) const {
        return out_.layers.size() < deepest && at + bytes <= end_;
    }
    [[nodiscard]] std::uint32_t byte(std::uint32_t at) const { return frame_[at]; }
    [[nodiscard]] std::uint32_t word(std::uint32_t at) const { return byte(at) << 8U | byte(at + 1); }
    void add(HeaderKind kind, std::uint32_t at, std::uint32_t type_at = 0) {
        out_.layers.push_back({kind, {}, at, end_, type_at});
    }

    void read_eth(std::uint32_t at);
    void read_type(std::uint32_t type, std::uint32_t at);
    void read_mpls(std::uint32_t at);
    void read_by_version(std::uint32_t at);
    void read_ipv4(std::uint32_t at);
    void read_route(std::uint32_t at, std::uint32_t length);
    void read_ipv6(std::uint32_t at);
    static HeaderKind extension(std::uint32_t protocol);
    void read_protocol(std::uint32_t protocol, std::uint32_t at);
    void read_udp(std::uint32_t at);
    void read_mac_control(std::uint32_t at);
    void read_pppoe(std::uint32_t at);
    void read_sctp(std::uint32_t at);
    void read_geneve(std::uint32_t at);
    void read_dns(std::uint32_t at);
    void read_gtpu(std::uint32_t at);
    void read_gre(std::uint32_t at);
    void add_sum(std::uint32_t at, std::uint32_t from, std::uint32_t to, std::uint8_t protocol);
    void name_layers();

    std::span<const std::uint8_t> frame_;
    std::uint32_t end_;                ///< of the innermost IP packet
    bool whole_ = true;                ///< the innermost IP packet is in the frame and no fragment
    std::uint32_t ip_ = 0;             ///< offset of the innermost IP header
    std::uint16_t final_address_ = 0;  ///< as RawChecksum's, of the innermost IP header
    RawChecksum::Pseudo pseudo_ = RawChecksum::Pseudo::none;
    Dissected out_;
};

void Dissector::read_eth(std::uint32_t at) {
    if (!has(at, 14)) return;
    const std::size_t own = out_.layers.size();
    add(eth, at);
    at += 12;
    std::uint32_t type = word(at);
    while ((type == 0x8100 || type == 0x88a8 || type == 0x9100) && has(at, 6)) {
        add(vlan, at);
        at += 4;
        type = word(at);
    }
    out_.layers[own].type_at = at;
    read_type(type, at + 2);
}

void Dissector::read_type(std::uint32_t type, std::uint32_t at) {
    switch (type) {
        case 0x0800:
            return read_ipv4(at);
        case 0x86dd:
            return read_ipv6(at);
        case 0x0806:
            if (has(at, 28)) add(arp, at);
            return;
        case 0x8847:
        case 0x8848:
            return read_mpls(at);
        case 0x6558:
            return read_eth(at);
        case 0x8808:
            return read_mac_control(at);
        case 0x8863:
            if (has(at, 6)) add(pppoe_discovery, at);
            return;
        case 0x8864:
            return read_pppoe(at);
        default:
            return;
    }
}

void Dissector::read_mac_control(std::uint32_t at) {
    if (has(at, 4) && word(at) == 0x0001) add(pause, at);
    if (has(at, 20) && word(at) == 0x0101) add(pfc, at);
}

void Dissector::read_pppoe(std::uint32_t at) {
    if (!has(at, 8) || byte(at + 1) != 0) return;
    add(pppoe, at);
    switch (word(at + 6)) {
        case 0x0021:
            return read_ipv4(at + 8);
        case 0x0057:
            return read_ipv6(at + 8);
        case 0x0281:
            return read_mpls(at + 8);
        default:
            return;
    }
}

void Dissector::read_mpls(std::uint32_t at) {
    bool bottom = false;
    while (!bottom && has(at, 4)) {
        add(mpls, at);
        bottom = (byte(at + 2) & 1U) != 0;
        at += 4;
    }
    if (bottom) read_by_version(at);
}

void Dissector::read_by_version(std::uint32_t at) {
    if (!has(at, 1)) return;
    if (byte(at) >> 4U == 4) read_ipv4(at);
    if (byte(at) >> 4U == 6) read_ipv6(at);
}

void Dissector::read_ipv4(std::uint32_t at) {
    if (!has(at, 20) || byte(at) >> 4U != 4) return;
    const std::uint32_t length = (byte(at) & 15U) * 4;
    if (length < 20 || !has(at, length)) return;
    const std::uint32_t total = word(at + 2);
    add(HeaderKind::ipv4, at);
    FoundChecksum header;
    header.sum.offset = static_cast<std::uint16_t>(at + 10);
    header.sum.from = static_cast<std::uint16_t>(at);
    header.sum.to = static_cast<std::uint16_t>(at + length);
    out_.checksums.push_back(header);
    const bool fits = total >= length && at + total <= end_;
    const std::uint32_t fragment = word(at + 6) & 0x3fffU;  // more fragments, and the offset
    whole_ = whole_ && fits && fragment == 0;
    if (fits) end_ = at + total;
    out_.layers.back().end = end_;
    ip_ = at;
    pseudo_ = RawChecksum::Pseudo::ipv4;
    final_address_ = 0;
    if ((fragment & 0x1fffU) == 0) read_protocol(byte(at + 9), at + length);
}

void Dissector::read_ipv6(std::uint32_t at) {
    if (!has(at, 40) || byte(at) >> 4U != 6) return;
    const std::uint32_t payload = word(at + 4);
    add(HeaderKind::ipv6, at);
    const bool fits = payload != 0 && at + 40 + payload <= end_;
    whole_ = whole_ && fits;
    if (fits) end_ = at + 40 + payload;
    out_.layers.back().end = end_;
    ip_ = at;
    pseudo_ = RawChecksum::Pseudo::ipv6;
    final_address_ = 0;
    std::uint32_t next = byte(at + 6);
    at += 40;
    // Hop-by-hop, routing, destination options, and fragment (RFC 8200 section 4). A routing header that is
    // not used up puts another address into the pseudo-header.
    while ((next == 0 || next == 43 || next == 60 || next == 44) && has(at, 8)) {
        if (next == 44) {
            if ((word(at + 2) & 0xfff9U) != 0) whole_ = false;
            if ((word(at + 2) & 0xfff8U) != 0) return;
        }
        const std::uint32_t length = next == 44 ? 8 : (byte(at + 1) + 1) * 8;
        if (next == 43 && byte(at + 3) != 0) read_route(at, length);
        add(extension(next), at);
        next = byte(at);
        at += length;
    }
    read_protocol(next, at);
}

/// A routing header that is not used up: the first address of segment routing's list (RFC 8754), the last of
/// the other types' (RFC 5095, RFC 6275), is the pseudo-header's. Of types unknown here, none is.
void Dissector::read_route(std::uint32_t at, std::uint32_t length) {
    const std::uint32_t type = byte(at + 2);
    const bool known = (type == 0 || type == 2 || type == 4) && length >= 24 && has(at, length);
    whole_ = whole_ && known;
    final_address_ = unknown_address;
    if (known) final_address_ = static_cast<std::uint16_t>(type == 4 ? at + 8 : at + length - 16);
}

HeaderKind Dissector::extension(std::uint32_t protocol) {
    switch (protocol) {
        case 0:
            return ipv6_hop_by_hop;
        case 43:
            return ipv6_routing;
        case 44:
            return ipv6_fragment;
        default:
            return ipv6_destination;
    }
}

void Dissector::add_sum(std::uint32_t at, std::uint32_t from, std::uint32_t to, std::uint8_t protocol) {
    FoundChecksum found;
    found.whole = whole_;
    found.sum.offset = static_cast<std::uint16_t>(at);
    found.sum.from = static_cast<std::uint16_t>(from);
    found.sum.to = static_cast<std::uint16_t>(to);
    found.sum.protocol = protocol;
    found.sum.ip = static_cast<std::uint16_t>(ip_);
    found.sum.final_address = final_address_;
    found.sum.pseudo = protocol == 1 ? RawChecksum::Pseudo::none : pseudo_;
    out_.checksums.push_back(found);
}

void Dissector::read_protocol(std::uint32_t protocol, std::uint32_t at) {
    switch (protocol) {
        case 1:
            if (!has(at, 8)) return;
            add(icmp, at);
            return add_sum(at + 2, at, end_, 1);
        case 58:
            if (!has(at, 8)) return;
            add(icmpv6, at);
            return add_sum(at + 2, at, end_, 58);
        case 6:
            if (!has(at, 20)) return;
            add(tcp, at);
            return add_sum(at + 16, at, end_, 6);
        case 17:
            return read_udp(at);
        case 132:
            return read_sctp(at);
        case 47:
            return read_gre(at);
        case 4:
            return read_ipv4(at);
        case 41:
            return read_ipv6(at);
        default:
            return;
    }
}

void Dissector::read_udp(std::uint32_t at) {
    if (!has(at, 8)) return;
    add(udp, at);
    const std::uint32_t length = word(at + 4);
    const bool fits = length >= 8 && at + length <= end_;
    if (word(at + 6) != 0 || pseudo_ == RawChecksum::Pseudo::ipv6) {
        add_sum(at + 6, at, fits ? at + length : end_, 17);
        if (!fits) out_.checksums.back().whole = false;
    }
    const std::uint32_t port = word(at + 2);
    if (port == 4789 && has(at + 8, 8)) {
        add(vxlan, at + 8);
        read_eth(at + 16);
    }
    if (port == 2152) read_gtpu(at + 8);
    if (port == 6081) read_geneve(at + 8);
    if (port == 53) read_dns(at + 8);
}

void Dissector::read_sctp(std::uint32_t at) {
    if (!has(at, 12)) return;
    add(sctp, at);
    add_sum(at + 8, at, end_, 0);
    out_.checksums.back().sum.pseudo = RawChecksum::Pseudo::crc32c;
    if (has(at + 12, 16) && byte(at + 12) == 0) add(sctp_data, at + 12);
}

void Dissector::read_geneve(std::uint32_t at) {
    if (!has(at, 8) || byte(at) >> 6U != 0) return;
    add(geneve, at);
    read_type(word(at + 2), at + 8 + (byte(at) & 63U) * 4);
}

// Queries of one name, which is not compressed: there is nothing before it.
void Dissector::read_dns(std::uint32_t at) {
    if (!has(at, 12) || word(at + 4) == 0) return;
    std::uint32_t label = at + 12;
    while (has(label, 1) && byte(label) != 0 && byte(label) < 64) label += byte(label) + 1;
    if (has(label, 5) && byte(label) == 0) add(dns, at, label + 1);
}

// 3GPP TS 29.281 section 5.1: the optional fields are there if any of E, S and PN is set.
void Dissector::read_gtpu(std::uint32_t at) {
    if (!has(at, 8) || byte(at) >> 4U != 3) return;
    add(gtpu, at);
    const std::uint32_t options = (byte(at) & 7U) != 0 ? 4 : 0;
    const bool plain = (byte(at) & 4U) == 0 || !has(at + 8, 4) || byte(at + 11) == 0;
    if (byte(at + 1) == 0xff && plain) read_by_version(at + 8 + options);
}

void Dissector::read_gre(std::uint32_t at) {
    if (!has(at, 4)) return;
    const std::uint32_t flags = word(at);
    std::uint32_t length = 4;
    for (const std::uint32_t flag : {0x8000U, 0x2000U, 0x1000U}) length += (flags & flag) != 0 ? 4 : 0;
    if ((flags & 7U) != 0 || !has(at, length)) return;
    add(gre, at);
    read_type(word(at + 2), at + length);
}

void Dissector::name_layers() {
    std::array<unsigned, packet::header_kinds> seen{};
    for (FoundLayer& layer : out_.layers) {
        const unsigned nth = ++seen[static_cast<std::size_t>(layer.kind)];
        layer.name = packet::name_of(layer.kind);
        if (nth > 1) layer.name += "." + std::to_string(nth);
    }
}

}  // namespace

Dissected dissect(std::span<const std::uint8_t> frame) {
    return Dissector(frame.first(std::min<std::size_t>(frame.size(), 65535))).run();
}

std::optional<std::uint32_t> bit_of(const FoundLayer& layer, const packet::FieldInfo& field,
                                    std::span<const std::uint8_t> frame) {
    std::uint32_t bit = packet::behind_variable_part(field)
                            ? layer.type_at * 8 + field.bit_offset - packet::variable_part
                            : layer.offset * 8 + field.bit_offset;
    if (field.header == gre && field.name == "key") {  // RFC 2890: behind a checksum, if its flag is set
        if ((frame[layer.offset] & 0x20U) == 0) return std::nullopt;
        if ((frame[layer.offset] & 0x80U) != 0) bit += 32;
    }
    if (field.bit_width == 0 || bit + field.bit_width > frame.size() * 8) return std::nullopt;
    return bit;
}

}  // namespace volley::imports
