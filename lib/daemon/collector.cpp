#include "daemon/collector.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/log_buckets.h"
#include "base/tsc.h"
#include "base/tsc_drift.h"

namespace volley::daemon {
namespace {

constexpr std::uint64_t drift_known_after_ns = 10'000'000'000;
constexpr double drift_told_from_ppm = 20;

// Up to the last bucket that counted, for most stay empty.
template <std::size_t Size>
void add_buckets(const std::array<Counter, Size>& from, std::vector<std::uint64_t>& to) {
    std::size_t end = Size;
    while (end > 0 && from[end - 1].get() == 0) --end;
    if (to.size() < end) to.resize(end);
    for (std::size_t i = 0; i < end; ++i) to[i] += from[i].get();
}

}  // namespace

// Both clocks are read together each time, so the longer the process runs, the finer the drift is known.
void Collector::check_clock(telemetry::Totals& out) {
    const TscDrift drift = tsc_drift();
    out.clock = telemetry::ClockTotals{tsc_hz(), drift.span_ns, drift.ppm};
    if (drift.span_ns < drift_known_after_ns || std::abs(drift.ppm) < drift_told_from_ppm) return;
    out.warnings.push_back(
        "clock_drift: the CPU's time-stamp counter runs " + std::string(drift.ppm > 0 ? "faster" : "slower") +
        " than it did at start by more than " + std::to_string(static_cast<int>(drift_told_from_ppm)) +
        " ppm, and rates with it; restart volleyd to measure it again");
}

void Collector::collect(telemetry::Totals& out) {
    Situation situation;
    {
        const std::lock_guard lock(mutex_);
        situation = situation_;
    }
    out.state = situation.state;
    out.run_id = situation.run_id;
    out.generation = situation.generation;
    out.warnings = situation.warnings;
    out.reloads = situation.reloads;
    out.evidence = situation.evidence;
    out.captures = situation.captures;
    check_clock(out);
    out.run_started_ns = situation.run_started_ns;
    out.run_ended_ns = situation.run_ended_ns;
    run_is_new_ = run_ != situation.run_id;
    run_ = situation.run_id;
    // Streams are read before queues and ports: what is counted between is missing in the sum of the parts,
    // never in excess of the whole. In a settled report nothing moves and all agree.
    refresh();
    collect_streams(out);
    collect_lanes(out);
    collect_ports(out, situation);
}

void Collector::refresh() {
    for (const auto& port : road_.ports()) port->refresh_statistics();
}

void Collector::collect_streams(telemetry::Totals& out) {
    at_several_ports_.clear();
    for (const StreamBook::Line& line : book_.read(out.monotonic_ns)) {
        telemetry::StreamTotals stream;
        stream.name = line.name;
        stream.port = line.port;
        stream.state = line.state;
        stream.target_pps = line.target_pps;
        stream.due_packets = line.due_packets;
        stream.lateness.resize(LatenessBuckets::size);
        std::uint64_t signed_packets = 0;
        for (const auto& lane : road_.lanes()) {
            const worker::StreamTx* row = lane->worker.rows().find(line.slot);
            if (row == nullptr) continue;
            stream.tx.packets += row->packets.get();
            stream.tx.bytes += row->bytes.get();
            signed_packets += row->signed_packets.get();
            for (std::size_t b = 0; b < LatenessBuckets::size; ++b)
                stream.lateness[b] += row->lateness[b].get();
            stream.slips += row->slips.get();
            stream.slipped_packets += row->slipped_packets.get();
        }
        if (line.count != traffic::endless && stream.state == "running" &&
            stream.tx.packets - line.packets_before >= line.count)
            stream.state = "finished";
        collect_rx(line, signed_packets, stream);
        out.streams.push_back(std::move(stream));
    }
    if (at_several_ports_.empty()) return;
    const std::size_t others = at_several_ports_.size() - 1;
    out.warnings.push_back("stream_at_several_ports: " + at_several_ports_.front() +
                           (others == 0 ? "" : " and " + std::to_string(others) + " more") +
                           " arrive at several ports, which are told together: what one of them lost and "
                           "another received is not seen; give expect_on");
}

namespace {

void add_row(const worker::StreamRx& row, telemetry::StreamRxTotals& rx) {
    ++rx.workers;
    rx.packets += row.packets.get();
    rx.bytes += row.bytes.get();
    rx.duplicates += row.duplicates.get();
    rx.reordered += row.reordered.get();
    rx.verified += row.verified.get();
    rx.corrupted += row.corrupted.get();
    rx.latency_sum_ns += row.latency_sum.get();
    rx.transits += row.transits.get();
    rx.jitter_16ths_ns = std::max(rx.jitter_16ths_ns, row.jitter.get());
    rx.outages += row.outages.get();
    rx.outage_longest_ns = std::max(rx.outage_longest_ns, row.outage_longest.get());
    rx.outage_last_ns = std::max(rx.outage_last_ns, row.outage_last.get());
    add_buckets(row.latency, rx.latency);
    add_buckets(row.arrival, rx.arrival);
}

}  // namespace

// Up to the furthest packet of each lane; what was sent after it is settled at the end. Of a stream that is
// not signed any more, too: it may be later in the run, and then counts from here.
void Collector::collect_rx(const StreamBook::Line& line, std::uint64_t sent, telemetry::StreamTotals& out) {
    if (road_.receivers().empty() || (!line.is_signed && sent == 0)) return;
    if (before_.size() <= line.slot.value) before_.resize(line.slot.value + 1);
    Before& before = before_[line.slot.value];
    before.expected.resize(road_.receivers().size());
    before.unique.resize(road_.ports().size());
    telemetry::StreamRxTotals rx;
    std::vector<ExpectedByLane> expected(before.expected.size());
    std::vector<std::uint64_t> unique(before.unique.size());
    receivers_.visit(line.slot, out.tx.packets, [&](std::size_t w, const worker::StreamRx& row) {
        const std::uint64_t packets = row.packets.get();
        unique[road_.receivers()[w]->port] += packets - std::min(packets, row.duplicates.get());
        for (std::size_t lane = 0; lane < row.expected.size(); ++lane) {
            const std::uint64_t count = row.expected[lane].get();
            if (run_is_new_) before.expected[w][lane] = count;
            expected[w][lane] = count - before.expected[w][lane];
        }
        if (packets != 0) add_row(row, rx);
    });
    if (run_is_new_) {
        before.unique = unique;
        before.told = before.last;
        before.copies_told = before.copies;
        before.sent = sent;
    }
    for (std::size_t p = 0; p < unique.size(); ++p) unique[p] -= std::min(before.unique[p], unique[p]);
    const std::uint64_t reached = expected_of(expected);
    const std::uint64_t copies = copies_among(unique, reached);
    const std::uint64_t arrived = std::accumulate(unique.begin(), unique.end(), std::uint64_t{0});
    const std::uint64_t furthest = std::max(reached, arrived - copies);
    before.last = before.told + furthest;
    before.copies = before.copies_told + copies;
    rx.expected = before.last;
    rx.duplicates += before.copies;
    rx.sent = sent;
    rx.tail = sent - before.sent > furthest ? sent - before.sent - furthest : 0;
    rx.shown = line.is_signed || sent != before.sent || arrived != 0;
    if (std::count_if(unique.begin(), unique.end(), [](std::uint64_t n) { return n != 0; }) > 1)
        at_several_ports_.push_back(line.name);
    out.rx = std::move(rx);
}

void Collector::collect_lanes(telemetry::Totals& out) {
    const Tsc now = tsc_now();
    for (const auto& loop : road_.loops()) {
        telemetry::WorkerTotals worker;
        worker.lcore = loop->lcore().value;
        worker.heartbeat = loop->heartbeat().get();
        worker.total_cycles = now;  // telemetry subtracts, so any zero will do
        worker.busy_cycles = loop->dispatch_busy().get();
        for (const auto& lane : road_.lanes()) {
            if (lane->lcore != loop->lcore()) continue;
            const worker::TxCounters& counters = lane->worker.counters();
            telemetry::TxCount tx = worker.tx.value_or(telemetry::TxCount{});
            tx.packets += counters.packets.get();
            tx.bytes += counters.bytes.get();
            worker.tx = tx;
            worker.busy_cycles += counters.busy_cycles.get();
            telemetry::RingTotals ring = worker.ring.value_or(telemetry::RingTotals{});
            const std::uint64_t done =
                lane->worker.bursts_done().get();  // first: what is emitted meanwhile only adds
            ring.occupancy += std::min<std::uint64_t>(lane->lane.emitted() - done, lane->ring.capacity());
            ring.capacity += lane->ring.capacity();
            ring.empty_polls += counters.empty_polls.get();
            worker.ring = ring;
            telemetry::PoolTotals pool = worker.mempool.value_or(telemetry::PoolTotals{});
            pool.free += lane->pool.free_count();
            pool.size += lane->pool.size();
            worker.mempool = pool;
        }
        for (const auto& lane : road_.receivers()) {
            if (lane->lcore != loop->lcore()) continue;
            const worker::RxCounters& counters = lane->worker.counters();
            telemetry::ReceiverTotals rx = worker.rx.value_or(telemetry::ReceiverTotals{});
            rx.packets += counters.packets.get();
            rx.sleeps += counters.sleeps.get();
            rx.interrupts += counters.interrupts.get();
            worker.rx = rx;
            worker.busy_cycles += counters.busy_cycles.get();
        }
        worker.role = worker.tx ? "tx" : worker.rx ? "rx" : "dispatch";
        worker.name = worker.role + "-" + std::to_string(loop->lcore().value);
        out.workers.push_back(std::move(worker));
    }
    for (const auto& lane : road_.lanes()) {
        const worker::TxCounters& counters = lane->worker.counters();
        telemetry::QueueTotals queue;
        queue.port = road_.ports()[lane->port]->name();
        queue.queue = lane->index;
        queue.lcore = lane->lcore.value;
        queue.packets = counters.packets.get();
        queue.tx_burst_calls = counters.calls.get();
        queue.tail_writes = counters.tail_writes.get();
        queue.backpressure_packets = counters.backpressure_packets.get();
        queue.limiter = limiters_.view(out.queues.size());
        out.queues.push_back(std::move(queue));
    }
}

telemetry::PortRx Collector::collect_rx(std::size_t port, const port::Statistics& device) const {
    telemetry::PortRx rx;
    for (const auto& lane : road_.receivers()) {
        if (lane->port != port) continue;
        rx.packets += lane->worker.counters().packets.get();
        rx.bytes += lane->worker.counters().bytes.get();
        rx.unmatched += lane->worker.counters().unmatched.get();
    }
    if (road_.replies()[port] != nullptr) rx.answered = road_.replies()[port]->sent();
    rx.missed = device.rx_missed;
    rx.errors = device.rx_errors;
    rx.no_mbuf = device.rx_no_mbuf;
    return rx;
}

void Collector::collect_ports(telemetry::Totals& out, const Situation& situation) {
    for (std::size_t p = 0; p < road_.ports().size(); ++p) {
        const port::Port& port = *road_.ports()[p];
        telemetry::PortTotals totals;
        totals.name = port.name();
        totals.device = port.settings().device;
        totals.driver = port.driver();
        totals.tx_path = port.tx_path();
        totals.numa_node = port.socket();
        Links::View link = links_.view(p);
        totals.link = {link.up, link.speed_bps, std::move(link.reason), link.since_unix_ns};
        const port::Statistics device = port.statistics();
        telemetry::PortTx tx;
        for (const auto& lane : road_.lanes()) {
            if (lane->port != p) continue;
            tx.packets += lane->worker.counters().packets.get();
            tx.bytes += lane->worker.counters().bytes.get();
            tx.stalled = tx.stalled || lane->worker.counters().stalled.get() != 0;
        }
        tx.errors = device.tx_errors;
        tx.unsent = p < situation.unsent.size() ? situation.unsent[p] : 0;
        if (port.settings().tx) totals.tx = tx;
        if (port.settings().rx) totals.rx = collect_rx(p, device);
        if (tx.stalled) {
            out.warnings.push_back("tx_stalled: port " + port.name() +
                                   " has taken no packet for 1 s; look at its link and "
                                   "at what reads from it");
        }
        for (auto& [name, count] : port.read_xstats()) totals.xstats.push_back({std::move(name), count});
        out.ports.push_back(std::move(totals));
    }
}

}  // namespace volley::daemon
