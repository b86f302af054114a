#include "worker/lane.h"

#include <algorithm>

namespace volley::worker {

void Lane::adopt(Tsc now) noexcept {
    const Offer offer = *offer_.load(std::memory_order_acquire);
    offer_.store(nullptr, std::memory_order_relaxed);
    if (schedule_ != nullptr) take_slips();
    if (offer.schedule != nullptr) offer.schedule->adopt(schedule_, now);
    schedule_ = offer.schedule;
    emitted_before_.store(emitted_.get(), std::memory_order_relaxed);
    finished_.store(false, std::memory_order_relaxed);
    next_due_.set_release(schedule_ == nullptr ? ~Tsc{0} : schedule_->next_due(now));
    note_finished(now);
    adopted_.store(offer.generation, std::memory_order_release);  // acquired by adopted()
}

void Lane::take_slips() noexcept {
    if (rows_ == nullptr || !schedule_->has_slips()) return;
    schedule_->take_slips([this](StreamSlot slot, std::uint64_t slips, std::uint64_t packets) {
        StreamTx& row = rows_->row(slot.value);
        row.slips.add(slips);
        row.slipped_packets.add(packets);
    });
}

// Nothing falls due any more: over, unless a paused stream holds the schedule open.
void Lane::note_finished(Tsc now) noexcept {
    if (next_due_.get() != ~Tsc{0} || finished_.load(std::memory_order_relaxed)) return;
    const bool over = schedule_ == nullptr || schedule_->finished(now);
    if (over) finished_.store(true, std::memory_order_release);  // acquired by finished()
}

// Bursts at max that may wait in the ring: what the worker sends in one horizon at its measured rate, so that
// a live change of a slow port acts as soon as that of a fast one.
std::uint32_t Lane::allowed_ahead(Tsc now, std::uint64_t done) noexcept {
    if (now - measured_at_ >= horizon_) {
        const std::uint64_t sent = done - measured_done_;
        const std::uint64_t in_horizon = sent * horizon_ / std::max<Tsc>(now - measured_at_, 1);
        ahead_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(in_horizon, 2, most_ahead_));
        measured_at_ = now;
        measured_done_ = done;
    }
    return ahead_;
}

bool Lane::emit(Tsc now) noexcept {
    const std::uint64_t done = done_.get();
    const auto waiting = static_cast<std::uint32_t>(emitted_.get() - done);
    std::uint32_t at_max = 0;
    if (schedule_->has_max()) {
        const std::uint32_t ahead = allowed_ahead(now, done);
        at_max = waiting * 2 <= ahead ? ahead - waiting : 0;
    }
    // What the worker has not finished is at least what is in the ring. Counting so needs no look at its
    // other end, which rte_ring_count reads without an atomic load.
    const std::uint32_t free = ring_.capacity() - std::min(waiting, ring_.capacity());
    const auto room = std::min<std::uint32_t>(free, static_cast<std::uint32_t>(out_.size()));
    const std::uint32_t n = schedule_->fill(now, now + horizon_, room, at_max, out_.data());
    if (n != 0) {
        ring_.push(out_.data(), n);
        emitted_.add(n);
    }
    take_slips();
    next_due_.set_release(schedule_->next_due(now));  // acquired by next_due_acquire()
    if (schedule_->finished(now)) finished_.store(true, std::memory_order_release);  // acquired by finished()
    return n != 0;
}

}  // namespace volley::worker
