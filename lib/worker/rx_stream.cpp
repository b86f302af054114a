#include "worker/rx_stream.h"

#include <algorithm>
#include <bit>

namespace volley::worker {
namespace {

using Fate = SequenceTracker::Fate;

// The index nearest to the reference whose low half is that. False when there is none in the window.
bool nearest(std::uint32_t sequence, std::uint64_t reference, std::uint64_t& index) noexcept {
    const auto ahead = static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(reference));
    index = reference + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead));
    if (ahead >= 0) return static_cast<std::uint64_t>(ahead) <= RxStream::window;
    const auto behind = static_cast<std::uint64_t>(-static_cast<std::int64_t>(ahead));
    return behind <= RxStream::window && behind <= reference;
}

}  // namespace

/// The latencies of the packets of one run: their buckets, jitter and sum. Kept in registers.
class RxStream::Times {
  public:
    Times(StreamRx& row, bool has_last, std::uint64_t last_latency, std::uint64_t jitter) noexcept
        : row_(row), has_last_(has_last), last_latency_(last_latency), jitter_(jitter) {}

    [[gnu::always_inline]] void add(std::uint64_t latency) noexcept {
        if (latency - from_ > span_) enter(latency);
        ++in_bucket_;
        ++count_;
        sum_ += latency;
        const std::uint64_t change =
            latency > last_latency_ ? latency - last_latency_ : last_latency_ - latency;
        if (has_last_) jitter_ += change - (jitter_ + 8) / 16;  // RFC 3550 appendix A.8
        has_last_ = true;
        last_latency_ = latency;
    }
    /// The packets of one burst, which their sender signed at one time. count ≥ 1, and nothing was added.
    [[gnu::always_inline]] void add_alike(std::uint64_t latency, std::uint32_t count) noexcept {
        add(latency);
        in_bucket_ = count_ = count;
        sum_ = latency * count;
        // From 7 on nothing changes any more.
        for (std::uint32_t k = 1; k < count && jitter_ > 7; ++k) jitter_ -= (jitter_ + 8) / 16;
    }
    /// False, and nothing was counted, when one is older than `age`.
    bool add_each(const Run& run, std::uint64_t age) noexcept {
        std::uint64_t oldest = 0;
        for (std::uint32_t k = 0; k < run.count; ++k)
            oldest = std::max(oldest, latency_of(run.sent_ns[k], run.now_ns));
        if (oldest > age) [[unlikely]]
            return false;
        for (std::uint32_t k = 0; k < run.count; ++k) add(latency_of(run.sent_ns[k], run.now_ns));
        return true;
    }
    [[gnu::always_inline]] void leave() const noexcept {
        if (in_bucket_ != 0) row_.latency[bucket_].add(in_bucket_);
    }

    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }
    [[nodiscard]] std::uint64_t last_latency() const noexcept { return last_latency_; }
    [[nodiscard]] std::uint64_t jitter() const noexcept { return jitter_; }

  private:
    // Values above the largest bucket stand in it, too; for them it is entered again and again.
    [[gnu::always_inline]] void enter(std::uint64_t latency) noexcept {
        leave();
        bucket_ = LatencyBuckets::index(latency);
        in_bucket_ = 0;
        from_ = LatencyBuckets::lower(bucket_);
        span_ = LatencyBuckets::upper(bucket_) - from_;
    }

    StreamRx& row_;
    bool has_last_;  ///< there is a packet before
    std::uint64_t last_latency_;
    std::uint64_t jitter_;
    std::uint64_t sum_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t in_bucket_ = 0;  ///< packets of the bucket that it does not have yet
    std::size_t bucket_ = 0;
    std::uint64_t from_ = 0;  ///< the bucket's least value,
    std::uint64_t span_ = 0;  ///< and by how much its largest is more
};

