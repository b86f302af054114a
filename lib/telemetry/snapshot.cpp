#include "telemetry/snapshot.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "base/log_buckets.h"
#include "telemetry/arithmetic.h"
#include "telemetry/derive.h"
#include "telemetry/earlier.h"
#include "telemetry/rx_view.h"

namespace volley::telemetry {
namespace {

struct Span {
    const Totals& base;
    const Totals& previous;
    const Totals& now;
    std::uint64_t elapsed_ns;
};

Traffic traffic(const TxCount& base, const TxCount& previous, const TxCount& now, std::uint64_t elapsed_ns) {
    Traffic out;
    out.packets = since(base.packets, now.packets);
    out.bytes = since(base.bytes, now.bytes);
    out.l2_bytes = l2_bytes(out.bytes, out.packets);
    out.rates = rates_of(since(previous.packets, now.packets), since(previous.bytes, now.bytes), elapsed_ns);
    return out;
}

// A driver that names two statistics alike gets them summed: a key must not stand twice in an object.
std::vector<NamedCount> xstats(const std::vector<NamedCount>& base, const std::vector<NamedCount>& now) {
    std::map<std::string_view, std::uint64_t> earlier;
    for (const NamedCount& stat : base) earlier[stat.name] = saturating_add(earlier[stat.name], stat.count);
    std::map<std::string_view, std::uint64_t> sums;
    for (const NamedCount& stat : now) sums[stat.name] = saturating_add(sums[stat.name], stat.count);
    std::vector<NamedCount> out;
    for (const NamedCount& stat : now) {
        const auto sum = sums.find(stat.name);
        if (sum == sums.end()) continue;
        const auto before = earlier.find(stat.name);
        const std::uint64_t count = since(before == earlier.end() ? 0 : before->second, sum->second);
        if (count != 0) out.push_back({stat.name, count});
        sums.erase(sum);
    }
    return out;
}

PortView port_view(const PortTotals& base, const PortTotals& previous, const PortTotals& now,
                   std::uint64_t elapsed_ns) {
    PortView out;
    out.name = now.name;
    out.device = now.device;
    out.driver = now.driver;
    out.tx_path = now.tx_path;
    out.link = now.link;
    out.numa_node = now.numa_node;
    if (now.tx) {
        const PortTx from = base.tx.value_or(PortTx{});
        const PortTx before = previous.tx.value_or(PortTx{});
        out.tx = PortTxView{traffic({from.packets, from.bytes}, {before.packets, before.bytes},
                                    {now.tx->packets, now.tx->bytes}, elapsed_ns),
                            since(from.errors, now.tx->errors), since(from.unsent, now.tx->unsent),
                            now.tx->stalled};
    }
    if (now.rx) {
        const PortRx from = base.rx.value_or(PortRx{});
        const PortRx before = previous.rx.value_or(PortRx{});
        out.rx = PortRxView{traffic({from.packets, from.bytes}, {before.packets, before.bytes},
                                    {now.rx->packets, now.rx->bytes}, elapsed_ns),
                            since(from.missed, now.rx->missed),
                            since(from.errors, now.rx->errors),
                            since(from.no_mbuf, now.rx->no_mbuf),
                            since(from.unmatched, now.rx->unmatched),
                            since(from.answered, now.rx->answered)};
    }
    out.xstats = xstats(base.xstats, now.xstats);
    return out;
}

QueueView queue_view(const QueueTotals& base, const QueueTotals& now) {
    QueueView out = now;
    out.packets = since(base.packets, now.packets);
    out.tx_burst_calls = since(base.tx_burst_calls, now.tx_burst_calls);
    out.tail_writes = since(base.tail_writes, now.tail_writes);
    out.backpressure_packets = since(base.backpressure_packets, now.backpressure_packets);
    return out;
}

WorkerView worker_view(const WorkerTotals& base, const WorkerTotals& previous, const WorkerTotals& now,
                       std::uint64_t elapsed_ns) {
    WorkerView out;
    out.name = now.name;
    out.lcore = now.lcore;
    out.role = now.role;
    out.ring = now.ring;
    out.mempool = now.mempool;
    out.heartbeat = now.heartbeat;
    const TxCount before = previous.tx.value_or(TxCount{});
    if (now.tx) out.tx = traffic(base.tx.value_or(TxCount{}), before, *now.tx, elapsed_ns);
    if (out.ring && base.ring) out.ring->empty_polls = since(base.ring->empty_polls, now.ring->empty_polls);
    if (now.rx) {
        const ReceiverTotals start = base.rx.value_or(ReceiverTotals{});
        out.rx = ReceiverTotals{since(start.packets, now.rx->packets), since(start.sleeps, now.rx->sleeps),
                                since(start.interrupts, now.rx->interrupts)};
    }
    const std::uint64_t total = since(previous.total_cycles, now.total_cycles);
    // Both counters are read while they move; busy may be a turn ahead of total.
    const std::uint64_t busy = std::min(since(previous.busy_cycles, now.busy_cycles), total);
    const std::uint64_t packets = now.tx ? since(before.packets, now.tx->packets) : 0;
    if (total != 0) out.busy_ratio = static_cast<double>(busy) / static_cast<double>(total);
    if (packets != 0) out.cycles_per_packet = static_cast<double>(busy) / static_cast<double>(packets);
    return out;
}

std::vector<std::uint64_t> lateness_since(const std::vector<std::uint64_t>& base,
                                          const std::vector<std::uint64_t>& now) {
    std::vector<std::uint64_t> out = now;
    for (std::size_t i = 0; i < std::min(base.size(), out.size()); ++i) out[i] = since(base[i], out[i]);
    return out;
}

std::optional<LatenessView> lateness_view(const std::vector<std::uint64_t>& counts) {
    std::uint64_t total = 0;
    for (const std::uint64_t count : counts) total = saturating_add(total, count);
    if (total == 0) return std::nullopt;
    // The smallest bucket bound that at least `part` per cent of the bursts do not exceed.
    const auto percentile = [&](std::uint64_t part) {
        const std::uint64_t rank =
            std::max<std::uint64_t>(1, total / 100 * part + (total % 100 * part + 99) / 100);
        std::uint64_t sum = 0;
        std::size_t i = 0;
        while (i + 1 < counts.size() && (sum = saturating_add(sum, counts[i])) < rank) ++i;
        return LatenessBuckets::upper(std::min(i, LatenessBuckets::size - 1));
    };
    std::size_t last = counts.size() - 1;
    while (counts[last] == 0) --last;
    return LatenessView{percentile(50), percentile(99),
                        LatenessBuckets::upper(std::min(last, LatenessBuckets::size - 1))};
}

void set_lateness(StreamView& view, const std::vector<std::uint64_t>& counts) {
    view.lateness = lateness_view(counts);
    for (std::size_t i = 0; i < std::min(counts.size(), LatenessBuckets::size); ++i) {
        if (counts[i] == 0) continue;
        view.late_histogram.push_back({LatenessBuckets::upper(i), counts[i]});
        if (i >= LatenessBuckets::index(late_ns))
            view.late_bursts = saturating_add(view.late_bursts, counts[i]);
    }
}

StreamView stream_view(const StreamTotals& base, const StreamTotals& previous, const StreamTotals& now,
                       const Span& span) {
    StreamView out;
    out.name = now.name;
    out.port = now.port;
    out.state = now.state;
    out.tx = traffic(base.tx, previous.tx, now.tx, span.elapsed_ns);
    set_lateness(out, lateness_since(base.lateness, now.lateness));
    out.slips = since(base.slips, now.slips);
    out.slipped_packets = since(base.slipped_packets, now.slipped_packets);
    if (now.rx && now.rx->shown) {
        out.rx = rx_view(base.rx.value_or(StreamRxTotals{}), *now.rx, false);
        const StreamRxTotals before = previous.rx.value_or(StreamRxTotals{});
        out.rx->traffic.rates = rates_of(since(before.packets, now.rx->packets),
                                         since(before.bytes, now.rx->bytes), span.elapsed_ns);
    }
    if (now.target_pps) out.target_pps = value_of(*now.target_pps);
    double expected = 0;
    if (now.due_packets) {
        const std::uint64_t due = since(base.due_packets.value_or(0), *now.due_packets);
        out.shortfall_packets = since(out.tx.packets, due);
        expected = static_cast<double>(due);
    } else if (out.target_pps) {
        expected = *out.target_pps * static_cast<double>(run_duration(span.base, span.now)) / 1e9;
    }
    if (out.target_pps && expected > 0) {
        out.rate_error_ppm = (static_cast<double>(out.tx.packets) - expected) / expected * 1e6;
    }
    return out;
}

void add(std::optional<double>& sum, const std::optional<double>& part) {
    if (part) sum = sum.value_or(0) + *part;
}

// Times of different streams make no common percentile, so the sum has none.
void add(StreamRxView& sum, const StreamRxView& part) {
    sum.traffic.packets = saturating_add(sum.traffic.packets, part.traffic.packets);
    sum.traffic.bytes = saturating_add(sum.traffic.bytes, part.traffic.bytes);
    sum.traffic.l2_bytes = saturating_add(sum.traffic.l2_bytes, part.traffic.l2_bytes);
    add(sum.traffic.rates.pps, part.traffic.rates.pps);
    add(sum.traffic.rates.l2_bps, part.traffic.rates.l2_bps);
    add(sum.traffic.rates.l1_bps, part.traffic.rates.l1_bps);
    sum.lost = saturating_add(sum.lost, part.lost);
    sum.duplicates = saturating_add(sum.duplicates, part.duplicates);
    sum.reordered = saturating_add(sum.reordered, part.reordered);
    sum.verified = saturating_add(sum.verified, part.verified);
    sum.corrupted = saturating_add(sum.corrupted, part.corrupted);
}

void add(StreamView& sum, const StreamView& part) {
    sum.tx.packets = saturating_add(sum.tx.packets, part.tx.packets);
    sum.tx.bytes = saturating_add(sum.tx.bytes, part.tx.bytes);
    sum.tx.l2_bytes = saturating_add(sum.tx.l2_bytes, part.tx.l2_bytes);
    add(sum.tx.rates.pps, part.tx.rates.pps);
    add(sum.tx.rates.l2_bps, part.tx.rates.l2_bps);
    add(sum.tx.rates.l1_bps, part.tx.rates.l1_bps);
    add(sum.target_pps, part.target_pps);
    if (part.rx) add(sum.rx ? *sum.rx : sum.rx.emplace(), *part.rx);
    sum.slips = saturating_add(sum.slips, part.slips);
    sum.slipped_packets = saturating_add(sum.slipped_packets, part.slipped_packets);
    if (part.shortfall_packets) {
        sum.shortfall_packets = saturating_add(sum.shortfall_packets.value_or(0), *part.shortfall_packets);
    }
}

void add_streams(Snapshot& out, const Span& span, std::size_t streams_in_full) {
    Earlier base(span.base.streams);
    Earlier previous(span.previous.streams);
    std::vector<std::uint64_t> other_lateness;
    for (std::size_t i = 0; i < span.now.streams.size(); ++i) {
        const StreamTotals& now = span.now.streams[i];
        const StreamTotals& from = base.find(i, now);
        StreamView view = stream_view(from, previous.find(i, now), now, span);
        if (view.tx.packets == 0 && now.state == "removed") continue;
        if (out.streams.size() < streams_in_full) {
            out.streams.push_back(std::move(view));
            continue;
        }
        if (!out.other) out.other.emplace().name = "_other";
        add(*out.other, view);
        const std::vector<std::uint64_t> late = lateness_since(from.lateness, now.lateness);
        other_lateness.resize(std::max(other_lateness.size(), late.size()));
        for (std::size_t b = 0; b < late.size(); ++b)
            other_lateness[b] = saturating_add(other_lateness[b], late[b]);
    }
    if (out.other) set_lateness(*out.other, other_lateness);
}

}  // namespace

std::uint64_t run_duration(const Totals& base, const Totals& now) {
    const std::uint64_t end = std::min(now.run_ended_ns.value_or(now.monotonic_ns), now.monotonic_ns);
    return since(now.run_started_ns.value_or(base.monotonic_ns), end);
}

Snapshot derive(const Totals& base, const Totals& previous, const Totals& now, std::uint64_t elapsed_ns,
                std::size_t streams_in_full) {
    const Span span{base, previous, now, elapsed_ns};
    Snapshot out;
    out.run_id = now.run_id;
    out.clock = now.clock;
    out.evidence = now.evidence;
    out.state = now.state;
    out.time_unix_ns = now.time_unix_ns;
    out.monotonic_ns = now.monotonic_ns;
    out.generation = now.generation;
    out.warnings = now.warnings;
    out.duration_ns = run_duration(base, now);
    Earlier base_ports(base.ports);
    Earlier previous_ports(previous.ports);
    for (std::size_t i = 0; i < now.ports.size(); ++i) {
        const PortTotals& port = now.ports[i];
        out.ports.push_back(
            port_view(base_ports.find(i, port), previous_ports.find(i, port), port, elapsed_ns));
    }
    Earlier base_queues(base.queues);
    for (std::size_t i = 0; i < now.queues.size(); ++i) {
        out.queues.push_back(queue_view(base_queues.find(i, now.queues[i]), now.queues[i]));
    }
    Earlier base_workers(base.workers);
    Earlier previous_workers(previous.workers);
    for (std::size_t i = 0; i < now.workers.size(); ++i) {
        const WorkerTotals& worker = now.workers[i];
        out.workers.push_back(
            worker_view(base_workers.find(i, worker), previous_workers.find(i, worker), worker, elapsed_ns));
    }
    add_streams(out, span, streams_in_full);
    return out;
}

std::vector<StreamView> make_streams(const Totals& base, const Totals& previous, const Totals& now,
                                     const std::string& pattern, std::size_t offset, std::size_t limit,
                                     std::size_t& total) {
    const Span span{base, previous, now, since(previous.monotonic_ns, now.monotonic_ns)};
    Earlier base_streams(base.streams);
    Earlier previous_streams(previous.streams);
    std::vector<StreamView> out;
    total = 0;
    for (std::size_t i = 0; i < now.streams.size(); ++i) {
        const StreamTotals& stream = now.streams[i];
        if (!pattern.empty() && ::fnmatch(pattern.c_str(), stream.name.c_str(), 0) != 0) continue;
        const StreamTotals& from = base_streams.find(i, stream);
        if (stream.state == "removed" && since(from.tx.packets, stream.tx.packets) == 0) continue;
        if (total++ < offset || out.size() >= limit) continue;
        out.push_back(stream_view(from, previous_streams.find(i, stream), stream, span));
    }
    return out;
}

Snapshot make_snapshot(const Totals& base, const Totals& previous, const Totals& now,
                       std::size_t streams_in_full) {
    return derive(base, previous, now, since(previous.monotonic_ns, now.monotonic_ns), streams_in_full);
}

}  // namespace volley::telemetry
