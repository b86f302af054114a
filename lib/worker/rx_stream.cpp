#include "worker/rx_stream.h"

#include <algorithm>

namespace volley::worker {
namespace {

// Cores of one machine agree on the time stamp counter to well under this.
constexpr std::uint64_t clock_slack_ns = 1'000'000;

using Fate = SequenceTracker::Fate;

}  // namespace

RxStream::RxStream(const SentAs& sent, std::uint64_t born_ns, StreamRx& row)
    : sent_(sent), born_ns_(born_ns), row_(row), lanes_(sent.lanes) {}

// The row counted an earlier life before, whose gauges say nothing about this one.
void RxStream::begin() noexcept {
    begun_ = true;
    row_.jitter.set(0);
    row_.outage_longest.set(0);
    row_.outage_last.set(0);
}

// The index nearest to the furthest one whose low half is that.
bool RxStream::place(std::uint32_t sequence) noexcept {
    const auto ahead = static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(furthest_));
    if (ahead >= 0) {
        if (static_cast<std::uint64_t>(ahead) > window) return false;
        index_ = furthest_ + static_cast<std::uint64_t>(ahead);
        return index_ < sent_.count;
    }
    const auto behind = static_cast<std::uint64_t>(-static_cast<std::int64_t>(ahead));
    if (behind > window || behind > furthest_) return false;
    index_ = furthest_ - behind;
    return true;
}

bool RxStream::take(const Arrival& arrival) noexcept {
    // Both modulo 2^48: how long ago it was sent. What is slightly in the future is a matter of two cores.
    std::uint64_t latency = (arrival.now_ns - arrival.signature.time) & packet::time_mask;
    if (latency > packet::time_mask - clock_slack_ns) latency = 0;
    if (latency > arrival.now_ns - born_ns_ || !place(arrival.signature.sequence)) return false;
    if (!begun_) [[unlikely]]
        begin();
    furthest_ = std::max(furthest_, index_);

    std::uint64_t position = index_;
    std::uint32_t lane = 0;
    if (sent_.lanes != 1) {
        const std::uint64_t ordinal = index_ / sent_.burst;
        lane = static_cast<std::uint32_t>((ordinal + sent_.slot) % sent_.lanes);
        position = ordinal / sent_.lanes * sent_.burst + index_ % sent_.burst;
    }
    std::uint64_t advanced = 0;
    SequenceTracker& tracker = lanes_[lane];
    fate_ = tracker.take(position, arrival.now_ns, advanced);
    row_.packets.add(1);
    row_.bytes.add(arrival.length);
    row_.expected[lane % StreamRx::lane_groups].add(advanced);
    if (fate_ != Fate::in_order) [[unlikely]] {
        if (fate_ == Fate::duplicate) row_.duplicates.add(1);
        if (fate_ == Fate::late) row_.reordered.add(1);
        expected_ = index_at(lane, tracker.next() - advanced);
        note_outage(tracker);
    }
    if (fate_ != Fate::duplicate) count_times(latency, arrival.now_ns);
    return true;
}

// The inverse of what take() reckons: which packet stands at that position of that lane.
std::uint64_t RxStream::index_at(std::uint32_t lane, std::uint64_t position) const noexcept {
    if (sent_.lanes == 1) return position;
    const std::uint64_t first = (lane + sent_.lanes - sent_.slot % sent_.lanes) % sent_.lanes;
    return (position / sent_.burst * sent_.lanes + first) * sent_.burst + position % sent_.burst;
}

void RxStream::count_times(std::uint64_t latency, std::uint64_t now_ns) noexcept {
    row_.latency[LatencyBuckets::index(latency)].add(1);
    row_.latency_sum.add(latency);
    if (last_ns_ != 0) {
        row_.arrival[ArrivalBuckets::index(now_ns - last_ns_)].add(1);
        const std::uint64_t change =
            latency > last_latency_ ? latency - last_latency_ : last_latency_ - latency;
        jitter_ += change - (jitter_ + 8) / 16;  // RFC 3550 appendix A.8
        row_.jitter.set(jitter_);
        row_.transits.add(1);
    }
    last_ns_ = now_ns;
    last_latency_ = latency;
}

// A gap counts as an outage at once, and no more when late packets have filled it.
void RxStream::note_outage(const SequenceTracker& lane) noexcept {
    if (fate_ == Fate::after_gap) {
        const std::uint64_t duration = lane.last_outage();
        row_.outage_last.set(duration);
        if (duration > row_.outage_longest.get()) row_.outage_longest.set(duration);
        return;
    }
    if (fate_ != Fate::late || !lane.closed_gap()) return;
    std::uint64_t longest = 0;
    std::uint64_t last = 0;
    std::uint64_t youngest = 0;
    for (const SequenceTracker& each : lanes_) {
        longest = std::max(longest, each.longest_outage());
        if (each.last_outage() != 0 && each.last_ns() >= youngest) {
            youngest = each.last_ns();
            last = each.last_outage();
        }
    }
    row_.outage_longest.set(longest);
    row_.outage_last.set(last);
}

}  // namespace volley::worker
