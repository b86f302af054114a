#include "worker/offload.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <array>
#include <optional>

#include "packet/checksum.h"
#include "worker/wire.h"

namespace volley::worker {
namespace {

constexpr std::uint32_t ethernet_header = 14;
constexpr std::uint32_t tag = 4;
constexpr std::uint32_t ipv6_header = 40;
constexpr std::uint8_t tcp = 6;
constexpr std::uint8_t udp = 17;
// Packets of a template that are looked at: were a checksum that the operator wrote right in all of these,
// the device would write the same.
constexpr std::uint64_t samples = 8;

/// The outermost IP header of a frame and what it carries.
struct Layers {
    bool v4 = false;
    std::uint32_t l2 = 0;
    std::uint32_t l3 = 0;
    std::uint8_t protocol = 0;  ///< 0: no whole TCP or UDP segment
};

std::optional<Layers> layers_of(const std::uint8_t* frame, std::uint32_t length) noexcept {
    Layers out;
    out.l2 = ethernet_header;
    while (out.l2 + tag <= length &&
           (word(frame + out.l2 - 2) == 0x8100 || word(frame + out.l2 - 2) == 0x88a8))
        out.l2 += tag;
    if (out.l2 + ipv6_header > length) return std::nullopt;
    const std::uint8_t* const ip = frame + out.l2;
    std::uint32_t end = 0;
    if (word(ip - 2) == 0x0800 && ip[0] >> 4 == 4) {
        out.v4 = true;
        out.l3 = (ip[0] & 15U) * 4;
        if (out.l3 < 20) return std::nullopt;
        end = out.l2 + word(ip + 2);
        if ((word(ip + 6) & 0x3fff) == 0) out.protocol = ip[9];  // fragments have no checksum of their own
    } else if (word(ip - 2) == 0x86dd && ip[0] >> 4 == 6) {
        out.l3 = ipv6_header;
        end = out.l2 + ipv6_header + word(ip + 4);
        out.protocol = ip[6];
    } else {
        return std::nullopt;
    }
    const std::uint32_t l4 = out.protocol == tcp ? 20 : 8;
    if ((out.protocol != tcp && out.protocol != udp) || end > length || out.l2 + out.l3 + l4 > end)
        out.protocol = 0;
    return out;
}

bool header_sum_holds(const std::uint8_t* ip, std::uint32_t bytes) noexcept {
    return packet::fold(packet::sum_of({ip, bytes})) == 0xffff;
}

// Addresses, protocol and length of the pseudo header (RFC 768, RFC 8200 section 8.1), then the segment.
bool segment_sum_holds(const std::uint8_t* ip, const Layers& layers) noexcept {
    const std::uint8_t* const l4 = ip + layers.l3;
    if (layers.protocol == udp && word(l4 + 6) == 0) return false;  // the operator wants none
    const std::uint32_t length = layers.v4 ? word(ip + 2) - layers.l3 : word(ip + 4);
    const std::array<std::uint8_t, 4> rest{0, layers.protocol, static_cast<std::uint8_t>(length >> 8),
                                           static_cast<std::uint8_t>(length)};
    const std::uint64_t addresses = layers.v4 ? packet::sum_of({ip + 12, 8}) : packet::sum_of({ip + 8, 32});
    return packet::fold(addresses + packet::sum_of(rest) + packet::sum_of({l4, length})) == 0xffff;
}

std::uint64_t flags_of(const std::uint8_t* frame, const Layers& layers, std::uint64_t offloads) noexcept {
    const std::uint8_t* const ip = frame + layers.l2;
    const std::uint64_t version = layers.v4 ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6;
    std::uint64_t flags = 0;
    if (layers.v4 && (offloads & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM) != 0 && header_sum_holds(ip, layers.l3))
        flags |= version | RTE_MBUF_F_TX_IP_CKSUM;
    const std::uint64_t wanted =
        layers.protocol == tcp ? RTE_ETH_TX_OFFLOAD_TCP_CKSUM : RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
    if (layers.protocol != 0 && (offloads & wanted) != 0 && segment_sum_holds(ip, layers))
        flags |= version | (layers.protocol == tcp ? RTE_MBUF_F_TX_TCP_CKSUM : RTE_MBUF_F_TX_UDP_CKSUM);
    return flags;
}

}  // namespace

// A template's packets have the same headers at the same places, so a few tell for all.
ChecksumOffload::Request ChecksumOffload::request_of(const packet::PacketTemplate& packet) const noexcept {
    Request out;
    out.content_id = packet.content_id();
    std::array<std::uint8_t, packet::max_frame> frame;
    out.flags = ~std::uint64_t{0};
    for (std::uint64_t i = 0; i < samples; ++i) {
        const std::uint32_t length = packet.write(i, frame.data());
        const auto layers = layers_of(frame.data(), length);
        out.flags &= layers ? flags_of(frame.data(), *layers, offloads_) : 0;
        if (out.flags == 0) return out;
        out.lengths = layers->l2 | std::uint64_t{layers->l3} << RTE_MBUF_L2_LEN_BITS;
    }
    return out;
}

void ChecksumOffload::ask(const packet::PacketTemplate& packet, std::uint32_t count,
                          rte_mbuf** mbufs) noexcept {
    Request& request = known_[packet.content_id() % known_.size()];
    if (request.content_id != packet.content_id()) request = request_of(packet);
    if (request.flags == 0) return;
    for (std::uint32_t k = 0; k < count; ++k) {
        mbufs[k]->ol_flags = request.flags;
        mbufs[k]->tx_offload = request.lengths;
    }
}

}  // namespace volley::worker
