#include "worker/tap.h"

#include <rte_mbuf.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace volley::worker {

Tap::Tap(std::shared_ptr<const imports::PacketFilter> filter, std::uint32_t most_bytes, std::uint32_t packets)
    : filter_(std::move(filter)),
      most_bytes_(most_bytes),
      heads_(packets),
      bytes_(std::size_t{most_bytes} * packets) {}

void Tap::offer(rte_mbuf* const* mbufs, std::uint32_t count, std::uint64_t now_ns) noexcept {
    std::uint64_t put = put_.load(std::memory_order_relaxed);
    const std::uint64_t room = taken_.load(std::memory_order_acquire) + heads_.size();  // pairs with pop()
    std::uint32_t accepted = 0;
    std::uint32_t dropped = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
        const auto* const frame = rte_pktmbuf_mtod(mbufs[k], const std::uint8_t*);
        const std::uint32_t length = mbufs[k]->pkt_len;
        if (!filter_->accepts({frame, mbufs[k]->data_len}, length)) continue;
        ++accepted;
        if (put == room) {
            ++dropped;
            continue;
        }
        const std::size_t slot = put++ & (heads_.size() - 1);
        heads_[slot] = {now_ns, length, std::min<std::uint32_t>(mbufs[k]->data_len, most_bytes_)};
        std::memcpy(bytes_.data() + slot * most_bytes_, frame, heads_[slot].kept);
    }
    put_.store(put, std::memory_order_release);  // acquired by front()
    received_.add(count);
    accepted_.add(accepted);
    dropped_.add(dropped);
}

bool Tap::front(Packet& out) const noexcept {
    const std::uint64_t at = taken_.load(std::memory_order_relaxed);
    if (at == put_.load(std::memory_order_acquire)) return false;
    const std::size_t slot = at & (heads_.size() - 1);
    out = {heads_[slot].now_ns, heads_[slot].length, heads_[slot].kept, bytes_.data() + slot * most_bytes_};
    return true;
}

}  // namespace volley::worker
