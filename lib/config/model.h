#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "packet/model.h"
#include "packet/rotation.h"

namespace volley::config {

/// The configuration as plain values, each default beside its field. contract: docs/configuration.md.
/// Every struct has a `pointer` only where later stages must name the place in a message.

struct Eal {
    std::string lcores;               ///< empty: id = CPU for the lcores in use
    std::string huge_pages = "auto";  ///< auto, yes, no
    std::uint32_t memory_mib = 512;
    std::vector<std::string> plugins;
    std::vector<std::string> args;
    bool operator==(const Eal&) const = default;
};

struct Lcores {
    std::uint32_t control = 0;
    std::uint32_t stats = 1;
    std::optional<std::uint32_t> dispatch;  ///< none: inline dispatch ("auto" without an lcore, or absent)
    bool operator==(const Lcores&) const = default;
};

enum class Start : std::uint8_t { automatic, manual };
enum class WhenDone : std::uint8_t { exit, idle };

struct Run {
    Start start = Start::automatic;
    std::optional<Duration> duration;  ///< none: until every count is sent, or for ever
    WhenDone when_done = WhenDone::exit;
    double multiplier = 1.0;
    Duration settle_time{200'000'000};
    Duration resolve_timeout{3'000'000'000};
    bool operator==(const Run&) const = default;
};

struct TxQueues {
    std::vector<std::uint32_t> lcores;  ///< worker i of the port drives queue i on lcores[i]
    std::uint32_t descriptors = 1024;
    std::uint32_t rs_thresh = 32;
    std::uint32_t free_thresh = 32;
    std::uint32_t flush_threshold = 32;  ///< packets that are submitted in one tx_burst call
    Duration flush_timeout{0};
    std::optional<std::uint32_t> max_frame;
    bool require_fast_path = false;
    bool offload = false;
    std::string idle = "poll";  ///< poll, adaptive
    bool operator==(const TxQueues&) const = default;
};

struct RxQueues {
    std::vector<std::uint32_t> lcores;
    std::uint32_t descriptors = 1024;
    std::string mode = "poll";  ///< poll, adaptive
    bool operator==(const RxQueues&) const = default;
};

struct Port {
    std::string name;
    std::string device;  ///< PCI address, or a vdev with arguments such as "net_null0,copy=0"
    std::optional<std::uint64_t> speed_bps;
    std::optional<std::uint32_t> mtu;
    std::optional<packet::Value> mac;
    bool promiscuous = true;
    std::string flow_control = "none";
    std::optional<Rate> rate;  ///< shared by the port's streams by weight
    bool oversubscribe = false;
    std::vector<std::string> addresses;
    std::optional<std::string> gateway;
    std::optional<std::uint16_t> vlan;
    std::optional<TxQueues> tx;
    std::optional<RxQueues> rx;
    std::string pointer;  ///< "/ports/0"
    bool operator==(const Port&) const = default;
};

/// Part of a rate that changes by steps.
struct RateStep {
    Rate rate;
    Duration span{0};  ///< 0: for ever, the last step only
    bool operator==(const RateStep&) const = default;
};

/// A rate that changes evenly; afterwards it stays at `to`.
struct RateRamp {
    Rate from;
    Rate to;
    Duration span;
    bool operator==(const RateRamp&) const = default;
};

/// Groups of packets at the stream's rate with a gap from the end of one to the begin of the next.
struct Bursts {
    std::uint32_t packets = 1;
    Duration gap{0};
    std::optional<std::uint64_t> count;  ///< groups; none: without end
    bool operator==(const Bursts&) const = default;
};

enum class Departure : std::uint8_t { constant, poisson, jitter };

enum class Timing : std::uint8_t { rate, recorded };

/// What of a stream stays on one worker.
enum class Split : std::uint8_t { burst, flow };

struct PcapSource {
    std::string file;
    Timing timing = Timing::rate;
    double speed = 1.0;               ///< recorded: 2 is twice as fast
    std::uint64_t loop = 1;           ///< times that the file is sent; 0: without end
    bool pad = false;                 ///< fill up what was captured in part
    std::uint32_t memory_mib = 1024;  ///< recorded: a larger file is read while it is sent
    std::vector<packet::LayerField> rewrite;
    bool operator==(const PcapSource&) const = default;
};

/// Packets that do not come from one header stack. At most one of the forms; none: Stream::packet.
struct PacketSource {
    std::optional<std::string> trafgen;  ///< file
    std::optional<PcapSource> pcap;
    std::vector<packet::PacketModel> packets;
    packet::Order order = packet::Order::sequence;
    bool operator==(const PacketSource&) const = default;
    [[nodiscard]] bool any() const { return trafgen || pcap || !packets.empty(); }
};

/// What a run must reach; what is absent is not asked for.
struct Expect {
    std::optional<std::uint64_t> loss;            ///< packets lost or corrupted, at most
    std::optional<std::uint64_t> rate_error_ppm;  ///< below the configured rate, at most
    bool operator==(const Expect&) const = default;
};

struct Stream {
    std::string name;
    std::string port;
    bool enabled = true;
    bool paused = false;  ///< at run time only, no key of the file: keeps its place and sends nothing
    std::optional<Rate> rate;
    std::vector<RateStep> rate_steps;   ///< instead of rate
    std::optional<RateRamp> rate_ramp;  ///< instead of rate
    std::uint32_t weight = 1;
    bool scale = true;                   ///< run.multiplier applies
    std::optional<std::uint32_t> burst;  ///< none: auto
    std::optional<std::uint64_t> count;
    std::optional<std::uint64_t> bytes;
    std::optional<Duration> duration;
    Duration start_delay{0};
    std::optional<std::uint64_t> start_at;  ///< Unix time in ns, instead of start_delay
    std::optional<Bursts> bursts;
    std::string next;        ///< the stream that begins when this one is over; empty: none
    std::uint64_t loop = 1;  ///< times that the chain which begins here is run; 0: endless
    Departure departure = Departure::constant;
    Duration jitter{0};                  ///< departure jitter: each burst leaves up to this later
    bool hardware_pacing = false;        ///< the NIC's limiter holds its queues, not the schedule
    std::vector<std::uint32_t> workers;  ///< indices into the port's tx.lcores; empty: all
    Split split = Split::burst;
    bool signature = false;
    bool latency = false;
    std::uint32_t verify = 0;              ///< one packet in so many is compared; 0: none
    std::optional<std::string> expect_on;  ///< port at which it must arrive; none: any that receives
    Expect expect;
    std::optional<std::string> reverse;  ///< port that sends the same the other way, as NAME.reverse
    bool is_reverse = false;             ///< made by `reverse` of another stream, no entry of the file
    packet::PacketModel packet;          ///< with a source: its `pad` alone counts
    PacketSource source;
    std::string pointer;  ///< "/streams/0"

