#include "volley-bench/blackhole.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>

#include "base/tsc.h"
#include "dpdk/eal.h"
#include "port/port.h"
#include "volley-bench/machine.h"
#include "volley-bench/ring/queues.h"
#include "volley-bench/rounds.h"
#include "volley-bench/volleyd.h"
#include "worker/tx_pool.h"

namespace volley::bench {
namespace {

constexpr unsigned senders = 2;
constexpr std::uint16_t burst = 32;
constexpr std::uint16_t frame = 60;  // 64 bytes with FCS

/// The posting: 100,000,000 packets by trafgen into dummy, 1 queue and one a CPU, Core i7 at 2.8 GHz.
constexpr double posting_packets = 1e8;
constexpr double posting_one = 22.856;
constexpr double posting_many = 12.080;

struct Outcome {
    double seconds = 0;
    double cycles = 0;    ///< CPU time a packet, of both senders
    double switches = 0;  ///< context switches of both senders
};

struct Sender {
    PortId port;
    std::uint16_t queue = 0;
    worker::TxPool* pool = nullptr;
    SpinLock* lock = nullptr;  ///< none: the queue is this sender's own
    std::uint64_t packets = 0;
    std::atomic<unsigned>* ready = nullptr;
    std::uint64_t cycles = 0;
    std::uint64_t switches = 0;
};

std::uint64_t context_switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
}

std::uint16_t submit(const Sender& self, rte_mbuf** mbufs, std::uint16_t n) {
    if (self.lock == nullptr) return rte_eth_tx_burst(self.port.value, self.queue, mbufs, n);
    self.lock->lock();
    const std::uint16_t done = rte_eth_tx_burst(self.port.value, self.queue, mbufs, n);
    self.lock->unlock();
    return done;
}

int send_all(void* argument) {
    Sender& self = *static_cast<Sender*>(argument);
    self.ready->fetch_add(1, std::memory_order_acq_rel);
    while (self.ready->load(std::memory_order_acquire) != senders) {
    }
    const std::uint64_t switches = context_switches();
    const std::uint64_t before = thread_cycles();
    std::array<rte_mbuf*, burst> mbufs{};
    std::uint16_t waiting = 0;
    for (std::uint64_t sent = 0; sent < self.packets;) {
        if (waiting == 0) {
            if (rte_mempool_get_bulk(self.pool->get(), reinterpret_cast<void**>(mbufs.data()), burst) < 0)
                continue;
            waiting = burst;
        }
        const std::uint16_t done = submit(self, mbufs.data() + (burst - waiting), waiting);
        waiting = static_cast<std::uint16_t>(waiting - done);
        sent += done;
    }
    self.cycles = thread_cycles() - before;
    self.switches = context_switches() - switches;
    return 0;
}

std::unique_ptr<worker::TxPool> filled_pool(const std::string& name) {
    auto pool = std::make_unique<worker::TxPool>(name, 1024, frame, 0);
    std::vector<rte_mbuf*> all(pool->size());
    if (rte_mempool_get_bulk(pool->get(), reinterpret_cast<void**>(all.data()),
                             static_cast<unsigned>(all.size())) < 0)
        throw std::runtime_error("the pool is not full");
    for (rte_mbuf* mbuf : all) {
        rte_pktmbuf_reset(mbuf);
        std::memset(rte_pktmbuf_mtod(mbuf, void*), 0xff, frame);
        mbuf->data_len = frame;
        mbuf->pkt_len = frame;
    }
    rte_mempool_put_bulk(pool->get(), reinterpret_cast<void**>(all.data()),
                         static_cast<unsigned>(all.size()));
    return pool;
}

class BlackholeBench {
  public:
    explicit BlackholeBench(const BlackholeOptions& options) : options_(options), watch_(options.short_run) {}

    Result run() {
        result_.subcommand = "blackhole";
        const std::string sink = make_kernel_sink();
        dpdk::EalOptions eal;
        eal.name = "volley-bench";
        eal.lcores = usable_cpus().size() > 1 ? "0@0,1@1" : "0@0,1@0";
        eal.memory_mib = 256;
        const dpdk::Eal guard(eal);
        for (unsigned i = 0; i < senders; ++i) pools_.push_back(filled_pool("hole" + std::to_string(i)));
        null_device();
        if (!sink.empty()) kernel_device(sink);
        pools_.clear();  // before the EAL goes, whose memory they are
        result_.machine = watch_.finish();
        return std::move(result_);
    }

  private:
    static Table table(const std::string& name) {
        Table out;
        out.name = name;
        out.columns = {"seconds", "Mpps", "cycles a packet", "context switches"};
        return out;
    }

    // The kernel's own blackhole with two transmit queues: dummy, or ifb, which drops and counts what is sent
    // to it. Empty, with the reason in the advice, where there is neither.
    std::string make_kernel_sink() {
        try {
            enter_private_network();
        } catch (const std::exception& error) {
            result_.advice.push_back(std::string("The kernel's device is left out: ") + error.what() + ".");
            return "";
        }
        for (const char* kind : {"dummy", "ifb"}) {
            if (test::run({"ip", "link", "add", "hole", "numtxqueues", "2", "type", kind}).status != 0)
                continue;
            ip({"link", "set", "hole", "up"});
            if (std::string(kind) == "ifb")
                result_.advice.emplace_back(
                    "This kernel has no dummy device: ifb stands for it, which drops what is sent to it.");
            return kind;
        }
        result_.advice.emplace_back("This kernel has neither dummy nor ifb: its rows are left out.");
        return "";
    }