RxStream::RxStream(const SentAs& sent, std::uint64_t born_ns, StreamRx& row)
    : row_(row), born_ns_(born_ns), sent_(sent) {
    if (sent.lanes == 1) return;
    lanes_ = std::make_unique<Lanes>();
    lanes_->trackers = std::make_unique<SequenceTracker[]>(sent.lanes);
    seek_burst(0);
}

// The row counted an earlier life before, whose gauges say nothing about this one.
void RxStream::begin() noexcept {
    begun_ = true;
    row_.jitter.set(0);
    row_.outage_longest.set(0);
    row_.outage_last.set(0);
}

std::uint64_t RxStream::furthest() const noexcept {
    if (lanes_ != nullptr) return lanes_->furthest;
    return lane_.next() == 0 ? 0 : lane_.next() - 1;
}

// Where the window lies: at the furthest packet that came, unless the senders are far beyond it, for a
// sequence says no more than the low half of an index.
std::uint64_t RxStream::reference() const noexcept {
    const std::uint64_t sent = row_.sent.get();
    const std::uint64_t of_this_life = sent > sent_.sent_before ? sent - sent_.sent_before : 0;
    const std::uint64_t came = furthest();
    return of_this_life > came + window / 2 ? of_this_life : came;
}

void RxStream::seek_burst(std::uint64_t index) noexcept {
    const std::uint64_t ordinal = index / sent_.burst;
    lanes_->first = ordinal * sent_.burst;
    lanes_->position = ordinal / sent_.lanes * sent_.burst;
    lanes_->lane = static_cast<std::uint32_t>((ordinal + sent_.slot) % sent_.lanes);
}

SequenceTracker& RxStream::seek(std::uint64_t index, std::uint32_t& lane, std::uint64_t& position) noexcept {
    if (lanes_ == nullptr) {
        lane = 0;
        position = index;
        return lane_;
    }
    lanes_->furthest = std::max(lanes_->furthest, index);
    if (index - lanes_->first >= sent_.burst) seek_burst(index);
    position = lanes_->position + (index - lanes_->first);
    lane = lanes_->lane;
    return lanes_->trackers[lane];
}

// The inverse of seek(): which packet stands at that position of that lane.
std::uint64_t RxStream::index_at(std::uint32_t lane, std::uint64_t position) const noexcept {
    if (lanes_ == nullptr) return position;
    const std::uint64_t first = (lane + sent_.lanes - sent_.slot % sent_.lanes) % sent_.lanes;
    return (position / sent_.burst * sent_.lanes + first) * sent_.burst + position % sent_.burst;
}

// All of a run came at one time: the first after what came before, the others after nothing.
inline void RxStream::count_times(const Times& times, std::uint64_t now_ns) noexcept {
    times.leave();
    row_.latency_sum.add(times.sum());
    if (last_ns_ != 0) row_.arrival[ArrivalBuckets::index(now_ns - last_ns_)].add(1);
    if (times.count() > 1) row_.arrival[0].add(times.count() - 1);
    const std::uint32_t transits = last_ns_ != 0 ? times.count() : times.count() - 1;
    if (transits != 0) {
        jitter_ = times.jitter();
        row_.jitter.set(jitter_);
        row_.transits.add(transits);
    }
    last_ns_ = now_ns;
    last_latency_ = times.last_latency();
}

