#include "worker/rx_worker.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include <algorithm>
#include <bit>

#include "packet/signature.h"
#include "worker/tsan.h"

namespace volley::worker {

static_assert(RxWorker::burst <= Verifier::run && RxWorker::burst <= RxStream::most &&
              RxWorker::burst <= Evidence::burst);

void RxWorker::adopt(const RxTable* table) noexcept {
    offered_.store(nullptr, std::memory_order_relaxed);
    table_ = table;
    if (evidence_ != nullptr && table->hold) evidence_->close();
    if (table->begins_run) verifier_.begin_run();
    adopted_.store(table->number, std::memory_order_release);  // acquired by adopted()
}

void RxWorker::change_tap() noexcept {
    tap_change_ = wanted_change_.load(std::memory_order_acquire);
    tap_ = wanted_tap_.load(std::memory_order_relaxed);          // of that change, or of a later one
    made_change_.store(tap_change_, std::memory_order_release);  // acquired by tap_changes()
}

namespace {

// How many packets ahead of the one that is read its mbuf's header and its trailer are brought near, so that
// the memory works while signatures are read.
constexpr std::uint32_t header_ahead = 16;
constexpr std::uint32_t trailer_ahead = 8;

inline void prefetch_trailer(const rte_mbuf* mbuf) noexcept {
    rte_prefetch0(rte_pktmbuf_mtod(mbuf, const std::uint8_t*) + mbuf->data_len - packet::signature_bytes);
}

}  // namespace

// Receive buffers hold any frame of a stream, but what a neighbour sends, or a device that cuts where it
// likes, may come as a chain all the same. The frame as one piece: the price is a copy.
const std::uint8_t* RxWorker::join(const rte_mbuf* chain, std::uint32_t k) noexcept {
    std::uint8_t* const place = joined_.get() + std::size_t{k} * longest_chain;
    return static_cast<const std::uint8_t*>(rte_pktmbuf_read(chain, 0, chain->pkt_len, place));
}

// Reads all signatures. Returns the bytes of the burst. What the runs are looked up in is on its way after.
std::uint64_t RxWorker::find_runs(rte_mbuf* const* mbufs, std::uint32_t count) noexcept {
    constexpr std::uint64_t nobody = std::uint64_t{1} << 32;
    const std::uint16_t salt = table_->salt;
    std::uint64_t bytes = 0;
    std::uint64_t last = ~nobody;
    std::uint32_t runs = 0;
    for (std::uint32_t k = 0; k < std::min(count, header_ahead); ++k) rte_prefetch0(mbufs[k]);
    for (std::uint32_t k = 0; k < std::min(count, trailer_ahead); ++k) prefetch_trailer(mbufs[k]);
    for (std::uint32_t k = 0; k < count; ++k) {
        if (k + header_ahead < count) rte_prefetch0(mbufs[k + header_ahead]);
        if (k + trailer_ahead < count) prefetch_trailer(mbufs[k + trailer_ahead]);
        const auto* frame = rte_pktmbuf_mtod(mbufs[k], const std::uint8_t*);
        std::uint32_t length = mbufs[k]->data_len;
        const std::uint32_t whole = mbufs[k]->pkt_len;
        bytes += whole;
        if (length != whole && whole <= longest_chain) [[unlikely]] {
            frame = join(mbufs[k], k);
            length = whole;
        }
        packet::Signature signature;
        std::uint64_t origin = nobody;
        if (length >= packet::signature_bytes && length == whole &&
            packet::read_signature(frame + length - packet::signature_bytes, salt, signature)) {
            origin = signature.origin;
        }
        frames_[k] = frame;
        lengths_[k] = length;
        sequences_[k] = signature.sequence;
        sent_ns_[k] = signature.time;
        if (origin == last) continue;
        last = origin;
        const RxTable::Entry* const entry = origin == nobody ? nullptr : table_->entry(signature.stream());
        rte_prefetch0(entry);
        runs_[runs++] = {entry, {}, k, signature.generation()};
    }
    runs_[runs].first = count;
    run_count_ = runs;
    return bytes;
}

// Each run's next step waits for memory, which those of the other runs meanwhile use.
void RxWorker::look_up_runs(std::uint64_t now_ns) noexcept {
    for (std::uint32_t r = 0; r < run_count_; ++r) {
        Run& run = runs_[r];
        if (run.entry != nullptr) run.life = run.entry->life(run.generation);
        if (run.life.stream == nullptr) continue;
        run.life.stream->prefetch();
        RxStream::prefetch(*run.life.row, sent_ns_[run.first], now_ns);
    }
    for (std::uint32_t r = 0; r < run_count_; ++r) {
        const Run& run = runs_[r];
        if (run.life.stream != nullptr) run.life.stream->prefetch_arrival(now_ns);
    }
}

// The first of each kind, or, when there was no room for it, the next that finds some.
void RxWorker::note(RxStream& stream, const Found& found, std::uint32_t k) noexcept {
    if (stream.is_noted(found.kind) || !evidence_->note(found, k)) return;
    stream.set_noted(found.kind);
}

// Packets that came when others of their stream were expected.
void RxWorker::note_unusual(const Run& run, std::uint32_t count, const RxStream::Taken& taken) noexcept {
    using Fate = SequenceTracker::Fate;
    RxStream& stream = *run.life.stream;
    for (std::uint32_t k = 0; k < count; ++k) {
        if ((taken.unusual >> k & 1) == 0) continue;
        const Finding kind = taken.fate[k] == Fate::after_gap ? Finding::loss
                             : taken.fate[k] == Fate::late    ? Finding::reordering
                                                              : Finding::duplicate;
        if (kind == Finding::loss && !judges_loss_) continue;
        note(stream, {kind, stream.sent().slot, taken.instead[k], taken.index[k], 0}, run.first + k);
    }
}

// The first of the packets that were compared last: they begin with packet `from` of the run.
void RxWorker::note_corrupted(const Run& run, std::uint32_t from, std::uint64_t first_index) noexcept {
    if (evidence_ == nullptr) return;
    RxStream& stream = *run.life.stream;
    const Verifier::Wrong wrong = verifier_.first_wrong();
    const std::uint64_t index = first_index + wrong.at;
    note(stream, {Finding::corruption, stream.sent().slot, index, index, wrong.offset},
         run.first + from + wrong.at);
}

// Packets of a run with consecutive indices are made again together.
void RxWorker::verify(const Run& run, std::uint32_t count, const RxStream::Taken& taken) noexcept {
    const std::uint32_t one_in = run.life.verification->one_in;
    const auto wanted = [&](std::uint32_t k) {
        return (taken.ours >> k & 1) != 0 && (one_in == 1 || taken.index[k] % one_in == 0);
    };
    std::uint32_t compared = 0;
    std::uint32_t wrong = 0;
    for (std::uint32_t k = 0; k < count;) {
        if (!wanted(k)) {
            ++k;
            continue;
        }
        const std::uint32_t from = k++;
        while (k < count && taken.index[k] == taken.index[from] + (k - from) && wanted(k)) ++k;
        const std::uint32_t differ =
            verifier_.compare(*run.life.verification, run.life.stream->sent().slot, taken.index[from],
                              k - from, &frames_[run.first + from], &lengths_[run.first + from]);
        if (differ != 0) [[unlikely]]
            note_corrupted(run, from, taken.index[from]);
        wrong += differ;
        compared += k - from;
    }
    StreamRx& row = run.life.stream->row();
    row.verified.add(compared);
    if (wrong != 0) [[unlikely]]
        row.corrupted.add(wrong);
}

void RxWorker::answer(std::uint32_t k) noexcept {
    if (replies_ != nullptr) replies_->answer({frames_[k], lengths_[k]});
}

// Returns how many packets of the run are not ours.
std::uint32_t RxWorker::take(const Run& run, std::uint32_t count, std::uint64_t now_ns) noexcept {
    RxStream::Taken taken;
    taken.ours = taken.unusual = 0;
    if (run.life.stream != nullptr) [[likely]] {
        run.life.stream->take(
            {&sequences_[run.first], &sent_ns_[run.first], &lengths_[run.first], count, now_ns}, taken);
        if (taken.unusual != 0 && evidence_ != nullptr) [[unlikely]]
            note_unusual(run, count, taken);
        if (run.life.verification != nullptr) verify(run, count, taken);
    }
    const auto ours = static_cast<std::uint32_t>(std::popcount(taken.ours));
    if (ours == count) [[likely]]
        return 0;
    for (std::uint32_t k = 0; k < count; ++k) {
        if ((taken.ours >> k & 1) == 0) answer(run.first + k);
    }
    return count - ours;
}

void RxWorker::account(rte_mbuf* const* mbufs, std::uint32_t count, std::uint64_t now_ns) noexcept {
    const std::uint64_t bytes = find_runs(mbufs, count);
    look_up_runs(now_ns);
    std::uint32_t unmatched = 0;
    for (std::uint32_t r = 0; r < run_count_; ++r)
        unmatched += take(runs_[r], runs_[r + 1].first - runs_[r].first, now_ns);
    counters_.bytes.add(bytes);
    if (unmatched != 0) counters_.unmatched.add(unmatched);
}

// No packet can be ours: only its length is looked at, and what it says where somebody answers.
void RxWorker::account_foreign(rte_mbuf* const* mbufs, std::uint32_t count) noexcept {
    std::uint64_t bytes = 0;
    for (std::uint32_t k = 0; k < count; ++k) bytes += mbufs[k]->pkt_len;
    for (std::uint32_t k = 0; replies_ != nullptr && k < count; ++k)
        replies_->answer({rte_pktmbuf_mtod(mbufs[k], const std::uint8_t*), mbufs[k]->data_len});
    counters_.bytes.add(bytes);
    counters_.unmatched.add(count);
}

bool RxWorker::add_interrupt(int epoll_fd) noexcept {
    // Only the driver says without a message in the log that it has none.
    if (rte_eth_dev_rx_intr_enable(port_.value, queue_.value) != 0) return false;
    disarm();
    return rte_eth_dev_rx_intr_ctl_q(port_.value, queue_.value, epoll_fd, RTE_INTR_EVENT_ADD, this) == 0;
}

void RxWorker::remove_interrupt(int epoll_fd) noexcept {
    rte_eth_dev_rx_intr_ctl_q(port_.value, queue_.value, epoll_fd, RTE_INTR_EVENT_DEL, this);
}

void RxWorker::arm() noexcept {
    rte_eth_dev_rx_intr_enable(port_.value, queue_.value);
}

void RxWorker::disarm() noexcept {
    rte_eth_dev_rx_intr_disable(port_.value, queue_.value);
}

bool RxWorker::turn() noexcept {
    if (offered_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
        adopt(offered_.load(std::memory_order_acquire));
    if (wanted_change_.load(std::memory_order_relaxed) != tap_change_) [[unlikely]]
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
    const bool foreign = table_->salt == 0;
    const std::uint64_t now_ns =
        foreign && tap_ == nullptr && evidence_ == nullptr ? 0 : clock_.ns(tsc_now());
    if (tap_ != nullptr) [[unlikely]]
        tap_->offer(mbufs, count, now_ns);
    if (evidence_ != nullptr) evidence_->remember(mbufs, count, now_ns);
    if (foreign) {
        account_foreign(mbufs, count);
    } else {
        account(mbufs, count, now_ns);
    }
    if (evidence_ != nullptr) evidence_->settle();
    counters_.packets.add(count);
    counters_.calls.add(1);
    tsan_release_mbufs();
    rte_pktmbuf_free_bulk(mbufs, count);
    return true;
}

}  // namespace volley::worker
