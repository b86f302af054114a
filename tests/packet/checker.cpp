#include "checker.h"

namespace volley::packet {
namespace {

using enum HeaderKind;

bool is_tag(unsigned type) {
    return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

unsigned folded(std::uint64_t sum) {
    while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<unsigned>(sum);
}

unsigned protocol_of(HeaderKind kind) {
    switch (kind) {
        case icmp:
            return 1;
        case HeaderKind::ipv4:
            return 4;
        case tcp:
            return 6;
        case udp:
            return 17;
        case HeaderKind::ipv6:
            return 41;
        case gre:
            return 47;
        case icmpv6:
            return 58;
        case HeaderKind::sctp:
            return 132;
        case ipv6_routing:
            return 43;
        case ipv6_fragment:
            return 44;
        case ipv6_destination:
            return 60;
        default:
            return 0;
    }
}

unsigned ppp_of(HeaderKind kind) {
    return kind == HeaderKind::ipv4 ? 0x0021 : kind == HeaderKind::ipv6 ? 0x0057 : kind == mpls ? 0x0281 : 0;
}

/// Bit by bit, most significant bit of the polynomial 0x1edc6f41 last (RFC 9260 appendix A).
std::uint32_t slow_crc(std::span<const std::uint8_t> bytes) {
    std::uint32_t crc = ~0U;
    for (const auto byte : bytes) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            const bool odd = ((crc ^ (static_cast<unsigned>(byte) >> bit)) & 1U) != 0;
            crc = (crc >> 1U) ^ (odd ? 0x82f63b78U : 0U);
        }
    }
    return ~crc;
}

unsigned ethertype_of(HeaderKind kind) {
    switch (kind) {
        case HeaderKind::ipv4:
            return 0x0800;
        case HeaderKind::ipv6:
            return 0x86dd;
        case arp:
            return 0x0806;
        case mpls:
            return 0x8847;
        case HeaderKind::eth:
            return 0x6558;
        case pppoe:
            return 0x8864;
        case pppoe_discovery:
            return 0x8863;
        case HeaderKind::pause:
        case pfc:
            return 0x8808;
        default:
            return 0;
    }
}

}  // namespace

Checker::Checker(std::span<const std::uint8_t> frame, std::vector<Expected> stack)
    : frame_(frame), stack_(std::move(stack)), end_(frame.size()) {
    walk();
}

std::uint64_t Checker::sum(std::size_t begin, std::size_t end) const {
    std::uint64_t total = 0;
    for (std::size_t at = begin; at < end; at += 2)
        total += frame_[at] * 256U + (at + 1 < end ? frame_[at + 1] : 0U);
    return total;
}

void Checker::see_end(std::size_t end, const char* field) {
    if (end > frame_.size()) complain(std::string(field) + " points beyond the frame");
    if (end_known_ && end != end_) complain(std::string(field) + " disagrees with an outer length");
    if (!end_known_ && end != frame_.size() && frame_.size() > 60) complain(std::string(field) + " is short");
    end_ = std::min(end, frame_.size());
    end_known_ = true;
}

void Checker::next_type(HeaderKind parent, unsigned type, std::size_t next) {
    if (next >= stack_.size() || stack_[next].kind == raw) return;
    const bool ether = parent == HeaderKind::eth || parent == gre || parent == geneve;
    const auto kind = stack_[next].kind;
    const unsigned expected = ether ? ethertype_of(kind) : parent == pppoe ? ppp_of(kind) : protocol_of(kind);
    if (kind == ipv6_hop_by_hop && type != 0) complain("hop-by-hop options are not announced");
    if (expected != 0 && type != expected) complain("wrong next type in " + std::string(name_of(parent)));
}

void Checker::eth(std::size_t& at, unsigned& type) {
    at += 12;
    type = word(at);
    while (is_tag(type)) {
        layers_.push_back({vlan, at});
        at += 4;
        type = word(at);
    }
    at += 2;
}

void Checker::ipv4(std::size_t& at, unsigned& type) {
    const std::size_t length = (frame_[at] & 15U) * 4U;
    if (frame_[at] >> 4 != 4 || length < 20) complain("not an IPv4 header");
    if (folded(sum(at, at + length)) != 0xffff) complain("IPv4 header checksum");
    see_end(at + word(at + 2), "IPv4 total length");
    type = frame_[at + 9];
    at += length;
}

void Checker::ipv6(std::size_t& at, unsigned& type) {
    if (frame_[at] >> 4 != 6) complain("not an IPv6 header");
    see_end(at + 40 + word(at + 4), "IPv6 payload length");
    type = frame_[at + 6];
    at += 40;
}