// Nearly every run of a stream with one lane goes on where the one before ended. False, and nothing is
// counted, when it does not.
bool RxStream::take_in_order(const Run& run, Taken& out) noexcept {
    const std::uint64_t first = lane_.next();
    std::uint64_t bytes = 0;
    std::uint64_t times_apart = 0;
    std::uint32_t apart = 0;
    for (std::uint32_t k = 0; k < run.count; ++k) {
        apart |= run.sequences[k] ^ static_cast<std::uint32_t>(first + k);
        times_apart |= run.sent_ns[k] ^ run.sent_ns[0];
        bytes += run.lengths[k];
        out.index[k] = first + k;
    }
    if (apart != 0) [[unlikely]]
        return false;
    Times times(row_, last_ns_ != 0, last_latency_, jitter_);
    const std::uint64_t age = run.now_ns - born_ns_;
    if (times_apart == 0) [[likely]] {
        const std::uint64_t latency = latency_of(run.sent_ns[0], run.now_ns);
        if (latency > age) [[unlikely]]
            return false;
        times.add_alike(latency, run.count);
    } else if (!times.add_each(run, age)) [[unlikely]] {
        return false;
    }
    out.ours = static_cast<std::uint32_t>((std::uint64_t{1} << run.count) - 1);
    out.unusual = 0;
    lane_.advance(run.count, run.now_ns);
    row_.packets.add(run.count);
    row_.bytes.add(bytes);
    row_.expected[0].add(run.count);
    count_times(times, run.now_ns);
    return true;
}

void RxStream::take_any(const Run& run, Taken& out) noexcept {
    Times times(row_, last_ns_ != 0, last_latency_, jitter_);
    out.ours = 0;
    out.unusual = 0;
    std::uint64_t bytes = 0;
    for (std::uint32_t k = 0; k < run.count; ++k) {
        const std::uint64_t latency = latency_of(run.sent_ns[k], run.now_ns);
        std::uint64_t& index = out.index[k];
        if (latency > run.now_ns - born_ns_ || !nearest(run.sequences[k], reference(), index)) continue;
        if (!begun_) begin();
        std::uint32_t lane = 0;
        std::uint64_t position = 0;
        SequenceTracker& tracker = seek(index, lane, position);
        std::uint64_t advanced = 0;
        const Fate fate = tracker.take(position, run.now_ns, advanced);
        out.ours |= 1U << k;
        bytes += run.lengths[k];
        row_.expected[lane % StreamRx::lane_groups].add(advanced);
        if (fate != Fate::in_order) {
            out.unusual |= 1U << k;
            out.fate[k] = fate;
            out.instead[k] = index_at(lane, tracker.next() - advanced);
            if (fate == Fate::duplicate) row_.duplicates.add(1);
            if (fate == Fate::late) row_.reordered.add(1);
            note_outage(fate, tracker);
        }
        if (fate != Fate::duplicate) times.add(latency);
    }
    if (out.ours == 0) return;
    row_.packets.add(static_cast<std::uint32_t>(std::popcount(out.ours)));
    row_.bytes.add(bytes);
    if (times.count() != 0) count_times(times, run.now_ns);
}

void RxStream::take(const Run& run, Taken& out) noexcept {
    if (lanes_ == nullptr && lane_.next() != 0 && take_in_order(run, out)) [[likely]]
        return;
    take_any(run, out);
}

// A gap counts as an outage at once, and no more when late packets have filled it.
void RxStream::note_outage(Fate fate, const SequenceTracker& lane) noexcept {
    if (fate == Fate::after_gap) {
        row_.outages.add(1);
        const std::uint64_t duration = lane.last_outage();
        row_.outage_last.set(duration);
        if (duration > row_.outage_longest.get()) row_.outage_longest.set(duration);
        return;
    }
    if (fate != Fate::late || !lane.closed_gap()) return;
    std::uint64_t longest = 0;
    std::uint64_t last = 0;
    std::uint64_t youngest = 0;
    const SequenceTracker* const lanes = lanes_ == nullptr ? &lane_ : lanes_->trackers.get();
    for (std::uint32_t i = 0; i < sent_.lanes; ++i) {
        longest = std::max(longest, lanes[i].longest_outage());
        if (lanes[i].last_outage() != 0 && lanes[i].last_ns() >= youngest) {
            youngest = lanes[i].last_ns();
            last = lanes[i].last_outage();
        }
    }
    row_.outage_longest.set(longest);
    row_.outage_last.set(last);
}

}  // namespace volley::worker
