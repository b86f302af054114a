#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <span>
#include <utility>

#include "base/log_buckets.h"
#include "telemetry/arithmetic.h"
#include "telemetry/render.h"

namespace volley::telemetry {
namespace {

constexpr std::string_view prefix = "volley_";

void append_number(std::string& out, std::uint64_t value) {
    std::array<char, 24> text{};
    out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

void append_number(std::string& out, double value) {
    std::array<char, 32> text{};
    out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

// Exact to the nanosecond, which a double of today's time is not.
void append_seconds(std::string& out, std::uint64_t ns) {
    append_number(out, ns / 1'000'000'000);
    std::string fraction = std::to_string(ns % 1'000'000'000 + 1'000'000'000);
    fraction[0] = '.';
    out += fraction;
}

// Backslash first: exposition_formats.md of Prometheus.
void append_label_value(std::string& out, std::string_view value) {
    for (const char c : value) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n') {
            out += "\\n";
        } else {
            out += c;
        }
    }
}

using Label = std::pair<std::string_view, std::string_view>;

// Bounds of latency buckets, nanoseconds and as `le` has them. A bucket counts what our finer ones, 3 % wide,
// hold wholly below its bound.
constexpr std::array<std::pair<std::uint64_t, std::string_view>, 13> latency_bounds{{{1'000, "1e-06"},
                                                                                     {2'500, "2.5e-06"},
                                                                                     {5'000, "5e-06"},
                                                                                     {10'000, "1e-05"},
                                                                                     {25'000, "2.5e-05"},
                                                                                     {50'000, "5e-05"},
                                                                                     {100'000, "0.0001"},
                                                                                     {250'000, "0.00025"},
                                                                                     {500'000, "0.0005"},
                                                                                     {1'000'000, "0.001"},
                                                                                     {2'500'000, "0.0025"},
                                                                                     {5'000'000, "0.005"},
                                                                                     {10'000'000, "0.01"}}};

struct LatencyCounts {
    std::vector<std::uint64_t> buckets;  ///< as in LatencyBuckets
    std::uint64_t sum_ns = 0;

    void add(const StreamRxTotals& rx) {
        if (buckets.size() < rx.latency.size()) buckets.resize(rx.latency.size());
        for (std::size_t i = 0; i < rx.latency.size(); ++i) buckets[i] += rx.latency[i];
        sum_ns += rx.latency_sum_ns;
    }
};

// One family: HELP and TYPE, then its samples, in one group as the format demands. Without samples nothing is
// written.
class Family {
  public:
    Family(std::string& out, std::string_view name, std::string_view type, std::string_view help)
        : out_(out), name_(name), type_(type), help_(help) {}

    template <class Number>
    void add(std::initializer_list<Label> labels, Number value) {
        begin(labels);
        append_line(value);
    }
    void add_seconds(std::uint64_t ns) {
        begin({});
        append_seconds(out_, ns);
        out_ += '\n';
    }
    // A classic histogram of packets by latency: cumulative buckets, their sum and how many there are.
    void add_latency(std::string_view stream, std::string_view port, const LatencyCounts& counts) {
        std::uint64_t below = 0;
        std::size_t i = 0;
        for (const auto& [ns, seconds] : latency_bounds) {
            for (; i < counts.buckets.size() && LatencyBuckets::upper(i) <= ns; ++i)
                below += counts.buckets[i];
            begin({{"stream", stream}, {"port", port}, {"le", seconds}}, "_bucket");
            append_line(below);
        }
        for (; i < counts.buckets.size(); ++i) below += counts.buckets[i];
        begin({{"stream", stream}, {"port", port}, {"le", "+Inf"}}, "_bucket");
        append_line(below);
        begin({{"stream", stream}, {"port", port}}, "_sum");
        append_seconds(out_, counts.sum_ns);
        out_ += '\n';
        begin({{"stream", stream}, {"port", port}}, "_count");
        append_line(below);
    }

  private:
    template <class Number>
    void append_line(Number value) {
        append_number(out_, value);
        out_ += '\n';
    }
    void begin(std::initializer_list<Label> labels, std::string_view suffix = {}) {
        if (!begun_) {
            for (const auto& [word, text] : {Label{"HELP", help_}, Label{"TYPE", type_}}) {
                ((((out_ += "# ") += word) += ' ') += prefix) += name_;
                ((out_ += ' ') += text) += '\n';
            }
            begun_ = true;
        }
        ((out_ += prefix) += name_) += suffix;
        char bracket = '{';
        for (const auto& [label, value] : labels) {
            ((out_ += bracket) += label) += "=\"";
            append_label_value(out_, value);
            out_ += '"';
            bracket = ',';
        }
        out_ += bracket == '{' ? " " : "} ";
    }

    std::string& out_;
    std::string_view name_;
    std::string_view type_;
    std::string_view help_;
    bool begun_ = false;
};

constexpr std::string_view counter = "counter";
constexpr std::string_view gauge = "gauge";

// A family of one value a row. value() returns an optional: rows without one have no sample.
template <class Rows, class Labels, class Value>
void family(std::string& out, std::string_view name, std::string_view type, std::string_view help,
            const Rows& rows, Labels labels, Value value) {
    Family family(out, name, type, help);
    for (const auto& row : rows) {
        if (const auto number = value(row)) labels(family, row, *number);
    }
}

template <class Number>
std::optional<Number> some(Number value) {
    return value;
}

void write_process(std::string& out, const Totals& now, const MetricsContext& context) {
    Family(out, "build_info", gauge, "1, with the versions of the program as labels")
        .add({{"version", context.version}, {"dpdk", context.dpdk}}, std::uint64_t{1});
    Family(out, "start_time_seconds", gauge, "Unix time of the start of the process")
        .add_seconds(context.start_unix_ns);
    Family(out, "snapshot_time_seconds", gauge, "Unix time of the reading of the counters")
        .add_seconds(now.time_unix_ns);
    Family state(out, "state", gauge, "1 for the state that the process is in");
    for (const std::string_view name :
         {"starting", "running", "reloading", "draining", "settling", "idle", "stopping"}) {
        state.add({{"state", name}}, std::uint64_t{now.state == name ? 1U : 0U});
    }
    Family(out, "config_generation", gauge, "Generation of the configuration in force")
        .add({}, now.generation);
    Family(out, "config_last_reload_successful", gauge, "1 unless the last reload was refused")
        .add({}, std::uint64_t{now.reloads.last_refused ? 0U : 1U});
    if (now.reloads.last_unix_ns != 0) {
        Family(out, "config_last_reload_timestamp_seconds", gauge, "Unix time of the last reload")
            .add_seconds(now.reloads.last_unix_ns);
    }
    Family reloads(out, "config_reloads_total", counter, "Reloads since the start by result");
    reloads.add({{"result", "done"}}, now.reloads.done);
    reloads.add({{"result", "refused"}}, now.reloads.refused);
    Family(out, "warnings", gauge, "Warnings in the last telemetry line")
        .add({}, std::uint64_t{now.warnings.size()});
}

void write_ports(std::string& out, const Totals& now) {
    const auto& ports = now.ports;
    const auto by_port = [](Family& f, const PortTotals& port, auto value) {
        f.add({{"port", port.name}}, value);
    };
    family(
        out, "port_info", gauge, "1, with what the port is as labels", ports,
        [](Family& f, const PortTotals& p, std::uint64_t one) {
            f.add({{"port", p.name}, {"device", p.device}, {"driver", p.driver}, {"tx_path", p.tx_path}},
                  one);
        },
        [](const PortTotals& /*p*/) { return some(std::uint64_t{1}); });
    family(out, "port_up", gauge, "1 while the link is up", ports, by_port,
           [](const PortTotals& p) { return some(std::uint64_t{p.link.up ? 1U : 0U}); });
    family(out, "port_speed_bytes", gauge, "Speed of the link in bytes per second, where known", ports,
           by_port, [](const PortTotals& p) {
               return p.link.speed_bps == 0 ? std::nullopt : some(p.link.speed_bps / 8);
           });
    const auto tx = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
        family(out, name, type, help, ports, by_port,
               [&](const PortTotals& p) -> std::optional<std::uint64_t> {
                   return p.tx ? some(value(*p.tx)) : std::nullopt;
               });
    };
    tx("port_transmit_packets_total", counter, "Packets that the device accepted",
       [](const PortTx& t) { return t.packets; });
    tx("port_transmit_bytes_total", counter, "Bytes of these packets with FCS",
       [](const PortTx& t) { return l2_bytes(t.bytes, t.packets); });
    tx("port_transmit_errors_total", counter, "Packets that the device failed to send",
       [](const PortTx& t) { return t.errors; });
    tx("port_unsent_packets_total", counter, "Packets given up at the drain deadline",
       [](const PortTx& t) { return t.unsent; });
    tx("port_stalled", gauge, "1 while packets wait and the device has taken none for 1 s",
       [](const PortTx& t) { return std::uint64_t{t.stalled ? 1U : 0U}; });
    const auto rx = [&](std::string_view name, std::string_view help, auto value) {
        family(out, name, counter, help, ports, by_port,
               [&](const PortTotals& p) -> std::optional<std::uint64_t> {
                   return p.rx ? some(value(*p.rx)) : std::nullopt;
               });
    };
    rx("port_receive_packets_total", "Packets received", [](const PortRx& r) { return r.packets; });
    rx("port_receive_bytes_total", "Bytes of these packets with FCS",
       [](const PortRx& r) { return l2_bytes(r.bytes, r.packets); });
    rx("port_receive_missed_total", "Packets that the device had no descriptor for",
       [](const PortRx& r) { return r.missed; });
    rx("port_receive_errors_total", "Packets received with errors", [](const PortRx& r) { return r.errors; });
    rx("port_receive_nombuf_total", "Packets that no buffer was free for",
       [](const PortRx& r) { return r.no_mbuf; });
    rx("port_receive_unmatched_total", "Packets received that are of no stream",
       [](const PortRx& r) { return r.unmatched; });
}

void write_queues(std::string& out, const Totals& now) {
    std::vector<std::string> numbers;
    for (const QueueTotals& queue : now.queues) numbers.push_back(std::to_string(queue.queue));
    const auto each = [&](std::string_view name, std::string_view help, std::uint64_t QueueTotals::*value) {
        Family family(out, name, counter, help);
        for (std::size_t i = 0; i < now.queues.size(); ++i)
            family.add({{"port", now.queues[i].port}, {"queue", numbers[i]}}, now.queues[i].*value);
    };
    each("queue_transmit_packets_total", "Packets that the queue accepted", &QueueTotals::packets);
    each("queue_transmit_calls_total", "Calls of tx_burst", &QueueTotals::tx_burst_calls);
    each("queue_tail_writes_total", "Writes of the tail register", &QueueTotals::tail_writes);
    each("queue_backpressure_packets_total", "Packets offered, not accepted, and offered again",
         &QueueTotals::backpressure_packets);
    const auto limit = [&](std::string_view name, std::string_view help, auto bps) {
        Family family(out, name, gauge, help);
        for (std::size_t i = 0; i < now.queues.size(); ++i) {
            const auto& limiter = now.queues[i].limiter;
            if (limiter)
                family.add({{"port", now.queues[i].port}, {"queue", numbers[i]}}, (*limiter).*bps / 8);
        }
    };
    limit("queue_limiter_asked_bytes_per_second", "Rate, with FCS, that hardware pacing is asked for",
          &LimiterTotals::asked_bps);
    limit("queue_limiter_set_bytes_per_second", "Rate, with FCS, that the NIC's limiter is set to",
          &LimiterTotals::set_bps);
}

void write_workers(std::string& out, const Totals& now) {
    std::vector<std::string> lcores;
    for (const WorkerTotals& worker : now.workers) lcores.push_back(std::to_string(worker.lcore));
    const auto each = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
        Family family(out, name, type, help);
        for (std::size_t i = 0; i < now.workers.size(); ++i) {
            const WorkerTotals& worker = now.workers[i];
            const std::optional<std::uint64_t> number = value(worker);
            if (number)
                family.add({{"worker", worker.name}, {"lcore", lcores[i]}, {"role", worker.role}}, *number);
        }
    };
    using Worker = WorkerTotals;
    const auto of = [](const auto& part, auto member) -> std::optional<std::uint64_t> {
        return part ? some((*part).*member) : std::nullopt;
    };
    each("worker_transmit_packets_total", counter, "Packets that the worker's devices accepted",
         [&](const Worker& w) { return of(w.tx, &TxCount::packets); });
    each("worker_busy_cycles_total", counter, "TSC cycles of turns that found work",
         [](const Worker& w) { return some(w.busy_cycles); });
    each("worker_cycles_total", counter, "TSC cycles of all turns",
         [](const Worker& w) { return some(w.total_cycles); });
    each("worker_turns_total", counter, "Turns of the worker's loop: its heartbeat",
         [](const Worker& w) { return some(w.heartbeat); });
    each("worker_ring_bursts", gauge, "Bursts that wait in the worker's rings",
         [&](const Worker& w) { return of(w.ring, &RingTotals::occupancy); });
    each("worker_ring_capacity_bursts", gauge, "Bursts that the worker's rings hold",
         [&](const Worker& w) { return of(w.ring, &RingTotals::capacity); });
    each("worker_ring_empty_polls_total", counter, "Looks at a ring that held nothing due",
         [&](const Worker& w) { return of(w.ring, &RingTotals::empty_polls); });
    each("worker_mempool_free_buffers", gauge, "Free packet buffers",
         [&](const Worker& w) { return of(w.mempool, &PoolTotals::free); });
    each("worker_mempool_buffers", gauge, "Packet buffers",
         [&](const Worker& w) { return of(w.mempool, &PoolTotals::size); });
    each("worker_receive_packets_total", counter, "Packets that the worker took from its queues",
         [&](const Worker& w) { return of(w.rx, &ReceiverTotals::packets); });
    each("worker_receive_sleeps_total", counter, "Sleeps for want of packets, once a queue",
         [&](const Worker& w) { return of(w.rx, &ReceiverTotals::sleeps); });
    each("worker_receive_interrupts_total", counter, "Sleeps that an interrupt of the queue ended",
         [&](const Worker& w) { return of(w.rx, &ReceiverTotals::interrupts); });
}

// Of the whole process: what was kept of findings, where that is asked for, and captures.
void write_captures(std::string& out, const Totals& now) {
    if (now.evidence) {
        const EvidenceTotals& evidence = *now.evidence;
        Family(out, "evidence_files_total", counter, "Capture files of findings that were begun")
            .add({}, evidence.files);
        Family(out, "evidence_bytes_total", counter, "Bytes written to these files").add({}, evidence.bytes);
        Family findings(out, "evidence_findings_total", counter, "Findings by what became of them");
        findings.add({{"result", "written"}}, evidence.written);
        findings.add({{"result", "dropped"}}, evidence.dropped);
        findings.add({{"result", "disk_full"}}, evidence.disk_full);
        findings.add({{"result", "failed"}}, since(evidence.disk_full, evidence.failed));
    }
    const CaptureTotals& captures = now.captures;
    Family(out, "captures_under_way", gauge, "Captures that are being taken").add({}, captures.under_way);
    Family over(out, "captures_total", counter, "Captures that are over by result");
    over.add({{"result", "done"}}, captures.done);
    over.add({{"result", "failed"}}, captures.failed);
    Family(out, "capture_packets_total", counter, "Packets in the files of captures")
        .add({}, captures.packets);
    Family(out, "capture_bytes_total", counter, "Bytes of these files").add({}, captures.bytes);
    Family(out, "capture_dropped_packets_total", counter, "Packets to capture that there was no room for")
        .add({}, captures.dropped);
}

// Of signed streams, where a port receives.
void write_latency(std::string& out, std::span<const StreamTotals> full, std::span<const StreamTotals> rest) {
    Family family(out, "stream_receive_latency_seconds", "histogram",
                  "Packets by the time from just before tx_burst to just after rx_burst");
    for (const StreamTotals& stream : full) {
        if (!stream.rx) continue;
        LatencyCounts counts;
        counts.add(*stream.rx);
        family.add_latency(stream.name, stream.port, counts);
    }
    LatencyCounts others;
    for (const StreamTotals& stream : rest) {
        if (stream.rx) others.add(*stream.rx);
    }
    if (!others.buckets.empty()) family.add_latency("_other", "", others);
}

// The first streams in full, the others as one: a scrape stays bounded however many there are. The order is
// that of the stream table, so what stands for itself goes on to do so and sums never fall.
void write_streams(std::string& out, const Totals& now, std::size_t in_full) {
    const std::size_t full = std::min(in_full, now.streams.size());
    const std::span<const StreamTotals> rest = std::span(now.streams).subspan(full);
    const auto each = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
        Family family(out, name, type, help);
        for (const StreamTotals& stream : std::span(now.streams).first(full)) {
            if (const auto number = value(stream))
                family.add({{"stream", stream.name}, {"port", stream.port}}, *number);
        }
        if (rest.empty()) return;
        using Number = typename decltype(value(now.streams.front()))::value_type;
        Number sum{};
        for (const StreamTotals& stream : rest) sum += value(stream).value_or(Number{});
        family.add({{"stream", "_other"}, {"port", ""}}, sum);
    };
    each("stream_transmit_packets_total", counter, "Packets of the stream that devices accepted",
         [](const StreamTotals& s) { return some(s.tx.packets); });
    each("stream_transmit_bytes_total", counter, "Bytes of these packets with FCS",
         [](const StreamTotals& s) { return some(l2_bytes(s.tx.bytes, s.tx.packets)); });
    const auto received = [&](std::string_view name, std::string_view type, std::string_view help,
                              auto value) {
        each(name, type, help, [&](const StreamTotals& s) -> std::optional<std::uint64_t> {
            return s.rx ? some(value(*s.rx)) : std::nullopt;
        });
    };
    using Rx = StreamRxTotals;
    received("stream_receive_packets_total", counter, "Packets of the stream that receivers took",
             [](const Rx& rx) { return rx.packets; });
    received("stream_receive_bytes_total", counter, "Bytes of these packets with FCS",
             [](const Rx& rx) { return l2_bytes(rx.bytes, rx.packets); });
    received("stream_lost_packets", gauge, "Packets missing up to the furthest that came",
             [](const Rx& rx) { return since(since(rx.duplicates, rx.packets), rx.expected); });
    received("stream_duplicate_packets_total", counter, "Packets that had come before",
             [](const Rx& rx) { return rx.duplicates; });
    received("stream_reordered_packets_total", counter, "Packets that came after a later one",
             [](const Rx& rx) { return rx.reordered; });
    received("stream_verified_packets_total", counter, "Packets compared with what was sent",
             [](const Rx& rx) { return rx.verified; });
    received("stream_corrupted_packets_total", counter, "Of these, packets that differ",
             [](const Rx& rx) { return rx.corrupted; });
    write_latency(out, std::span(now.streams).first(full), rest);
    each("stream_target_packets_per_second", gauge, "Rate that the configuration asks for; none for max",
         [](const StreamTotals& s) -> std::optional<double> {
             return s.target_pps ? value_of(*s.target_pps) : std::nullopt;
         });
    each("stream_due_packets", gauge, "Packets of the run that the configured rate has made due",
         [](const StreamTotals& s) { return s.due_packets; });
    each("stream_slips_total", counter, "Times that a worker gave up what it was late",
         [](const StreamTotals& s) { return some(s.slips); });
    each("stream_slipped_packets_total", counter, "Packets that these were worth at the stream's rate",
         [](const StreamTotals& s) { return some(s.slipped_packets); });
    each("stream_running", gauge, "1 while the stream sends",
         [](const StreamTotals& s) { return some(std::uint64_t{s.state == "running" ? 1U : 0U}); });
}

}  // namespace

std::string render_prometheus(const Totals& now, const std::vector<PublisherView>& publishers,
                              std::size_t streams_in_full, const MetricsContext& context) {
    std::string out;
    out.reserve(8192 + std::min(now.streams.size(), streams_in_full) * 512);
    write_process(out, now, context);
    write_ports(out, now);
    write_queues(out, now);
    write_workers(out, now);
    write_streams(out, now, streams_in_full);
    write_captures(out, now);
    Family dropped(out, "telemetry_dropped_lines_total", counter,
                   "Telemetry lines that a sink could not take");
    for (const PublisherView& sink : publishers) dropped.add({{"sink", sink.sink}}, sink.dropped_lines);
    return out;
}

}  // namespace volley::telemetry
