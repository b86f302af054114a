#include "telemetry/report.h"

#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "telemetry/arithmetic.h"
#include "telemetry/derive.h"
#include "telemetry/earlier.h"
#include "telemetry/rx_view.h"

namespace volley::telemetry {
namespace {

struct Sum {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;

    void add(std::uint64_t more_packets, std::uint64_t more_bytes) {
        packets = saturating_add(packets, more_packets);
        bytes = saturating_add(bytes, more_bytes);
    }
};

void compare(std::vector<std::string>& out, const std::string& who, std::uint64_t own,
             const std::string& others, std::uint64_t sum, std::string_view unit) {
    if (own == sum) return;
    out.push_back(who + " sent " + std::to_string(own) + " " + std::string(unit) + ", " + others + " " +
                  std::to_string(sum));
}

// In a settled report nothing is under way: what was sent and has not come is lost.
void count_tails(Snapshot& report, const Totals& base, const Totals& now) {
    Earlier earlier(base.streams);
    std::map<std::string_view, StreamView*> views;
    for (StreamView& view : report.streams) views[view.name] = &view;
    for (std::size_t i = 0; i < now.streams.size(); ++i) {
        const StreamTotals& stream = now.streams[i];
        const auto view = views.find(stream.name);
        if (!stream.rx || view == views.end() || !view->second->rx) continue;
        const StreamTotals& before = earlier.find(i, stream);
        view->second->rx->lost = rx_view(before.rx.value_or(StreamRxTotals{}), *stream.rx, true).lost;
    }
}

}  // namespace

void RateHistory::sample(const Totals& previous, const Totals& now) {
    const std::uint64_t elapsed = since(previous.monotonic_ns, now.monotonic_ns);
    const bool begun = previous.monotonic_ns >= now.run_started_ns.value_or(0);
    const bool ended = now.run_ended_ns && now.monotonic_ns > *now.run_ended_ns;
    if (elapsed == 0 || !begun || ended) return;
    Earlier earlier(previous.streams);
    for (std::size_t i = 0; i < now.streams.size(); ++i) {
        const StreamTotals& stream = now.streams[i];
        const StreamTotals& before = earlier.find(i, stream);
        if (stream.state != "running" || before.state != "running") continue;
        const auto packets = static_cast<double>(since(before.tx.packets, stream.tx.packets));
        const double rate = packets * 1e9 / static_cast<double>(elapsed);
        Moments& moments = streams_[stream.name];
        ++moments.samples;
        const double distance = rate - moments.mean;
        moments.mean += distance / static_cast<double>(moments.samples);
        moments.squares += distance * (rate - moments.mean);
    }
}

RateSamples RateHistory::of(const std::string& stream) const {
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return {};
    const Moments& moments = found->second;
    RateSamples out{moments.samples, moments.mean, std::nullopt};
    if (moments.samples > 1)
        out.stddev = std::sqrt(moments.squares / static_cast<double>(moments.samples - 1));
    return out;
}

Snapshot make_report(const Totals& base, const Totals& now, const RateHistory& history, bool settled) {
    Snapshot out = derive(base, base, now, run_duration(base, now), std::numeric_limits<std::size_t>::max());
    out.report = true;
    out.settled = settled;
    for (StreamView& stream : out.streams) stream.achieved = history.of(stream.name);
    if (settled) {
        count_tails(out, base, now);
        for (std::string& text : disagreements(out)) out.warnings.push_back(std::move(text));
    }
    return out;
}

namespace {

// What receivers took is what they knew and what they did not. A stream that was sent is received or lost.
void compare_received(std::vector<std::string>& out, const Snapshot& report) {
    std::uint64_t ports = 0;
    std::uint64_t streams = 0;
    bool receives = false;
    for (const PortView& port : report.ports) {
        if (!port.rx) continue;
        receives = true;
        ports = saturating_add(ports, since(port.rx->unmatched, port.rx->traffic.packets));
    }
    for (const StreamView& stream : report.streams) {
        if (!stream.rx) continue;
        const StreamRxView& rx = *stream.rx;
        streams = saturating_add(streams, rx.traffic.packets);
        const std::uint64_t arrived = since(rx.duplicates, rx.traffic.packets);
        compare(out, "stream " + stream.name, rx.sent, "of them received or lost",
                saturating_add(arrived, rx.lost), "packets");
    }
    if (receives && ports != streams) {
        out.push_back("the ports received " + std::to_string(ports) + " packets of streams, the streams " +
                      std::to_string(streams));
    }
}

}  // namespace

std::vector<std::string> disagreements(const Snapshot& report) {
    std::vector<std::string> out;
    std::map<std::string_view, Sum> by_queue;
    std::map<std::string_view, Sum> by_stream;
    Sum ports;
    Sum workers;
    Sum streams;
    for (const QueueView& queue : report.queues) by_queue[queue.port].add(queue.packets, 0);
    for (const StreamView& stream : report.streams) {
        by_stream[stream.port ? std::string_view(*stream.port) : std::string_view()].add(stream.tx.packets,
                                                                                         stream.tx.bytes);
        streams.add(stream.tx.packets, stream.tx.bytes);
    }
    for (const WorkerView& worker : report.workers) {
        if (worker.tx) workers.add(worker.tx->packets, worker.tx->bytes);
    }
    for (const PortView& port : report.ports) {
        if (!port.tx) continue;
        const Traffic& own = port.tx->traffic;
        const std::string who = "port " + port.name;
        ports.add(own.packets, own.bytes);
        compare(out, who, own.packets, "its queues", by_queue[port.name].packets, "packets");
        compare(out, who, own.packets, "its streams", by_stream[port.name].packets, "packets");
        compare(out, who, own.bytes, "its streams", by_stream[port.name].bytes, "bytes");
    }
    compare_received(out, report);
    compare(out, "the ports", ports.packets, "the workers", workers.packets, "packets");
    compare(out, "the ports", ports.bytes, "the workers", workers.bytes, "bytes");
    compare(out, "the ports", ports.packets, "the streams", streams.packets, "packets");
    compare(out, "the ports", ports.bytes, "the streams", streams.bytes, "bytes");
    return out;
}

}  // namespace volley::telemetry
