#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace volley::telemetry {

/// Every counter of the program at one instant: absolute values that only go up since the process started, no
/// rates, nothing relative to a run. The stats lcore fills it through Source and subtracts. What a part does
/// not have is an empty optional. Packets and bytes of TX are those that tx_burst accepted; `bytes` is the
/// sum of pkt_len (no FCS).

struct TxCount {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
};

struct Link {
    bool up = false;
    std::uint64_t speed_bps = 0;  ///< 0: unknown
    std::string reason;           ///< why it is down or what is waited for; empty when all is well
    std::uint64_t since_ns = 0;   ///< CLOCK_REALTIME of the last change
};

struct PortTx {
    std::uint64_t packets = 0;  ///< accepted by tx_burst: the sum over the port's queues
    std::uint64_t bytes = 0;
    std::uint64_t errors = 0;  ///< oerrors of the device
    std::uint64_t unsent = 0;  ///< accepted, but given up at the drain deadline
    bool stalled = false;      ///< packets wait and the device took none for 1 s
};

struct PortRx {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t missed = 0;
    std::uint64_t errors = 0;
    std::uint64_t no_mbuf = 0;
    std::uint64_t unmatched = 0;  ///< received, but not of our streams
    std::uint64_t answered = 0;   ///< replies sent for the port's own addresses
};

struct NamedCount {
    std::string name;
    std::uint64_t count = 0;
};

struct PortTotals {
    std::string name;
    std::string device;
    std::string driver;
    std::string tx_path;
    Link link;
    std::optional<int> numa_node;
    std::optional<PortTx> tx;
    std::optional<PortRx> rx;
    std::vector<NamedCount> xstats;  ///< as the device names them; zeros may be left out
};

/// A NIC's rate limiter on a queue: frames with FCS (L2).
struct LimiterTotals {
    std::uint64_t asked_bps = 0;
    std::uint64_t set_bps = 0;
    double error_ppm = 0;
};

struct QueueTotals {
    std::string port;
    std::uint32_t queue = 0;
    std::uint32_t lcore = 0;
    std::uint64_t packets = 0;
    std::uint64_t tx_burst_calls = 0;
    std::uint64_t tail_writes = 0;
    std::uint64_t backpressure_packets = 0;  ///< offered, not accepted, and offered again
    std::optional<LimiterTotals> limiter{};  ///< none: the queue is not held by its device
};

struct RingTotals {
    std::uint64_t occupancy = 0;  ///< gauge, in TemplateBursts
    std::uint64_t capacity = 0;
    std::uint64_t empty_polls = 0;
};

struct PoolTotals {
    std::uint64_t free = 0;  ///< gauge, in mbufs
    std::uint64_t size = 0;
};

/// What a worker's receivers took, and how often it slept for want of packets.
struct ReceiverTotals {
    std::uint64_t packets = 0;
    std::uint64_t sleeps = 0;      ///< a sleep counts once a queue
    std::uint64_t interrupts = 0;  ///< of these, sleeps that an interrupt of the queue ended
};

struct WorkerTotals {
    std::string name;  ///< "tx-3"
    std::uint32_t lcore = 0;
    std::string role;  ///< "tx", "dispatch", "rx", "stats"
    std::optional<TxCount> tx;
    std::uint64_t busy_cycles = 0;   ///< TSC cycles of turns that found work
    std::uint64_t total_cycles = 0;  ///< TSC cycles of all turns
    std::optional<RingTotals> ring;
    std::optional<PoolTotals> mempool;
    std::optional<ReceiverTotals> rx;
    std::uint64_t heartbeat = 0;  ///< turns of the worker's loop
};

/// What the RX workers counted of a stream. Of its packets, packets - duplicates are different ones.
struct StreamRxTotals {
    std::uint32_t workers = 0;  ///< that saw packets of it
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t expected = 0;  ///< packets up to the furthest that came
    std::uint64_t tail = 0;      ///< sent in this run, and further than the furthest that came
    std::uint64_t duplicates = 0;
    std::uint64_t reordered = 0;
    std::uint64_t verified = 0;
    std::uint64_t corrupted = 0;
    std::uint64_t latency_sum_ns = 0;
    std::uint64_t transits = 0;           ///< differences that the jitter was made of
    std::uint64_t jitter_16ths_ns = 0;    ///< gauge
    std::uint64_t outage_longest_ns = 0;  ///< gauge, of the stream's life
    std::uint64_t outage_last_ns = 0;     ///< gauge
    /// Packets by latency (32 buckets an octave) and by the time since the one before (4), both in
    /// nanoseconds, index as in LatencyBuckets and ArrivalBuckets; may be shorter, the rest is 0.
    std::vector<std::uint64_t> latency;
    std::vector<std::uint64_t> arrival;
    std::uint64_t outages = 0;  ///< gaps that opened
    std::uint64_t sent = 0;     ///< signed packets that tx_burst accepted
    bool shown = true;          ///< signed in this run; if not, what is here is a base line for later
};

