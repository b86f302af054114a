#include <cmath>

#include "telemetry/json_writer.h"
#include "telemetry/render.h"
#include "telemetry/write_views.h"

namespace volley::telemetry {
namespace {

// A measured rate is not known to more than a thousandth; a rate below 1 keeps all its digits.
std::optional<double> measured(const std::optional<double>& rate) {
    if (!rate || std::abs(*rate) < 1 || std::abs(*rate) > 1e12) return rate;
    return std::round(*rate * 1000) / 1000;
}

std::optional<std::string_view> text(const std::string& maybe) {
    return maybe.empty() ? std::nullopt : std::optional<std::string_view>(maybe);
}

void write_rates(JsonWriter& json, const Rates& rates) {
    json.member("pps", measured(rates.pps));
    json.member("l2_bps", measured(rates.l2_bps));
    json.member("l1_bps", measured(rates.l1_bps));
}

void write_port_traffic(JsonWriter& json, const Traffic& traffic) {
    json.member("packets", traffic.packets)
        .member("bytes", traffic.bytes)
        .member("l2_bytes", traffic.l2_bytes);
    write_rates(json, traffic.rates);
}

}  // namespace

void write(JsonWriter& json, const PortView& port) {
    json.begin_object();
    json.member("name", port.name).member("device", port.device).member("driver", port.driver);
    json.member("tx_path", text(port.tx_path));
    json.key("link").begin_object().member("up", port.link.up);
    json.key("speed_bps");
    port.link.speed_bps == 0 ? json.null() : json.value(port.link.speed_bps);
    json.member("reason", text(port.link.reason)).member("since_ns", port.link.since_ns).end_object();
    json.member("numa_node", port.numa_node);
    json.key("tx");
    if (port.tx) {
        json.begin_object();
        write_port_traffic(json, port.tx->traffic);
        json.member("errors", port.tx->errors)
            .member("unsent", port.tx->unsent)
            .member("stalled", port.tx->stalled);
        json.end_object();
    } else {
        json.null();
    }
    json.key("rx");
    if (port.rx) {
        json.begin_object();
        write_port_traffic(json, port.rx->traffic);
        json.member("missed", port.rx->missed).member("errors", port.rx->errors);
        json.member("no_mbuf", port.rx->no_mbuf).member("unmatched", port.rx->unmatched);
        json.member("answered", port.rx->answered).end_object();
    } else {
        json.null();
    }
    json.key("xstats").begin_object();
    for (const NamedCount& stat : port.xstats) json.member(stat.name, stat.count);
    json.end_object().end_object();
}

namespace {

void write(JsonWriter& json, const QueueView& queue) {
    json.begin_object();
    json.member("port", queue.port).member("queue", queue.queue).member("lcore", queue.lcore);
    json.key("tx").begin_object();
    json.member("packets", queue.packets).member("tx_burst_calls", queue.tx_burst_calls);
    json.member("tail_writes", queue.tail_writes).member("backpressure_packets", queue.backpressure_packets);
    json.end_object();
    json.key("limiter");
    if (queue.limiter) {
        json.begin_object()
            .member("asked_bps", queue.limiter->asked_bps)
            .member("set_bps", queue.limiter->set_bps);
        json.member("error_ppm", measured(queue.limiter->error_ppm)).end_object();
    } else {
        json.null();
    }
    json.end_object();
}

void write(JsonWriter& json, const WorkerView& worker) {
    json.begin_object();
    json.member("name", worker.name).member("lcore", worker.lcore).member("role", worker.role);
    json.key("tx");
    if (worker.tx) {
        json.begin_object()
            .member("packets", worker.tx->packets)
            .member("l2_bytes", worker.tx->l2_bytes)
            .end_object();
    } else {
        json.null();
    }
    json.member("busy_ratio", worker.busy_ratio)
        .member("cycles_per_packet", measured(worker.cycles_per_packet));
    json.key("ring");
    if (worker.ring) {
        json.begin_object()
            .member("occupancy", worker.ring->occupancy)
            .member("capacity", worker.ring->capacity);
        json.member("empty_polls", worker.ring->empty_polls).end_object();
    } else {
        json.null();
    }
    json.key("mempool");
    if (worker.mempool) {
        json.begin_object()
            .member("free", worker.mempool->free)
            .member("size", worker.mempool->size)
            .end_object();
    } else {
        json.null();
    }
    json.key("rx");
    if (worker.rx) {
        json.begin_object()
            .member("packets", worker.rx->packets)
            .member("sleeps", worker.rx->sleeps)
            .member("interrupts", worker.rx->interrupts)
            .end_object();
    } else {
        json.null();
    }
    json.member("heartbeat", worker.heartbeat);
    json.end_object();
}

// Between which points of time latencies were measured, and the queues that lie there.
void write_latency_points(JsonWriter& json) {
    json.key("latency").begin_object();
    json.member("from", "just before rte_eth_tx_burst").member("to", "just after rte_eth_rx_burst");
    json.key("includes").begin_array();
    for (const char* queue :
         {"packets before it in its batch", "TX ring", "RX ring", "the receiver's turn or sleep"})
        json.value(queue);
    json.end_array().end_object();
}

void write(JsonWriter& json, const LatencyView& latency) {
    json.begin_object().member("count", latency.count).member("min", latency.min);
    json.member("mean", measured(latency.mean)).member("p50", latency.p50).member("p90", latency.p90);
    json.member("p99", latency.p99).member("p99_9", latency.p99_9).member("p99_99", latency.p99_99);
    json.member("max", latency.max).end_object();
}

void write(JsonWriter& json, const StreamRxView& rx) {
    json.begin_object();
    json.member("packets", rx.traffic.packets).member("l2_bytes", rx.traffic.l2_bytes);
    write_rates(json, rx.traffic.rates);
    json.member("lost", rx.lost).member("duplicates", rx.duplicates).member("reordered", rx.reordered);
    json.member("verified", rx.verified).member("corrupted", rx.corrupted);
    json.member("loss_duration_ns", rx.loss_duration_ns);
    json.member("last_loss_duration_ns", rx.last_loss_duration_ns);
    json.key("latency_ns");
    if (rx.latency) {
        write(json, *rx.latency);
    } else {
        json.null();
    }
    json.member("jitter_ns", measured(rx.jitter_ns));
    json.key("interarrival_ns");
    if (rx.interarrival) {
        json.begin_object().member("p50", rx.interarrival->p50).member("p99", rx.interarrival->p99);
        json.member("max", rx.interarrival->max).end_object();
    } else {
        json.null();
    }
    json.end_object();
}

}  // namespace

void write(JsonWriter& json, const StreamView& stream) {
    json.begin_object();
    json.member("name", stream.name).member("port", stream.port).member("state", stream.state);
    json.key("tx").begin_object();
    json.member("packets", stream.tx.packets).member("l2_bytes", stream.tx.l2_bytes);
    write_rates(json, stream.tx.rates);
    json.end_object();
    json.member("target_pps", stream.target_pps).member("rate_error_ppm", measured(stream.rate_error_ppm));
    json.member("shortfall_packets", stream.shortfall_packets);
    json.key("lateness_ns");
    if (stream.lateness) {
        json.begin_object().member("p50", stream.lateness->p50).member("p99", stream.lateness->p99);
        json.member("max", stream.lateness->max);
        if (stream.achieved) {
            json.key("histogram").begin_array();
            for (const LateBucket& bucket : stream.late_histogram) {
                json.begin_object().member("to", bucket.to_ns).member("bursts", bucket.bursts).end_object();
            }
            json.end_array();
        }
        json.end_object();
    } else {
        json.null();
    }
    json.member("late_bursts", stream.late_bursts);
    json.member("slips", stream.slips).member("slipped_packets", stream.slipped_packets);
    json.key("rx");
    if (stream.rx) {
        write(json, *stream.rx);
    } else {
        json.null();
    }
    if (stream.achieved) {
        json.key("achieved_pps").begin_object().member("samples", stream.achieved->samples);
        json.member("mean", measured(stream.achieved->mean))
            .member("stddev", measured(stream.achieved->stddev));
        json.end_object();
    }
    json.end_object();
}

namespace {

template <class Row>
void write_array(JsonWriter& json, std::string_view name, const std::vector<Row>& rows) {
    json.key(name).begin_array();
    for (const Row& row : rows) write(json, row);
    json.end_array();
}

}  // namespace

std::string render_json(const Snapshot& snapshot) {
    std::string out;
    out.reserve(4096 + snapshot.streams.size() * 512);
    JsonWriter json(out);
    json.begin_object();
    json.member("type", snapshot.report ? "report" : "snapshot").member("schema", line_schema);
    json.member("sequence", snapshot.sequence)
        .member("run_id", snapshot.run_id)
        .member("state", snapshot.state);
    json.member("time_unix_ns", snapshot.time_unix_ns).member("monotonic_ns", snapshot.monotonic_ns);
    json.member("generation", snapshot.generation);
    json.key("warnings").begin_array();
    for (const std::string& warning : snapshot.warnings) json.value(warning);
    json.end_array();
    if (snapshot.report) {
        json.member("settled", snapshot.settled);
        write_latency_points(json);
    }
    json.member("duration_ns", snapshot.duration_ns);
    json.key("clock");
    if (snapshot.clock) {
        json.begin_object().member("tsc_hz", snapshot.clock->tsc_hz);
        json.member("checked_ns", snapshot.clock->checked_ns);
        json.member("drift_ppm", measured(snapshot.clock->drift_ppm)).end_object();
    } else {
        json.null();
    }
    json.key("evidence");
    if (snapshot.evidence) {
        json.begin_object().member("file", text(snapshot.evidence->file));
        json.member("written", snapshot.evidence->written).member("dropped", snapshot.evidence->dropped);
        json.member("failed", snapshot.evidence->failed).end_object();
    } else {
        json.null();
    }
    write_array(json, "ports", snapshot.ports);
    write_array(json, "queues", snapshot.queues);
    write_array(json, "workers", snapshot.workers);
    json.key("streams").begin_array();
    for (const StreamView& stream : snapshot.streams) write(json, stream);
    if (snapshot.other) write(json, *snapshot.other);
    json.end_array();
    json.key("publishers").begin_object();
    for (const PublisherView& publisher : snapshot.publishers) {
        json.key(publisher.sink).begin_object().member("dropped_lines", publisher.dropped_lines).end_object();
    }
    json.end_object().end_object();
    out.push_back('\n');
    return out;
}

}  // namespace volley::telemetry
