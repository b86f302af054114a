#include "worker/evidence.h"

#include <rte_mbuf.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace volley::worker {
namespace {

using State = EvidenceCase::State;

void copy(const EvidenceCase::Packet& from, EvidenceCase::Packet& to) noexcept {
    to.ordinal = from.ordinal;
    to.now_ns = from.now_ns;
    to.kept = from.kept;
    to.length = from.length;
    std::memcpy(to.bytes.data(), from.bytes.data(), from.kept);
}

}  // namespace

// A finding of the burst's last packet still has `around` packets before the burst's first.
Evidence::Evidence(std::uint32_t around) : around_(around), history_(std::bit_ceil(around + burst)) {
    for (EvidenceCase& each : cases_) each.packets.resize(std::size_t{2} * around + 1);
}

void Evidence::remember(rte_mbuf* const* mbufs, std::uint32_t count, std::uint64_t now_ns) noexcept {
    burst_first_ = received_;
    for (std::uint32_t k = 0; k < count; ++k) {
        EvidenceCase::Packet& packet = history_[received_ & (history_.size() - 1)];
        packet.ordinal = received_++;
        packet.now_ns = now_ns;
        packet.length = mbufs[k]->pkt_len;
        packet.kept = std::min<std::uint32_t>(mbufs[k]->data_len, EvidenceCase::Packet::most_bytes);
        std::memcpy(packet.bytes.data(), rte_pktmbuf_mtod(mbufs[k], const std::uint8_t*), packet.kept);
    }
}

bool Evidence::note(const Found& found, std::uint32_t k) noexcept {
    const auto free = std::find_if(cases_.begin(), cases_.end(), [](const EvidenceCase& each) {
        return each.state.load(std::memory_order_acquire) == State::free;  // pairs with release()
    });
    if (free == cases_.end()) {
        dropped_.add(1);
        return false;
    }
    free->state.store(State::filling, std::memory_order_relaxed);
    free->found = found;
    free->count = 0;
    free->centre = burst_first_ + k;
    free->next = free->centre - std::min<std::uint64_t>(free->centre, around_);
    ++open_;
    return true;
}

void Evidence::complete(bool now) noexcept {
    for (EvidenceCase& each : cases_) {
        if (each.state.load(std::memory_order_relaxed) != State::filling) continue;
        const std::uint64_t end = each.centre + around_ + 1;
        for (; each.next < std::min(end, received_); ++each.next) {
            if (each.next == each.centre) each.at = each.count;
            copy(history_[each.next & (history_.size() - 1)], each.packets[each.count++]);
        }
        if (each.next < end && !now) continue;
        --open_;
        each.state.store(State::full, std::memory_order_release);  // acquired by take()
    }
}

EvidenceCase* Evidence::take() noexcept {
    for (EvidenceCase& each : cases_) {
        if (each.state.load(std::memory_order_acquire) != State::full) continue;
        each.state.store(State::taken, std::memory_order_relaxed);
        return &each;
    }
    return nullptr;
}

}  // namespace volley::worker