struct StreamTotals {
    std::string name;
    std::string port;
    /// "waiting", "running", "paused", "finished", "disabled", "removed". Samples of the achieved rate are
    /// taken between two ticks that both say "running"; a "removed" stream without packets in this run is
    /// left out.
    std::string state;
    TxCount tx;
    std::optional<StreamRxTotals> rx;    ///< of a signed stream, where a port receives
    std::optional<Rational> target_pps;  ///< none for "max"
    /// Packets that the configured rate made due by monotonic_ns: reckoned from rate, start and count on
    /// CLOCK_MONOTONIC, not from what the lanes emitted, else a lane that slips or a clock that errs goes
    /// unseen.
    std::optional<std::uint64_t> due_packets;
    /// Bursts by how late they were submitted, index as in LatenessBuckets; may be shorter, the rest is 0.
    std::vector<std::uint64_t> lateness;
    std::uint64_t slips = 0;            ///< times that a lane gave up what it was late
    std::uint64_t slipped_packets = 0;  ///< what those were worth at the stream's rate
};

/// The clock that schedules run on.
struct ClockTotals {
    std::uint64_t tsc_hz = 0;
    std::uint64_t checked_ns = 0;  ///< span of CLOCK_MONOTONIC_RAW that the drift was taken over
    double drift_ppm = 0;          ///< above 0: faster than tsc_hz says, so packets leave too early
};

/// The capture files of what was found wrong. Counts since the process started.
struct EvidenceTotals {
    std::string file;             ///< of the run, or of the last that had one; empty: none yet
    std::uint64_t written = 0;    ///< findings that files show
    std::uint64_t dropped = 0;    ///< and those for which there was no room
    std::uint64_t failed = 0;     ///< and those that could not be written
    std::uint64_t disk_full = 0;  ///< of these, for want of room on the disk
    std::uint64_t files = 0;      ///< begun
    std::uint64_t bytes = 0;      ///< written to them and not cut off again
    bool operator==(const EvidenceTotals&) const = default;
};

/// Captures that somebody has asked for. Counts since the process started, of captures that are over.
struct CaptureTotals {
    std::uint64_t done = 0;
    std::uint64_t failed = 0;     ///< ended without a file
    std::uint64_t packets = 0;    ///< in the files
    std::uint64_t bytes = 0;      ///< of the files
    std::uint64_t dropped = 0;    ///< packets that the filters took and no ring had room for
    std::uint64_t under_way = 0;  ///< now
    bool operator==(const CaptureTotals&) const = default;
};

/// Of the configuration, since the process started.
struct Reloads {
    std::uint64_t done = 0;
    std::uint64_t refused = 0;
    std::uint64_t last_unix_ns = 0;  ///< 0: there was none
    bool last_refused = false;
};

struct Totals {
    std::uint64_t time_unix_ns = 0;  ///< CLOCK_REALTIME; filled by the stats loop before collect()
    std::uint64_t monotonic_ns = 0;  ///< CLOCK_MONOTONIC; filled by the stats loop before collect()
    std::string state;               ///< of the daemon: "running", "draining", ...
    std::string run_id;
    std::uint64_t generation = 0;
    std::vector<std::string> warnings;
    Reloads reloads;
    std::optional<ClockTotals> clock;
    std::optional<EvidenceTotals> evidence;
    CaptureTotals captures;
    /// CLOCK_MONOTONIC of the schedule's zero and of the end of traffic. They bound the time that the means
    /// of a run are taken over, so waiting for packets in flight lowers none. Absent: the base line, and now.
    std::optional<std::uint64_t> run_started_ns;
    std::optional<std::uint64_t> run_ended_ns;
    std::vector<PortTotals> ports;
    std::vector<QueueTotals> queues;
    std::vector<WorkerTotals> workers;
    std::vector<StreamTotals>
        streams;  ///< the whole stream table, also what a reload removed: sums must agree
};

/// Whoever holds ports and workers. Called on the stats lcore only, so it may be the one reader of NIC
/// registers.
class Source {
  public:
    virtual ~Source() = default;
    /// Fills a fresh Totals. It must not wait: it delays every sink.
    virtual void collect(Totals& out) = 0;
    /// Reads the devices' registers between two collections, as collect() does, so that none of them sticks.
    virtual void refresh() {}
};

}  // namespace volley::telemetry