void Checker::transport(HeaderKind kind, std::size_t& at) {
    std::uint64_t total = sum(at, end_);
    if (kind != icmp) {
        const auto& ip = layers_[static_cast<std::size_t>(ip_)];
        const bool four = ip.kind == HeaderKind::ipv4;
        const std::size_t target = last_hop_ != 0 ? last_hop_ : ip.offset + 24;
        total += four ? sum(ip.offset + 12, ip.offset + 20)
                      : sum(ip.offset + 8, ip.offset + 24) + sum(target, target + 16);
        total += protocol_of(kind) + (end_ - at);
    }
    if (folded(total) != 0xffff) complain(std::string(name_of(kind)) + " checksum");
    if (kind == udp) {
        if (word(at + 6) == 0) complain("UDP checksum zero");
        see_end(at + word(at + 4), "UDP length");
    }
    at += kind == tcp ? (frame_[at + 12] >> 4) * 4U : 8U;
}

void Checker::extension(HeaderKind kind, std::size_t& at, std::size_t next) {
    next_type(kind, frame_[at], next);
    const std::size_t length = kind == ipv6_fragment ? 8 : frame_[at + 1] * 8U + 8U;
    if (at + length > end_) complain("extension header reaches beyond its packet");
    if (kind == ipv6_routing && frame_[at + 2] == 4 && frame_[at + 3] != 0) last_hop_ = at + 8;
    if (kind == ipv6_hop_by_hop || kind == ipv6_destination) {
        std::size_t option = at + 2;
        while (option < at + length) option += frame_[option] == 0 ? 1 : frame_[option + 1] + 2U;
        if (option != at + length) complain("options do not end with their header");
    }
    at += length;
}

void Checker::sctp(std::size_t& at) {
    std::vector<std::uint8_t> copy(frame_.begin() + static_cast<std::ptrdiff_t>(at),
                                   frame_.begin() + static_cast<std::ptrdiff_t>(end_));
    std::uint32_t told = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
        told |= static_cast<std::uint32_t>(copy[8 + byte]) << (8 * byte);
        copy[8 + byte] = 0;
    }
    if (slow_crc(copy) != told) complain("SCTP checksum");
    at += 12;
}

void Checker::other(HeaderKind kind, std::size_t& at, std::size_t i) {
    switch (kind) {
        case HeaderKind::sctp:
            return sctp(at);
        case sctp_data:
            see_end(at + word(at + 2), "SCTP chunk length");
            if ((end_ - at) % 4 != 0) complain("SCTP chunk without its padding");
            at += 16;
            return;
        case geneve:
            next_type(kind, word(at + 2), i + 1);
            at += 8 + frame_[at] * 4U;
            return;
        case pppoe:
            next_type(kind, word(at + 6), i + 1);
            see_end(at + 6 + word(at + 4), "PPPoE length");
            at += 8;
            return;
        case pppoe_discovery:
            see_end(at + 6 + word(at + 4), "PPPoE length");
            at += 6;
            return;
        case HeaderKind::pause:
            at += 4;
            return;
        case pfc:
            at += 20;
            return;
        case dns:
            at += 12;
            while (frame_[at] != 0) at += frame_[at] + 1U;
            at += 5;
            return;
        default:
            at += stack_[i].raw_length;
    }
}

void Checker::walk() {
    std::size_t at = 0;
    for (std::size_t i = 0; i < stack_.size(); ++i) {
        const auto kind = stack_[i].kind;
        if (kind == vlan) continue;  // seen with its eth
        layers_.push_back({kind, at});
        unsigned type = 0;
        switch (kind) {
            case HeaderKind::eth: {
                eth(at, type);
                std::size_t next = i + 1;
                while (next < stack_.size() && stack_[next].kind == vlan) ++next;
                next_type(kind, type, next);
                break;
            }
            case HeaderKind::ipv4:
            case HeaderKind::ipv6:
                ip_ = static_cast<int>(layers_.size()) - 1;
                last_hop_ = 0;
                kind == HeaderKind::ipv4 ? ipv4(at, type) : ipv6(at, type);
                next_type(kind, type, i + 1);
                break;
            case udp:
            case tcp:
            case icmp:
            case icmpv6:
                transport(kind, at);
                break;
            case mpls: {
                const bool last = i + 1 >= stack_.size() || stack_[i + 1].kind != mpls;
                if (((frame_[at + 2] & 1) != 0) != last) complain("MPLS bottom of stack");
                at += 4;
                break;
            }
            case gre:
                next_type(kind, word(at + 2), i + 1);
                at += (frame_[at] & 0x20) != 0 ? 8 : 4;
                break;
            case gtpu:
                see_end(at + 8 + word(at + 2), "GTP-U length");
                at += 8;
                break;
            case vxlan:
                if (frame_[at] != 8) complain("VXLAN flags");
                at += 8;
                break;
            case arp:
                at += 28;
                break;
            case ipv6_hop_by_hop:
            case ipv6_routing:
            case ipv6_fragment:
            case ipv6_destination:
                extension(kind, at, i + 1);
                break;
            default:
                other(kind, at, i);
                break;
        }
    }
}

}  // namespace volley::packet
