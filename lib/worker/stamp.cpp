#include "worker/stamp.h"

#include <emmintrin.h>
#include <rte_mbuf.h>

#include <cstddef>
#include <cstring>

#include "worker/tsan.h"

namespace volley::worker {
namespace {

// The 32 bytes from rearm_data to the RSS hash are all that a send looks at and a raw get does not reset.
static_assert(offsetof(rte_mbuf, rearm_data) == 16 && offsetof(rte_mbuf, ol_flags) == 24 &&
              offsetof(rte_mbuf, rx_descriptor_fields1) == 32 && offsetof(rte_mbuf, pkt_len) == 36 &&
              offsetof(rte_mbuf, data_len) == 40);

struct Rearm {
    std::uint16_t data_off = RTE_PKTMBUF_HEADROOM;
    std::uint16_t refcnt = 1;
    std::uint16_t nb_segs = 1;
    std::uint16_t port = RTE_MBUF_PORT_INVALID;
    std::uint64_t ol_flags = 0;
};
static_assert(sizeof(Rearm) == 16);

std::uint8_t* frame_of(rte_mbuf* mbuf) noexcept {
    return static_cast<std::uint8_t*>(mbuf->buf_addr) + RTE_PKTMBUF_HEADROOM;
}

void rearm(rte_mbuf* mbuf, __m128i head, std::uint32_t length) noexcept {
    auto* const place = reinterpret_cast<__m128i*>(&mbuf->rearm_data);
    _mm_store_si128(place, head);
    // packet_type 0, pkt_len, data_len | vlan_tci 0, RSS hash 0
    _mm_store_si128(place + 1, _mm_set_epi32(0, static_cast<int>(length), static_cast<int>(length), 0));
}

// Not inlined: taken when a buffer last held another template, which is rare.
__attribute__((noinline)) void copy_image(rte_mbuf* mbuf, const packet::PacketTemplate& packet,
                                          std::uint32_t* content) noexcept {
    std::memcpy(frame_of(mbuf), packet.image().data(), packet.image().size());
    *content = packet.content_id();
}

}  // namespace

bool stamp(const traffic::TemplateBurst& burst, rte_mempool* pool, int id_offset, rte_mbuf** out,
           std::uint16_t* lengths) noexcept {
    if (rte_mempool_get_bulk(pool, reinterpret_cast<void**>(out), burst.count) < 0) return false;
    tsan_acquire_mbufs();
    const packet::PacketTemplate& packet = *burst.packet;
    const Rearm constants;
    const __m128i head = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&constants));
    const std::uint32_t id = packet.content_id();
    const std::uint32_t fixed = packet.fixed_length();
    if (fixed == 0) packet.lengths(burst.first_index, burst.count, lengths);
    for (std::uint32_t k = 0; k < burst.count; ++k) {
        rte_mbuf* const mbuf = out[k];
        rearm(mbuf, head, fixed != 0 ? fixed : lengths[k]);
        auto* const content = reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(mbuf) + id_offset);
        if (*content != id) [[unlikely]]
            copy_image(mbuf, packet, content);
    }
    if (packet.constant()) return true;
    std::uint8_t* frames[packet::max_burst];
    for (std::uint32_t k = 0; k < burst.count; ++k) frames[k] = frame_of(out[k]);
    packet.stamp(burst.first_index, burst.count, frames);
    return true;
}

}  // namespace volley::worker
