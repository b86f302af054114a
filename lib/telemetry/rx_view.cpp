#include "telemetry/rx_view.h"

#include <algorithm>
#include <optional>

#include "base/log_buckets.h"
#include "telemetry/arithmetic.h"

namespace volley::telemetry {
namespace {

// The middle of bucket i: what is within half its width of every value in it.
template <class Buckets>
std::uint64_t middle(std::size_t i) {
    i = std::min(i, Buckets::size - 1);
    const std::uint64_t lower = i == 0 ? 0 : Buckets::upper(i - 1) + 1;
    return lower + (Buckets::upper(i) - lower) / 2;
}

/// Percentiles of one histogram, in parts of 100,000.
class Ranks {
  public:
    explicit Ranks(const std::vector<std::uint64_t>& counts) : counts_(counts) {
        for (const std::uint64_t count : counts_) total_ = saturating_add(total_, count);
    }
    [[nodiscard]] std::uint64_t total() const { return total_; }
    [[nodiscard]] std::size_t first() const {
        std::size_t i = 0;
        while (counts_[i] == 0) ++i;
        return i;
    }
    [[nodiscard]] std::size_t last() const {
        std::size_t i = counts_.size() - 1;
        while (counts_[i] == 0) --i;
        return i;
    }
    /// The first bucket up to which at least that part of all counts lie.
    [[nodiscard]] std::size_t at(std::uint64_t part) const {
        constexpr std::uint64_t all = 100'000;
        const std::uint64_t rank =
            std::max<std::uint64_t>(1, total_ / all * part + (total_ % all * part + all - 1) / all);
        std::uint64_t sum = 0;
        std::size_t i = 0;
        while (i + 1 < counts_.size() && (sum = saturating_add(sum, counts_[i])) < rank) ++i;
        return i;
    }

  private:
    const std::vector<std::uint64_t>& counts_;
    std::uint64_t total_ = 0;
};

std::optional<LatencyView> latency_view(const StreamRxTotals& base, const StreamRxTotals& now) {
    const std::vector<std::uint64_t> counts = buckets_since(base.latency, now.latency);
    const Ranks ranks(counts);
    if (ranks.total() == 0) return std::nullopt;
    LatencyView out;
    out.count = ranks.total();
    out.mean = static_cast<double>(since(base.latency_sum_ns, now.latency_sum_ns)) /
               static_cast<double>(ranks.total());
    out.min = middle<LatencyBuckets>(ranks.first());
    out.p50 = middle<LatencyBuckets>(ranks.at(50'000));
    out.p90 = middle<LatencyBuckets>(ranks.at(90'000));
    out.p99 = middle<LatencyBuckets>(ranks.at(99'000));
    out.p99_9 = middle<LatencyBuckets>(ranks.at(99'900));
    out.p99_99 = middle<LatencyBuckets>(ranks.at(99'990));
    out.max = middle<LatencyBuckets>(ranks.last());
    return out;
}

// What is missing up to the furthest packet. A reading between two counters may be one off: never negative.
std::uint64_t missing(const StreamRxTotals& rx) {
    return since(rx.packets - std::min(rx.duplicates, rx.packets), rx.expected);
}

}  // namespace

std::vector<std::uint64_t> buckets_since(const std::vector<std::uint64_t>& base,
                                         const std::vector<std::uint64_t>& now) {
    std::vector<std::uint64_t> out = now;
    for (std::size_t i = 0; i < std::min(base.size(), out.size()); ++i) out[i] = since(base[i], out[i]);
    return out;
}

StreamRxView rx_view(const StreamRxTotals& base, const StreamRxTotals& now, bool final) {
    StreamRxView out;
    out.sent = since(base.sent, now.sent);
    out.traffic.packets = since(base.packets, now.packets);
    out.traffic.bytes = since(base.bytes, now.bytes);
    out.traffic.l2_bytes = l2_bytes(out.traffic.bytes, out.traffic.packets);
    out.lost = since(missing(base), saturating_add(missing(now), final ? now.tail : 0));
    out.duplicates = since(base.duplicates, now.duplicates);
    out.reordered = since(base.reordered, now.reordered);
    out.verified = since(base.verified, now.verified);
    out.corrupted = since(base.corrupted, now.corrupted);
    // Over several queues each sees gaps where others have the packets.
    if (now.workers == 1 && out.lost != 0 && now.outages > base.outages && now.outage_longest_ns != 0) {
        // The longest one may lie before the base line: then the last one is the longest that is known after.
        const bool since_base = now.outage_longest_ns > base.outage_longest_ns;
        out.loss_duration_ns = since_base ? now.outage_longest_ns : now.outage_last_ns;
        out.last_loss_duration_ns = now.outage_last_ns;
    }
    out.latency = latency_view(base, now);
    if (now.transits > base.transits) out.jitter_ns = static_cast<double>(now.jitter_16ths_ns) / 16;
    const std::vector<std::uint64_t> arrival = buckets_since(base.arrival, now.arrival);
    const Ranks ranks(arrival);
    if (ranks.total() != 0) {
        out.interarrival =
            LatenessView{ArrivalBuckets::upper(ranks.at(50'000)), ArrivalBuckets::upper(ranks.at(99'000)),
                         ArrivalBuckets::upper(ranks.last())};
    }
    return out;
}

}  // namespace volley::telemetry
