#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/totals.h"

namespace volley::telemetry {

/// What a line says: counts since the run started, rates over the last tick. Pure values; nothing is NaN or
/// infinite.

struct Rates {
    std::optional<double> pps;  ///< none when no time passed
    std::optional<double> l2_bps;
    std::optional<double> l1_bps;
};

/// Packets of a run with the rates of the last tick. l2_bytes = bytes + 4 a packet (FCS).
struct Traffic {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t l2_bytes = 0;
    Rates rates;
};

struct PortTxView {
    Traffic traffic;
    std::uint64_t errors = 0;
    std::uint64_t unsent = 0;
    bool stalled = false;
};

struct PortRxView {
    Traffic traffic;
    std::uint64_t missed = 0;
    std::uint64_t errors = 0;
    std::uint64_t no_mbuf = 0;
    std::uint64_t unmatched = 0;
    std::uint64_t answered = 0;
};

struct PortView {
    std::string name;
    std::string device;
    std::string driver;
    std::string tx_path;
    Link link;
    std::optional<int> numa_node;
    std::optional<PortTxView> tx;
    std::optional<PortRxView> rx;
    std::vector<NamedCount> xstats;  ///< of the run, non-zero, each name once
};

using QueueView = QueueTotals;  ///< the same fields, counted since the run started

struct WorkerView {
    std::string name;
    std::uint32_t lcore = 0;
    std::string role;
    std::optional<Traffic> tx;
    std::optional<double> busy_ratio;         ///< busy cycles / cycles of the last tick, 0 to 1
    std::optional<double> cycles_per_packet;  ///< busy cycles / packets of the last tick
    std::optional<RingTotals> ring;
    std::optional<PoolTotals> mempool;
    std::optional<ReceiverTotals> rx;  ///< of the run
    std::uint64_t heartbeat = 0;       ///< since the process started
};

struct LatenessView {
    std::uint64_t p50 = 0;
    std::uint64_t p99 = 0;
    std::uint64_t max = 0;
};

/// Nanoseconds, each within 1.6 % but for the mean, which is exact. None without samples.
struct LatencyView {
    std::uint64_t count = 0;
    std::uint64_t min = 0;
    double mean = 0;
    std::uint64_t p50 = 0;
    std::uint64_t p90 = 0;
    std::uint64_t p99 = 0;
    std::uint64_t p99_9 = 0;
    std::uint64_t p99_99 = 0;
    std::uint64_t max = 0;
};

struct StreamRxView {
    std::uint64_t sent = 0;  ///< signed packets that this is about
    Traffic traffic;
    std::uint64_t lost = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t reordered = 0;
    std::uint64_t verified = 0;
    std::uint64_t corrupted = 0;
    std::optional<std::uint64_t> loss_duration_ns;       ///< around the longest gap; none without loss
    std::optional<std::uint64_t> last_loss_duration_ns;  ///< around the last one
    std::optional<LatencyView> latency;
    std::optional<double> jitter_ns;
    std::optional<LatenessView> interarrival;
};

/// Bursts that were submitted at most so late, and later than the bucket before says.
struct LateBucket {
    std::uint64_t to_ns = 0;
    std::uint64_t bursts = 0;
};

/// From here on a burst counts as late: a bound between buckets, 131 us.
inline constexpr std::uint64_t late_ns = std::uint64_t{1} << 17U;

/// The achieved rate, sampled at every tick that lies wholly within the run. Packets per second.
struct RateSamples {
    std::uint64_t samples = 0;
    std::optional<double> mean;    ///< from 1 sample on
    std::optional<double> stddev;  ///< of the sample (n - 1), from 2 on
};

struct StreamView {
    std::string name;
    std::optional<std::string> port;  ///< none for "_other"
    std::optional<std::string> state;
    Traffic tx;
    std::optional<StreamRxView> rx;
    std::optional<double> target_pps;
    std::optional<double> rate_error_ppm;
    std::optional<std::uint64_t> shortfall_packets;
    std::optional<LatenessView> lateness;
    std::uint64_t late_bursts = 0;           ///< by late_ns and more
    std::vector<LateBucket> late_histogram;  ///< those that hold any; rendered in a report
    std::uint64_t slips = 0;
    std::uint64_t slipped_packets = 0;
    std::optional<RateSamples> achieved;  ///< in a report
};

struct PublisherView {
    std::string sink;
    std::uint64_t dropped_lines = 0;  ///< since the process started
};

struct Snapshot {
    bool report = false;   ///< the last line of a run: counts and rates are those of the run
    bool settled = false;  ///< report only: no packet is in flight any more
    std::uint64_t sequence = 0;
    std::string run_id;
    std::string state;
    std::uint64_t time_unix_ns = 0;
    std::uint64_t monotonic_ns = 0;
    std::uint64_t generation = 0;
    std::vector<std::string> warnings;
    std::optional<ClockTotals> clock;
    std::optional<EvidenceTotals> evidence;  ///< since the process started; none: not asked for
    std::uint64_t duration_ns = 0;           ///< of the run so far
    std::vector<PortView> ports;
    std::vector<QueueView> queues;
    std::vector<WorkerView> workers;
    std::vector<StreamView> streams;
    std::optional<StreamView> other;  ///< sum of the streams beyond the limit; rendered last as "_other"
    std::vector<PublisherView> publishers;
};

/// The streams whose names match the shell pattern (empty: all), from number `offset` of them on and at most
/// `limit`. `total` is the number that match.
std::vector<StreamView> make_streams(const Totals& base, const Totals& previous, const Totals& now,
                                     const std::string& pattern, std::size_t offset, std::size_t limit,
                                     std::size_t& total);

/// Counts are now - base, never negative; rates are (now - previous) over the measured monotonic time between
/// the two. Of more than `streams_in_full` streams the first ones stand in streams, the sum of the others in
/// `other`.
Snapshot make_snapshot(const Totals& base, const Totals& previous, const Totals& now,
                       std::size_t streams_in_full);

}  // namespace volley::telemetry
