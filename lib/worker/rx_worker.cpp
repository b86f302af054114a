#include "worker/rx_worker.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "packet/signature.h"
#include "worker/tsan.h"

namespace volley::worker {

static_assert(RxWorker::burst <= Verifier::run && RxWorker::burst <= Evidence::burst);

void RxWorker::adopt(const RxTable* table) noexcept {
    offered_.store(nullptr, std::memory_order_relaxed);
    table_ = table;
    if (evidence_ != nullptr && table->hold) evidence_->close();
    adopted_.store(table->number, std::memory_order_release);  // acquired by adopted()
}

void RxWorker::change_tap() noexcept {
    tap_ = wanted_tap_.load(std::memory_order_acquire);
    used_tap_.store(tap_, std::memory_order_release);  // acquired by tap_in_use()
}

void RxWorker::to_verify(const RxTable::Life& life, std::uint32_t k, const std::uint8_t* frame,
                         std::uint32_t length) noexcept {
    const std::uint64_t index = life.stream->index();
    const std::uint32_t one_in = life.verification->one_in;
    if (one_in != 1 && index % one_in != 0) return;
    if (waiting_ != &life || index != waiting_first_ + waiting_count_) {
        verify_waiting();
        waiting_ = &life;
        waiting_first_ = index;
    }
    waiting_frames_[waiting_count_] = frame;
    waiting_at_[waiting_count_] = k;
    waiting_lengths_[waiting_count_++] = length;
}

void RxWorker::verify_waiting() noexcept {
    if (waiting_count_ == 0) return;
    StreamRx& row = waiting_->stream->row();
    const std::uint32_t wrong =
        verifier_.compare(*waiting_->verification, waiting_->stream->sent().slot, waiting_first_,
                          waiting_count_, waiting_frames_.data(), waiting_lengths_.data());
    row.verified.add(waiting_count_);
    if (wrong != 0) [[unlikely]] {
        row.corrupted.add(wrong);
        const Verifier::Wrong first = verifier_.first_wrong();
        const std::uint64_t index = waiting_first_ + first.at;
        if (evidence_ != nullptr && waiting_->stream->is_first(Finding::corruption))
            evidence_->note({Finding::corruption, waiting_->stream->sent().slot, index, index, first.offset},
                            waiting_at_[first.at]);
    }
    waiting_ = nullptr;
    waiting_count_ = 0;
}

// Packet k of the burst came when another of its stream was expected.
void RxWorker::note_fate(RxStream& stream, std::uint32_t k) noexcept {
    using Fate = SequenceTracker::Fate;
    const Finding kind = stream.fate() == Fate::after_gap ? Finding::loss
                         : stream.fate() == Fate::late    ? Finding::reordering
                                                          : Finding::duplicate;
    if ((kind == Finding::loss && !judges_loss_) || !stream.is_first(kind)) return;
    evidence_->note({kind, stream.sent().slot, stream.expected(), stream.index(), 0}, k);
}

void RxWorker::account(rte_mbuf* const* mbufs, std::uint32_t count, std::uint64_t now_ns) noexcept {
    const RxTable& table = *table_;
    RxStream::Arrival arrival;
    arrival.now_ns = now_ns;
    std::uint64_t bytes = 0;
    std::uint32_t unmatched = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
        const auto* const frame = rte_pktmbuf_mtod(mbufs[k], const std::uint8_t*);
        const std::uint32_t length = mbufs[k]->data_len;
        bytes += mbufs[k]->pkt_len;
        const RxTable::Life* life = nullptr;
        if (length >= packet::signature_bytes && length == mbufs[k]->pkt_len && table.salt != 0 &&
            packet::read_signature(frame + length - packet::signature_bytes, table.salt, arrival.signature)) {
            life = table.find(arrival.signature.stream, arrival.signature.generation);
        }
        arrival.length = length;
        if (life == nullptr || !life->stream->take(arrival)) [[unlikely]] {
            ++unmatched;
            if (replies_ != nullptr) replies_->answer({frame, length});
            continue;
        }
        if (evidence_ != nullptr && life->stream->fate() != SequenceTracker::Fate::in_order) [[unlikely]]
            note_fate(*life->stream, k);
        if (life->verification != nullptr) to_verify(*life, k, frame, length);
    }
    verify_waiting();
    counters_.packets.add(count);
    counters_.bytes.add(bytes);
    if (unmatched != 0) counters_.unmatched.add(unmatched);
}

bool RxWorker::turn() noexcept {
    if (offered_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
        adopt(offered_.load(std::memory_order_acquire));
    if (wanted_tap_.load(std::memory_order_relaxed) != tap_) [[unlikely]]
        change_tap();
    if (table_ == nullptr || table_->hold) [[unlikely]]
        return false;
    rte_mbuf* mbufs[burst];
    const std::uint32_t count = rte_eth_rx_burst(port_.value, queue_.value, mbufs, burst);
    if (count == 0) {
        counters_.empty_polls.add(1);
        return false;
    }
    tsan_acquire_mbufs();
    const std::uint64_t now_ns = clock_.ns(tsc_now());
    for (std::uint32_t k = 0; k < count; ++k) {
        rte_prefetch0(rte_pktmbuf_mtod(mbufs[k], const std::uint8_t*) + mbufs[k]->data_len -
                      packet::signature_bytes);
    }
    if (tap_ != nullptr) [[unlikely]]
        tap_->offer(mbufs, count, now_ns);
    if (evidence_ != nullptr) evidence_->remember(mbufs, count, now_ns);
    account(mbufs, count, now_ns);
    if (evidence_ != nullptr) evidence_->settle();
    counters_.calls.add(1);
    tsan_release_mbufs();
    rte_pktmbuf_free_bulk(mbufs, count);
    return true;
}

}  // namespace volley::worker