    static std::unique_ptr<port::Port> start(const std::string& device, unsigned queues) {
        config::Port settings;
        settings.name = "hole";
        settings.device = device;
        settings.tx = config::TxQueues{};
        for (unsigned i = 0; i < queues; ++i) settings.tx->lcores.push_back(i);
        auto port = std::make_unique<port::Port>(settings);
        port->start(frame, "bench");
        return port;
    }

    Outcome once(std::array<Sender, senders> all, std::uint64_t packets) {
        std::atomic<unsigned> ready{0};
        for (unsigned i = 0; i < senders; ++i) {
            all[i].pool = pools_[i].get();
            all[i].packets = packets / senders;
            all[i].ready = &ready;
        }
        dpdk::launch(LcoreId{1}, send_all, &all[1]);
        const Tsc before = tsc_now();
        send_all(all.data());
        dpdk::wait_lcore(LcoreId{1});
        Outcome out;
        out.seconds = static_cast<double>(tsc_now() - before) / static_cast<double>(tsc_hz());
        out.cycles = static_cast<double>(all[0].cycles + all[1].cycles) / static_cast<double>(packets);
        out.switches = static_cast<double>(all[0].switches + all[1].switches);
        return out;
    }

    TableRow row(const std::string& label, const std::array<Sender, senders>& all, std::uint64_t packets) {
        std::vector<double> seconds;
        std::vector<double> rate;
        std::vector<double> cycles;
        std::vector<double> switches;
        for (unsigned i = 0; i < (options_.short_run ? 1 : options_.repetitions); ++i) {
            const Outcome outcome = once(all, packets);
            seconds.push_back(outcome.seconds);
            rate.push_back(static_cast<double>(packets) / outcome.seconds / 1e6);
            cycles.push_back(outcome.cycles);
            switches.push_back(outcome.switches);
        }
        return {label,
                {measured(summarize(seconds)), measured(summarize(rate)), measured(summarize(cycles)),
                 measured(summarize(switches))}};
    }

    // The two rows of the posting: both senders on one locked queue of the device, then each on its own.
    void add_queues(Table& out, const std::string& device, std::uint64_t packets) {
        SpinLock lock;
        const auto port = start(device, senders);
        std::array<Sender, senders> all{};
        all[0].port = all[1].port = port->id();
        all[0].lock = all[1].lock = &lock;
        out.rows.push_back(row("one queue, locked", all, packets));
        all[0].lock = all[1].lock = nullptr;
        all[1].queue = 1;
        out.rows.push_back(row("a queue a sender", all, packets));
    }

    void null_device() {
        const std::uint64_t packets = options_.short_run ? 64'000 : options_.packets;
        Table out = table("net_null, 2 senders, " + std::to_string(packets) + " packets of 64 bytes");
        add_queues(out, "net_null0,copy=0,no-rx=1", packets);
        {
            const auto a = start("net_null1,copy=0,no-rx=1", 1);
            const auto b = start("net_null2,copy=0,no-rx=1", 1);
            std::array<Sender, senders> all{};
            all[0].port = a->id();
            all[1].port = b->id();
            out.rows.push_back(row("a port a sender", all, packets));
        }
        add_posting(out);
        out.notes.emplace_back("The review's advice of 2014, several dummies, is the last row but two.");
        result_.tables.push_back(std::move(out));
    }

    void kernel_device(const std::string& kind) {
        const std::uint64_t packets = options_.short_run ? 6'400 : options_.packets / 20;
        Table out = table("the kernel's " + kind + " by af_packet, 2 senders, " + std::to_string(packets) +
                          " packets of 64 bytes");
        add_queues(out, "net_af_packet0,iface=hole,qpairs=2,qdisc_bypass=1", packets);
        add_posting(out);
        result_.tables.push_back(std::move(out));
    }

    static void add_posting(Table& table) {
        table.rows.push_back(
            {"the posting: dummy, 1 queue",
             {number(posting_one), number(posting_packets / posting_one / 1e6), number(2933), number(831)}});
        table.rows.push_back({"the posting: dummy, a queue a CPU",
                              {number(posting_many), number(posting_packets / posting_many / 1e6),
                               number(1512), number(400)}});
        table.notes.emplace_back(
            "The posting sends 100,000,000 packets through the kernel's packet socket; cycles there are the "
            "CPU's own, here TSC cycles of CPU time.");
    }

    const BlackholeOptions& options_;
    MachineWatch watch_;
    Result result_;
    std::vector<std::unique_ptr<worker::TxPool>> pools_;
};

}  // namespace

int run_blackhole(const BlackholeOptions& options) {
    publish(BlackholeBench(options).run(), options.files);
    return 0;
}

}  // namespace volley::bench
