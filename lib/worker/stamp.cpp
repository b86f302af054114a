#include "worker/stamp.h"

#include <rte_mbuf.h>
#include <smmintrin.h>

#include <cstddef>
#include <cstring>

#include "packet/plan.h"
#include "worker/tsan.h"
#include "worker/tx_batch.h"

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

// What the header of an mbuf is to hold from rearm_data on.
struct Header {
    __m128i head;
    __m128i tail;  ///< packet_type 0, pkt_len, data_len | vlan_tci 0, RSS hash 0
};

Header header(std::uint32_t length) noexcept {
    const Rearm constants;
    return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(&constants)),
            _mm_set_epi32(0, static_cast<int>(length), static_cast<int>(length), 0)};
}

__m128i* place_of(rte_mbuf* mbuf) noexcept {
    return reinterpret_cast<__m128i*>(&mbuf->rearm_data);
}

std::uint32_t& content_of(rte_mbuf* mbuf, int id_offset) noexcept {
    return *reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(mbuf) + id_offset);
}

// Not inlined: taken when a buffer last held another template, which is rare.
__attribute__((noinline)) void copy_image(rte_mbuf* mbuf, const packet::PacketTemplate& packet,
                                          int id_offset) noexcept {
    std::memcpy(frame_of(mbuf), packet.image().data(), packet.image().size());
    content_of(mbuf, id_offset) = packet.content_id();
}

// Most buffers come back as they were sent. All of a burst are looked at before any is written: loads and ORs
// without a branch cost less than two stores a packet, of which a burst of 64 has more than the core's store
// buffer.
inline bool all_hold(rte_mbuf* const* mbufs, std::uint32_t count, int id_offset, const Header& wanted,
                     std::uint32_t id) noexcept {
    __m128i head = _mm_setzero_si128();
    __m128i tail = _mm_setzero_si128();
    std::uint32_t other = 0;
#pragma GCC unroll 4
    for (std::uint32_t k = 0; k < count; ++k) {
        const __m128i* const place = place_of(mbufs[k]);
        head = _mm_or_si128(head, _mm_xor_si128(_mm_load_si128(place), wanted.head));
        tail = _mm_or_si128(tail, _mm_xor_si128(_mm_load_si128(place + 1), wanted.tail));
        other |= content_of(mbufs[k], id_offset) ^ id;
    }
    const __m128i differs = _mm_or_si128(head, tail);
    return other == 0 && _mm_testz_si128(differs, differs) != 0;
}

void prepare_fixed(const packet::PacketTemplate& packet, std::uint32_t count, int id_offset,
                   rte_mbuf** mbufs) noexcept {
    const Header wanted = header(packet.fixed_length());
    const std::uint32_t id = packet.content_id();
    if (all_hold(mbufs, count, id_offset, wanted, id)) [[likely]]
        return;
    for (std::uint32_t k = 0; k < count; ++k) {
        _mm_store_si128(place_of(mbufs[k]), wanted.head);
        _mm_store_si128(place_of(mbufs[k]) + 1, wanted.tail);
        if (content_of(mbufs[k], id_offset) != id) [[unlikely]]
            copy_image(mbufs[k], packet, id_offset);
    }
}

void prepare_varying(const packet::PacketTemplate& packet, std::uint32_t count, int id_offset,
                     rte_mbuf** mbufs, const std::uint16_t* lengths) noexcept {
    const std::uint32_t id = packet.content_id();
    // The trailer of a shorter packet stands where a longer one has payload. A rotation writes every byte.
    const bool spoilt = packet.signing() != nullptr && packet.plan().rotation == nullptr;
    for (std::uint32_t k = 0; k < count; ++k) {
        const Header wanted = header(lengths[k]);
        _mm_store_si128(place_of(mbufs[k]), wanted.head);
        _mm_store_si128(place_of(mbufs[k]) + 1, wanted.tail);
        if (spoilt || content_of(mbufs[k], id_offset) != id) [[unlikely]]
            copy_image(mbufs[k], packet, id_offset);
    }
}

}  // namespace

void TxBatch::sign(std::uint64_t time_ns) noexcept {
    std::uint32_t at = head_;
    for (std::uint32_t e = first_; e < last_; ++e) {
        const Entry& entry = entries_[e];
        const std::uint32_t end = at + entry.left;
        if (entry.signing == nullptr) {
            at = end;
            continue;
        }
        const packet::Signer signer(*entry.signing, time_ns);
        for (std::uint64_t index = entry.end_index - entry.left; at < end; ++at, ++index) {
            const std::uint32_t length = entry.length != 0 ? entry.length : lengths_[at];
            signer.write(frame_of(mbufs_[at]) + length - packet::signature_bytes, index);
        }
    }
}

bool stamp(const traffic::TemplateBurst& burst, rte_mempool* pool, int id_offset, rte_mbuf** out,
           std::uint16_t* lengths) noexcept {
    if (rte_mempool_get_bulk(pool, reinterpret_cast<void**>(out), burst.count) < 0) return false;
    tsan_acquire_mbufs();
    const packet::PacketTemplate& packet = *burst.packet;
    if (packet.fixed_length() != 0) {
        prepare_fixed(packet, burst.count, id_offset, out);
    } else {
        packet.lengths(burst.first_index, burst.count, lengths);
        prepare_varying(packet, burst.count, id_offset, out, lengths);
    }
    if (packet.constant()) return true;
    std::uint8_t* frames[packet::max_burst];
    for (std::uint32_t k = 0; k < burst.count; ++k) frames[k] = frame_of(out[k]);
    packet.stamp(burst.first_index, burst.count, frames);
    return true;
}

}  // namespace volley::worker
