#pragma once

#include <cstdint>
#include <string>

#include "telemetry/totals.h"

namespace volley::telemetry::example {

inline constexpr std::uint64_t second = 1'000'000'000;

inline StreamTotals stream(std::string name, std::uint64_t packets, Rational target = {1000, 1}) {
    StreamTotals out;
    out.name = std::move(name);
    out.port = "east";
    out.state = "running";
    out.tx = {packets, packets * 60};
    out.target_pps = target;
    return out;
}

/// A port "east" with a queue, a worker and the stream "flood", all of which counted `packets` packets of 60
/// bytes by `seconds` after the start.
inline Totals totals(std::uint64_t seconds, std::uint64_t packets) {
    Totals out;
    out.time_unix_ns = (1'700'000'000 + seconds) * second;
    out.monotonic_ns = (5000 + seconds) * second;
    out.state = "running";
    out.run_id = "lab-1";
    out.generation = 1;
    out.clock = ClockTotals{2'000'000'000, seconds * second, 0.25};
    out.evidence = EvidenceTotals{"/var/lib/volley/evidence/run.pcapng", 3, 1, 2};
    PortTotals port;
    port.name = "east";
    port.device = "net_null0";
    port.driver = "net_null";
    port.tx_path = "default";
    port.link = {true, 10'000'000'000, "", 1'700'000'000 * second};
    port.numa_node = 0;
    port.tx = PortTx{packets, packets * 60, 0, 0, false};
    out.ports.push_back(port);
    out.queues.push_back({"east", 0, 3, packets, packets / 32, packets / 32, 0});
    WorkerTotals worker;
    worker.name = "tx-3";
    worker.lcore = 3;
    worker.role = "tx";
    worker.tx = TxCount{packets, packets * 60};
    worker.busy_cycles = packets * 20;
    worker.total_cycles = seconds * 1'000'000;
    worker.ring = RingTotals{4, 256, seconds};
    worker.mempool = PoolTotals{1000, 2047};
    worker.rx = ReceiverTotals{seconds * 12, seconds * 7, seconds * 5};
    worker.heartbeat = seconds * 100;
    out.workers.push_back(worker);
    out.streams.push_back(stream("flood", packets));
    return out;
}

}  // namespace volley::telemetry::example
