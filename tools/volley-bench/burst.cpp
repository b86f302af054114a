#include "volley-bench/burst.h"

#include <dlfcn.h>
#include <rte_cpuflags.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>

#include "base/tsc.h"
#include "config/load.h"
#include "dpdk/eal.h"
#include "packet/template.h"
#include "port/port.h"
#include "soft82599/control.h"
#include "traffic/pace.h"
#include "volley-bench/burst_clean.h"
#include "volley-bench/burst_fit.h"
#include "volley-bench/machine.h"
#include "worker/lcore_loop.h"
#include "worker/tx_lane.h"

namespace {
bool plain_stores = false;  // the soft NIC's tail register is ordinary memory
}  // namespace

/// Stands before the EAL's own for the drivers: to ordinary memory MOVDIRI costs some 600 cycles, which says
/// nothing of a device's register, so on a soft NIC they write the tail by an ordinary store.
extern "C" int rte_cpu_get_flag_enabled(rte_cpu_flag_t feature) {
    if (plain_stores && feature == RTE_CPUFLAG_MOVDIRI) return 0;
    using Function = int (*)(rte_cpu_flag_t);
    static const auto original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "rte_cpu_get_flag_enabled"));
    return original == nullptr ? 0 : original(feature);
}

namespace volley::bench {
namespace {

constexpr std::uint32_t sample_packets = 256;
constexpr std::uint32_t descriptors = 1024;

/// netdev, September 2014: pktgen on ixgbe, one CPU, Mpps by burst for three interrupt moderations.
const std::map<std::uint32_t, double> posting_usecs_0{{1, 4.9}, {2, 6.6},  {3, 7.9},
                                                      {4, 8.7}, {8, 10.3}, {128, 12.4}};
const std::map<std::uint32_t, double> posting_usecs_1{{1, 3.9}, {4, 3.9}, {100, 3.9}};
const std::map<std::uint32_t, double> posting_usecs_30{{1, 9.2}, {2, 13.6}, {3, 14.5}};
/// What fits its first row within 6 %: nanoseconds a packet, and a tail write.
constexpr double posting_packet_ns = 81;
constexpr double posting_doorbell_ns = 123;

std::unique_ptr<const packet::PacketTemplate> packet_of(const std::string& addresses) {
    const config::Model model = config::parse(
        R"({"version": 1, "ports": [{"name": "p", "device": "net_null0", "tx": {"lcores": [2]}}], "streams": [
            {"name": "s", "port": "p", "rate": "1pps", "packet": {"frame_size": 64, "headers": [{"eth": {}}, {"ipv4": {)" +
            addresses + R"(}}, {"udp": {}}]}}]})",
        "volley-bench");
    auto built = packet::build(model.streams[0].packet);
    return std::move(std::get<0>(built));
}

class Bench {
  public:
    explicit Bench(const BurstOptions& options) : port_(burst_port(options, descriptors)) {
        port_.start(60, "bench");
        const std::string name = options.device.substr(0, options.device.find(','));
        nic_ = soft82599::find_in_plugin(name.c_str());
        pumped_ = options.device.find("mode=plain") != std::string::npos;
        floor_pool_ = std::make_unique<worker::TxPool>("floor", descriptors, 60, port_.socket());
        prefill();
    }
    ~Bench() {
        settle();
        port_.stop();
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    [[nodiscard]] const port::Port& port() const { return port_; }
    [[nodiscard]] std::uint64_t counted_tail_writes() const {
        return nic_ == nullptr || pumped_ ? 0 : nic_->tx_queue(0).tail_writes;
    }

    /// Cycles a packet of the bare loop over one sample.
    double floor(std::uint32_t burst) {
        settle();
        std::array<rte_mbuf*, packet::max_burst> mbufs{};
        std::uint32_t sent = 0;
        const Tsc before = tsc_now();
        while (sent < sample_packets) {
            if (rte_mempool_get_bulk(floor_pool_->get(), reinterpret_cast<void**>(mbufs.data()), burst) < 0)
                break;
            sent += rte_eth_tx_burst(port_.id().value, 0, mbufs.data(), static_cast<std::uint16_t>(burst));
        }
        return static_cast<double>(tsc_now() - before) / std::max(sent, 1U);
    }

    /// The whole road for one packet and burst, which stands still between samples. It lives as long as the
    /// bench, for the queue may hold its buffers.
    class Road {
      public:
        Road(Bench& bench, const packet::PacketTemplate& packet, std::uint32_t burst, const std::string& name)
            : bench_(bench),
              lane_(lane_settings(bench.port_, burst), name, descriptors, 60, bench.port_.socket(),
                    traffic::ticks_of(worker::horizon, tsc_hz()), true),
              schedule_({stream(packet, burst)}, ~Tsc{0}, tsc_hz()) {
            lane_.worker.rows().add(StreamSlot{});
            loop_.add(lane_.worker);
            lane_.lane.offer(&schedule_, 1);
        }
        ~Road() = default;
        Road(const Road&) = delete;
        Road& operator=(const Road&) = delete;

        double sample() {
            bench_.settle();
            const std::uint64_t begin = lane_.worker.counters().packets.get();
            const Tsc before = tsc_now();
            Tsc now = before;
            while (lane_.worker.counters().packets.get() < begin + sample_packets) loop_.turn(now);
            const Tsc after = tsc_now();
            return static_cast<double>(after - before) /
                   static_cast<double>(lane_.worker.counters().packets.get() - begin);
        }
        [[nodiscard]] const worker::TxCounters& counters() const { return lane_.worker.counters(); }

      private:
        static traffic::LaneStream stream(const packet::PacketTemplate& packet, std::uint32_t burst) {
            traffic::LaneStream out;
            out.packet = &packet;
            out.max = true;
            out.burst = burst;
            return out;
        }
        static worker::TxWorker::Settings lane_settings(const port::Port& port, std::uint32_t burst) {
            worker::TxWorker::Settings out;
            out.port = port.id();
            out.flush_threshold = burst;
            out.packets_per_tail_write = port.packets_per_tail_write();
            return out;
        }

        Bench& bench_;
        worker::TxLane lane_;
        traffic::LaneSchedule schedule_;
        worker::LcoreLoop loop_{LcoreId{0}, false};
    };

    Road& road(const std::string& addresses, std::uint32_t burst) {
        packets_.push_back(packet_of(addresses));
        roads_.push_back(
            std::make_unique<Road>(*this, *packets_.back(), burst, std::to_string(roads_.size())));
        return *roads_.back();
    }

  private:
    // Outside of what is timed: the model sends what the driver has queued.
    void settle() {
        if (nic_ != nullptr && pumped_) nic_->pump();
    }

    void prefill() {
        std::vector<rte_mbuf*> all(floor_pool_->size());
        auto* const objects = reinterpret_cast<void**>(all.data());
        const auto count = static_cast<unsigned>(all.size());
        if (rte_mempool_get_bulk(floor_pool_->get(), objects, count) < 0)
            throw std::runtime_error("the floor pool is not full");
        for (rte_mbuf* mbuf : all) {
            rte_pktmbuf_reset(mbuf);
            mbuf->data_len = 60;
            mbuf->pkt_len = 60;
        }
        rte_mempool_put_bulk(floor_pool_->get(), objects, count);
    }

    // They go after the port, which gives the last buffers back as it closes.
    std::unique_ptr<worker::TxPool> floor_pool_;
    std::vector<std::unique_ptr<const packet::PacketTemplate>> packets_;
    std::vector<std::unique_ptr<Road>> roads_;
    port::Port port_;
    soft82599::Port* nic_ = nullptr;
    bool pumped_ = false;
};

/// What one burst size gave.
struct Point {
    Summary floor;
    Summary constant;
    Summary two_fields;
    double tail_writes = 0;  ///< a packet, by our count
    double counted = 0;      ///< a packet, by the model; 0: no model, or one that does not count
};

Point measure(Bench& bench, std::uint32_t burst, unsigned samples) {
    Bench::Road& constant = bench.road("", burst);
    Bench::Road& two = bench.road(R"("src": {"increment": {"from": "10.0.0.1", "to": "10.0.0.254"}},
                                     "dst": {"increment": {"from": "10.1.0.1", "to": "10.1.0.254"}})",
                                  burst);
    std::array<std::vector<double>, 3> cycles;
    std::uint64_t counted = 0;
    for (unsigned i = 0; i < samples; ++i) {
        cycles[0].push_back(bench.floor(burst));
        const std::uint64_t before = bench.counted_tail_writes();
        cycles[1].push_back(constant.sample());
        counted += bench.counted_tail_writes() - before;
        cycles[2].push_back(two.sample());
    }
    const auto packets = static_cast<double>(constant.counters().packets.get());
    Point out;
    // The first samples fill caches and buffers.
    const auto kept = [&](std::vector<double> all) {
        all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 8));
        return summarize(std::move(all));
    };
    out.floor = kept(cycles[0]);
    out.constant = kept(cycles[1]);
    out.two_fields = kept(cycles[2]);
    out.tail_writes = static_cast<double>(constant.counters().tail_writes.get()) / packets;
    out.counted = static_cast<double>(counted) / packets;
    return out;
}

double nanoseconds(double cycles) {
    return cycles * 1e9 / static_cast<double>(tsc_hz());
}

template <class Value>
TableRow row_of(std::string label, const std::vector<Point>& points, const Value& value) {
    TableRow row{std::move(label), {}};
    for (const Point& point : points) row.cells.push_back(value(point));
    return row;
}

Table cycles_table(const std::vector<Point>& points, const std::vector<std::string>& columns,
                   const std::string& path) {
    Table table{"Cost by burst, " + path + " path", "TSC cycles a packet", columns, {}, {}};
    table.rows.push_back(row_of("bare loop", points, [](const Point& p) { return measured(p.floor); }));
    table.rows.push_back(row_of("constant", points, [](const Point& p) { return measured(p.constant); }));
    table.rows.push_back(row_of("two_fields", points, [](const Point& p) { return measured(p.two_fields); }));
    table.rows.push_back(row_of("constant / bare loop", points,
                                [](const Point& p) { return number(p.constant.median / p.floor.median); }));
    table.rows.push_back(row_of("two_fields / bare loop", points,
                                [](const Point& p) { return number(p.two_fields.median / p.floor.median); }));
    table.notes.push_back(
        "The bare loop takes buffers and sends them as they are; the others are the whole road: schedule, "
        "ring, "
        "worker, stamp, tx_burst.");
    return table;
}

Table posting_table(const BurstOptions& options, const std::vector<Point>& points,
                    const std::vector<std::string>& columns) {
    Table table{"The xmit_more posting: what a tail write costs", "", columns, {}, {}};
    table.rows.push_back(row_of("tail writes in 100 packets", points,
                                [](const Point& p) { return number(100 * p.tail_writes); }));
    table.rows.push_back(row_of("  counted by the model", points, [](const Point& p) {
        return p.counted == 0 ? Cell{} : number(100 * p.counted);
    }));
    table.rows.push_back(row_of("Mpps here, as measured", points, [](const Point& p) {
        return number(1000 / nanoseconds(p.constant.median));
    }));
    table.rows.push_back(row_of("Mpps predicted, road here + doorbell", points, [&](const Point& p) {
        return number(1000 / (nanoseconds(p.constant.median) + options.doorbell_ns * p.tail_writes));
    }));
    table.rows.push_back(row_of("Mpps predicted, 81 ns + doorbell", points, [&](const Point& p) {
        return number(1000 / (posting_packet_ns + options.doorbell_ns * p.tail_writes));
    }));
    const auto posted = [&](const std::string& label, const std::map<std::uint32_t, double>& figures) {
        TableRow row{label, {}};
        for (const std::uint32_t burst : options.bursts) {
            const auto at = figures.find(burst);
            row.cells.push_back(at == figures.end() ? Cell{} : number(at->second));
        }
        table.rows.push_back(std::move(row));
    };
    posted("Mpps posted, usecs 0", posting_usecs_0);
    posted("Mpps posted, usecs 1", posting_usecs_1);
    posted("Mpps posted, usecs 30", posting_usecs_30);
    std::vector<double> bursts;
    std::vector<double> costs;
    for (std::size_t i = 0; i < points.size(); ++i) {
        bursts.push_back(options.bursts[i]);
        costs.push_back(nanoseconds(points[i].constant.median));
    }
    const Fit fit = fit_burst(bursts, costs);
    char text[400];
    std::snprintf(
        text, sizeof(text),
        "cost(b) = a + d / b: here a = %.1f ns, d = %.1f ns by least squares over the constant row; the "
        "posting at usecs 0: a = %.0f ns, d = %.0f ns. The doorbell was taken for %.0f ns.",
        fit.a, fit.d, posting_packet_ns, posting_doorbell_ns, options.doorbell_ns);
    table.notes.emplace_back(text);
    table.notes.emplace_back(
        "The kernel writes the tail once a burst, the PMD's fast paths once in 32 packets at the most. What "
        "a "
        "write costs on PCIe, and line rate, need a physical NIC.");
    return table;
}

}  // namespace

config::Port burst_port(const BurstOptions& options, std::uint32_t ring_size) {
    config::Port out;
    out.name = "bench";
    out.device = options.device;
    out.tx = config::TxQueues{};
    out.tx->lcores = {0};
    out.tx->descriptors = ring_size;
    out.tx->rs_thresh = options.rs_thresh;
    return out;
}

int run_burst(const BurstOptions& options) {
    for (const std::uint32_t burst : options.bursts) {
        if (burst == 0 || burst > packet::max_burst)
            throw std::invalid_argument("--burst takes 1 to " + std::to_string(packet::max_burst));
    }
    if (options.bursts.empty()) throw std::invalid_argument("--burst needs at least one number");
    plain_stores = options.device.starts_with("net_soft82599");
    MachineWatch watch(options.short_run);
    dpdk::EalOptions eal;
    eal.name = "volley-bench";
    eal.lcores = "0@" + std::to_string(usable_cpus().back());
    eal.lcore_ids = {0};
    eal.memory_mib = 256;
    if (port::is_pci_address(options.device)) eal.pci = {options.device};
    if (!options.plugin.empty()) eal.plugins = {options.plugin};
    const dpdk::Eal guard(eal);
    Result result;
    result.subcommand = "burst";
    {
        Bench bench(options);
        std::vector<Point> points;
        std::vector<std::string> columns;
        for (const std::uint32_t burst : options.bursts) {
            points.push_back(measure(bench, burst, options.short_run ? 40 : 4000));
            columns.push_back(std::to_string(burst));
        }
        result.tables.push_back(cycles_table(points, columns, bench.port().tx_path()));
        result.tables.push_back(posting_table(options, points, columns));
    }
    for (Table& table : clean_up_tables(options)) result.tables.push_back(std::move(table));
    if (result.tables.size() == 2)
        result.advice.emplace_back(
            "Completion clean-up is left out: it takes the soft 82599 with mode=plain, as --help says.");
    result.machine = watch.finish();
    publish(result, options.files);
    return 0;
}

}  // namespace volley::bench