    /// Its packets keep the times of the capture that they come from.
    [[nodiscard]] bool is_recorded() const { return source.pcap && source.pcap->timing == Timing::recorded; }
    /// A receiver can tell its packets from all others.
    [[nodiscard]] bool is_signed() const {
        return signature || latency || verify != 0 || expect_on || expect.loss;
    }
    bool operator==(const Stream&) const = default;
};

struct Telemetry {
    Duration interval{1'000'000'000};
    std::optional<std::string> file;
    std::optional<std::string> socket = "auto";  ///< path, "auto", or none
    std::uint32_t streams = 256;  ///< streams in full in each line; the rest summed as "_other"
    bool operator==(const Telemetry&) const = default;
};

struct Endpoint {
    std::string address = "127.0.0.1";  ///< numeric
    std::uint16_t port = 0;
    bool operator==(const Endpoint&) const = default;
};
/// "127.0.0.1:9464", "[::1]:9464".
std::string to_text(const Endpoint& endpoint);
/// Whether this machine alone can reach it.
bool is_loopback(const Endpoint& endpoint);

struct Tls {
    std::string certificate;
    std::string key;
    std::optional<std::string> client_ca;
    bool operator==(const Tls&) const = default;
};

struct Service {
    std::optional<std::string> unix_socket = "auto";  ///< path, "auto", or none
    std::optional<Endpoint> http;
    std::optional<Tls> tls;
    std::optional<std::string> tokens;
    bool operator==(const Service&) const = default;
};

/// The packets around what went wrong with a stream, kept in capture files.
struct Evidence {
    std::string folder;
    std::uint32_t packets = 16;        ///< before and after the one that showed it
    std::uint32_t files = 16;          ///< in the folder, a run has one at most; the oldest go
    std::uint64_t bytes = 16'777'216;  ///< of a file
    bool operator==(const Evidence&) const = default;
};

struct Model {
    std::string name = "volley";
    Eal eal;
    Lcores lcores;
    Run run;
    std::vector<Port> ports;
    std::vector<Stream> streams;
    Telemetry telemetry;
    Service service;
    std::optional<Evidence> evidence;  ///< none: nothing is kept
    bool operator==(const Model&) const = default;
};

/// The port of that name, in model.ports; nullptr: none has it.
inline const Port* find_port(const Model& model, std::string_view name) {
    for (const Port& port : model.ports) {
        if (port.name == name) return &port;
    }
    return nullptr;
}

}  // namespace volley::config
