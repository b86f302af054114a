#include "worker/tx_worker.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>

#include "worker/stamp.h"
#include "worker/tsan.h"

namespace volley::worker {

TxWorker::TxWorker(const Settings& settings, TxPool& pool, BurstRing& ring) noexcept
    : settings_(settings),
      pool_(pool),
      ring_(ring),
      id_offset_(content_id_offset()),
      second_(tsc_hz()),
      offload_(settings.offloads) {}

std::uint32_t TxWorker::discard_pending() noexcept {
    const std::uint32_t count = batch_.pending();
    rte_pktmbuf_free_bulk(batch_.mbufs(), count);
    batch_ = {};
    next_ = have_ = 0;
    return count;
}

// Called while packets are pending that the NIC did not take, which is no error for up to a second.
void TxWorker::watch_progress(std::uint32_t sent, Tsc now) noexcept {
    if (sent != 0 || stuck_since_ == 0) {
        stuck_since_ = now;
        counters_.stalled.set(0);
    } else if (now - stuck_since_ > second_) {
        counters_.stalled.set(1);
    }
}

bool TxWorker::add(const traffic::TemplateBurst& burst) noexcept {
    const TxBatch::Places places = batch_.places(burst.count);
    if (!stamp(burst, pool_.get(), id_offset_, places.mbufs, places.lengths)) return false;
    if (offload_.any()) [[unlikely]]
        offload_.ask(*burst.packet, burst.count, places.mbufs);
    const packet::Signing* const signing = burst.packet->signing();
    batch_.commit(burst.count, burst.packet->fixed_length(), burst.due, rows_.row(burst.stream), signing,
                  burst.first_index);
    close_ = signing != nullptr && signing->closes_batch;
    return true;
}

bool TxWorker::refill() noexcept {
    next_ = 0;
    have_ = ring_.pull(hand_.data(), static_cast<unsigned>(hand_.size()));
    return have_ != 0;
}

// Never early: a batch waits for its threshold only as long as a further burst falls due within the flush
// timeout.
bool TxWorker::flush_due(Tsc now) noexcept {
    const Tsc deadline = batch_.first_due() + settings_.flush_timeout;
    if (now >= deadline) return true;
    const Tsc next = next_ < have_ ? hand_[next_].due : feed_->next_due();
    return next > deadline;
}

// One tx_burst call, and so one tail write for each chunk of packets_per_tail_write. False when not all were
// taken: the rest stays pending and is offered again in the next turn.
bool TxWorker::send(Tsc now) noexcept {
    std::uint32_t offered = batch_.pending();
    if (batch_.has_signed()) batch_.sign(clock_.ns(tsc_now()));
    if (offload_.any()) [[unlikely]] {
        // Writes the sums of pseudo headers; packets that were offered before get the same once more.
        offered = rte_eth_tx_prepare(settings_.port.value, settings_.queue.value, batch_.mbufs(),
                                     static_cast<std::uint16_t>(offered));
    }
    tsan_release_mbufs();
    const std::uint32_t sent = rte_eth_tx_burst(settings_.port.value, settings_.queue.value, batch_.mbufs(),
                                                static_cast<std::uint16_t>(offered));
    const std::uint32_t chunk = settings_.packets_per_tail_write;
    counters_.calls.add(1);
    counters_.tail_writes.add(chunk != 0 ? (sent + chunk - 1) / chunk
                                         : static_cast<std::uint32_t>(sent != 0));
    finished_ += batch_.accept(sent, now, counters_);
    if (sent == offered) [[likely]] {
        if (stuck_since_ != 0) [[unlikely]] {
            stuck_since_ = 0;
            counters_.stalled.set(0);
        }
        return true;
    }
    counters_.backpressure_packets.add(offered - sent);
    watch_progress(sent, now);
    return false;
}

void TxWorker::send_replies() noexcept {
    rte_mbuf* mbufs[8];
    const std::uint32_t count = replies_->take(mbufs, 8);
    if (count == 0) return;
    tsan_release_mbufs();
    const std::uint32_t sent = rte_eth_tx_burst(settings_.port.value, settings_.queue.value, mbufs,
                                                static_cast<std::uint16_t>(count));
    rte_pktmbuf_free_bulk(mbufs + sent, count - sent);
    replies_->sent(sent, count - sent);
}

Tsc TxWorker::next_turn() noexcept {
    const Tsc feed = feed_->next_due_acquire();  // before the look into the ring, or a burst may hide between
    const Tsc burst = next_ < have_ || refill() ? hand_[next_].due : feed;
    return batch_.pending() == 0 ? burst : std::min(burst, batch_.first_due() + settings_.flush_timeout);
}

// A fill of the ring takes microseconds: what is due goes before it, unless the device does not take it, for
// that must hold up no reload.
bool TxWorker::work(Tsc now) noexcept {
    if (replies_ != nullptr) [[unlikely]]
        send_replies();
    const bool due = next_ < have_ && hand_[next_].due <= now;
    if (inline_ && (!due || batch_.pending() != 0)) feed_->turn(now);
    if (next_ == have_ && !refill() && batch_.pending() == 0) {
        counters_.empty_polls.add(1);
        return false;
    }
    bool worked = false;
    while (next_ < have_) {
        const traffic::TemplateBurst& burst = hand_[next_];
        if (burst.due > now || !batch_.has_room(burst.count) || !add(burst)) break;
        ++next_;
        worked = true;
        if ((close_ || batch_.pending() >= settings_.flush_threshold) && !send(now)) return true;
    }
    if (batch_.pending() == 0) return worked;
    if (next_ == have_ && refill() && hand_[0].due <= now && batch_.has_room(hand_[0].count)) return true;
    if (close_ || batch_.pending() >= settings_.flush_threshold || flush_due(now)) {
        send(now);
        worked = true;
    }
    return worked;
}

// A dispatcher on another CPU looks at bursts_done_ all the time, so each write of it costs a transfer of its
// line: once a turn, which is up to 32 bursts.
bool TxWorker::turn(Tsc now) noexcept {
    const bool worked = work(now);
    if (finished_ != 0) {
        bursts_done_.add_release(finished_);
        finished_ = 0;
    }
    return worked;
}

}  // namespace volley::worker
