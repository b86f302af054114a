#include "worker/replies.h"

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <algorithm>

#include "dpdk/error.h"
#include "port/mbuf_pool.h"
#include "worker/tsan.h"

namespace volley::worker {
namespace {

constexpr unsigned buffers = 255;
constexpr unsigned waiting = 256;

// A neighbour's advertisement and every question fit the least of rooms.
std::uint16_t room_of(std::uint32_t longest) {
    constexpr std::uint32_t least = 256;
    return static_cast<std::uint16_t>(RTE_PKTMBUF_HEADROOM + (std::max(longest, least) + 127) / 128 * 128);
}

}  // namespace

Replies::Replies(const std::string& name, int socket, std::uint64_t mac, std::optional<std::uint16_t> vlan,
                 std::vector<IpAddress> addresses, std::uint32_t longest)
    : responder_(mac, vlan, std::move(addresses)),
      longest_(std::min(longest, Responder::longest_reply)),
      pool_(port::make_mbuf_pool("reply_" + name, buffers, 0, room_of(longest_), socket)),
      ring_(nullptr),
      questions_(nullptr) {
    if (pool_ == nullptr)
        throw dpdk::Error("creating mempool reply_" + name, rte_errno, "raise eal.memory_mib");
    ring_ = rte_ring_create(("replies_" + name).c_str(), waiting, socket, RING_F_SC_DEQ);
    questions_ =
        rte_ring_create(("questions_" + name).c_str(), waiting, socket, RING_F_SP_ENQ | RING_F_SC_DEQ);
    if (ring_ != nullptr && questions_ != nullptr) return;
    rte_ring_free(ring_);
    rte_ring_free(questions_);
    rte_mempool_free(pool_);
    throw dpdk::Error("creating ring replies_" + name, rte_errno, "raise eal.memory_mib");
}

Replies::~Replies() {
    void* object = nullptr;
    for (rte_ring* const ring : {ring_, questions_}) {
        while (rte_ring_dequeue(ring, &object) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(object));
        rte_ring_free(ring);
    }
    rte_mempool_free(pool_);
}

template <class Make>
void Replies::put(rte_ring* ring, Make&& make) noexcept {
    rte_mbuf* const mbuf = rte_pktmbuf_alloc(pool_);
    if (mbuf == nullptr) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    tsan_acquire_mbufs();
    const std::uint32_t length = make(rte_pktmbuf_mtod(mbuf, std::uint8_t*));
    if (length == 0) {
        rte_pktmbuf_free(mbuf);
        return;
    }
    mbuf->data_len = static_cast<std::uint16_t>(length);
    mbuf->pkt_len = length;
    tsan_release_mbufs();
    if (rte_ring_enqueue(ring, mbuf) == 0) return;
    rte_pktmbuf_free(mbuf);
    dropped_.fetch_add(1, std::memory_order_relaxed);
}

// No answer is longer than its question, apart from padding and from an advertisement's 86 bytes.
void Replies::answer(std::span<const std::uint8_t> frame) noexcept {
    if (!responder_.concerns(frame)) return;
    if (frame.size() > longest_) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    put(ring_, [&](std::uint8_t* out) { return responder_.reply(frame, out); });
}

void Replies::ask(const IpAddress& address) noexcept {
    put(questions_, [&](std::uint8_t* out) { return responder_.ask(address, out); });
}

std::uint32_t Replies::take(rte_mbuf** out, std::uint32_t n) noexcept {
    void** const objects = reinterpret_cast<void**>(out);
    std::uint32_t taken = rte_ring_sc_dequeue_burst(questions_, objects, n, nullptr);
    questions_taken_ = taken;
    taken += rte_ring_sc_dequeue_burst(ring_, objects + taken, n - taken, nullptr);
    if (taken != 0) tsan_acquire_mbufs();
    return taken;
}

void Replies::sent(std::uint32_t accepted, std::uint32_t given_up) noexcept {
    const std::uint32_t questions = std::min(accepted, questions_taken_);
    asked_.add(questions);
    sent_.add(accepted - questions);
    given_up_.add(given_up);
}

}  // namespace volley::worker
