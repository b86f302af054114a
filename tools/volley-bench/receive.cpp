#include "volley-bench/receive.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <rte_log.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "dpdk/eal.h"
#include "port/port.h"
#include "volley-bench/volleyd.h"
#include "worker/lcore_loop.h"

namespace volley::bench {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr LcoreId receiver_lcore{1};
constexpr std::size_t frame_bytes = 60;  // 64 with the FCS, which a tap has not

/// The posting: packets per second of the receiver and CPUs that the machine spent, before and after.
struct Posted {
    const char* label;
    double pps;
    double cpus;
};
constexpr Posted posting[]{{"the thread: arms first, one socket", 731'000, 1.50},
                           {"the thread: reads first, one socket", 783'000, 1.53},
                           {"the thread: arms first, two sockets", 558'000, 1.71},
                           {"the thread: reads first, two sockets", 690'000, 1.67}};

/// A tap interface of this namespace, whose frames come and go by read() and write().
Fd open_tap(const std::string& name, bool blocking) {
    Fd fd(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | (blocking ? 0 : O_NONBLOCK)));
    if (!fd) throw std::system_error(errno, std::generic_category(), "/dev/net/tun");
    ifreq request{};
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    name.copy(request.ifr_name, sizeof(request.ifr_name) - 1);
    if (::ioctl(fd.get(), TUNSETIFF, &request) != 0)
        throw std::system_error(errno, std::generic_category(), "tap " + name);
    return fd;
}

void join_bridge(const std::string& tap) {
    std::ofstream("/proc/sys/net/ipv6/conf/" + tap + "/disable_ipv6") << 1;
    ip({"link", "set", tap, "master", "br0"});
    ip({"link", "set", tap, "up"});
}

// Ethernet, IPv4 and UDP: one flow, to a station that the bridge has never heard, so it floods.
std::array<std::uint8_t, frame_bytes> udp_frame() {
    std::array<std::uint8_t, frame_bytes> out{0x02, 0, 0,   0,  0, 2, 0x02, 0, 0,  0,  0, 1, 0x08, 0,
                                              0x45, 0, 0,   46, 0, 0, 0,    0, 64, 17, 0, 0, 198,  18,
                                              0,    1, 198, 18, 0, 2, 0x04, 0, 0,  9,  0, 26};
    std::uint32_t sum = 0;
    for (std::size_t i = 14; i < 34; i += 2) sum += std::uint32_t{out[i]} << 8 | out[i + 1];
    while (sum >> 16 != 0) sum = (sum >> 16) + (sum & 0xffff);
    out[24] = static_cast<std::uint8_t>(~sum >> 8);
    out[25] = static_cast<std::uint8_t>(~sum);
    return out;
}

std::uint64_t thread_ns() {
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/// What a thread did until it was told to stop.
struct Done {
    std::uint64_t packets = 0;
    std::uint64_t cpu_ns = 0;
};

/// Takes packets from the interface "sink" while it lives.
class Consumer {
  public:
    virtual ~Consumer() = default;
    virtual Done stop() = 0;
};

/// Volley's receiver on DPDK's tap driver.
class Receiver : public Consumer {
  public:
    Receiver(const port::Port& port, bool adaptive) : worker_(port.id(), QueueId{0}) {
        table_.number = 1;
        worker_.offer(&table_);
        loop_.add(worker_);
        if (adaptive) loop_.set_adaptive(port.rx_interrupts());
        dpdk::launch(
            receiver_lcore,
            [](void* self) {
                static_cast<Receiver*>(self)->run();
                return 0;
            },
            this);
    }
    ~Receiver() override {
        if (!stopped_) finish();
    }
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;

    Done stop() override {
        finish();
        return {worker_.counters().packets.get(), cpu_ns_};
    }

  private:
    void run() {
        const std::uint64_t before = thread_ns();
        loop_.run();
        cpu_ns_ = thread_ns() - before;
    }
    void finish() {
        loop_.stop();
        dpdk::wait_lcore(receiver_lcore);
        stopped_ = true;
    }

    worker::RxTable table_;
    worker::RxWorker worker_;
    worker::LcoreLoop loop_{receiver_lcore, false};
    std::uint64_t cpu_ns_ = 0;
    bool stopped_ = false;
};

/// A program that reads one frame a call: `arms` waits for each by poll() before it looks for it.
class Reader : public Consumer {
  public:
    explicit Reader(bool arms) : tap_(open_tap("sink", false)), arms_(arms) {
        join_bridge("sink");
        thread_ = std::thread([this] { run(); });
    }
    ~Reader() override { finish(); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    Done stop() override {
        finish();
        return done_;
    }

  private:
    void run() {
        pin(static_cast<unsigned>(usable_cpus().size()) - 1);
        const std::uint64_t before = thread_ns();
        std::uint8_t frame[2048];
        while (!stop_.load(std::memory_order_relaxed)) {
            if (arms_) wait();
            if (::read(tap_.get(), frame, sizeof(frame)) > 0) {
                ++done_.packets;
            } else if (!arms_) {
                wait();
            }
        }
        done_.cpu_ns = thread_ns() - before;
    }
    void wait() const {
        pollfd waited{tap_.get(), POLLIN, 0};
        ::poll(&waited, 1, 10);
    }
    void finish() {
        stop_ = true;
        if (thread_.joinable()) thread_.join();
    }

    Fd tap_;
    const bool arms_;
    Done done_;
    std::atomic<bool> stop_{false};  ///< written by the main thread
    std::thread thread_;
};

struct Samples {
    std::vector<double> goodput;
    std::vector<double> offered;
    std::vector<double> cpus;
    std::vector<double> ns;
};

/// Of the repetitions with or without load.
struct Beside {
    std::vector<double> median;
    std::vector<double> most;
    std::vector<double> load;
};

class ReceiveBench {
  public:
    explicit ReceiveBench(const ReceiveOptions& options) : options_(options), watch_(options.short_run) {}

    Result run() {
        result_.subcommand = "receive";
        table_.name = "generator, tap, bridge, tap, receiver: one flow of 64 bytes, flat out";
        table_.columns = {"goodput pps", "offered pps", "CPUs", "CPU-ns a packet"};
        if (prepare()) measure();
        for (const Posted& row : posting) {
            table_.rows.push_back(
                {row.label, {number(row.pps), {}, number(row.cpus), number(row.cpus / row.pps * 1e9)}});
        }
        table_.notes.emplace_back(
            "CPUs: CPU time of the generator's and the receiver's thread by wall time; the bridge runs in "
            "the generator's. A receiver that polls takes a whole CPU whatever comes.");
        table_.notes.emplace_back(
            "The generator writes one frame a call on the first CPU, the receiver has the last. The "
            "kernel's own change of May 2014 is in all kernels since; here the same order is kept or not by "
            "the reading program.");
        result_.tables.push_back(std::move(table_));
        latency_beside_load();
        result_.machine = watch_.finish();
        return std::move(result_);
    }

  private:
    // False when this kernel lacks what it takes; the table says so.
    bool prepare() {
        if (::access("/dev/net/tun", R_OK | W_OK) != 0) {
            table_.notes.emplace_back("/dev/net/tun is missing (modprobe tun): nothing was measured here.");
            return false;
        }
        enter_private_network();
        try {
            ip({"link", "add", "name", "br0", "type", "bridge"});
        } catch (const std::runtime_error&) {
            table_.notes.emplace_back("This kernel has no bridge (modprobe bridge): nothing was measured.");
            return false;
        }
        std::ofstream("/proc/sys/net/ipv6/conf/br0/disable_ipv6") << 1;
        ip({"link", "set", "br0", "up"});
        source_ = open_tap("source", true);
        join_bridge("source");
        return true;
    }

    void measure() {
        dpdk::EalOptions eal;
        eal.name = "volley-bench";
        eal.lcores =
            "0@" + std::to_string(usable_cpus().front()) + ",1@" + std::to_string(usable_cpus().back());
        eal.memory_mib = 128;
        const dpdk::Eal guard(eal);
        // The driver complains of kernel features that rte_flow would need.
        rte_log_set_level_pattern("pmd.net.tap*", RTE_LOG_CRIT);
        {
            config::Port settings;
            settings.name = "sink";
            settings.device = "net_tap0,iface=sink";
            settings.rx = config::RxQueues{};
            settings.rx->lcores = {receiver_lcore.value};
            settings.rx->mode = "adaptive";
            port::Port port(settings);
            port.start(1514, "bench");
            join_bridge("sink");
            add_row("poll", [&] { return std::make_unique<Receiver>(port, false); });
            add_row("adaptive", [&] { return std::make_unique<Receiver>(port, true); });
        }
        add_row("program: arms, then reads", [] { return std::make_unique<Reader>(true); });
        add_row("program: reads, then waits", [] { return std::make_unique<Reader>(false); });
    }

    void add_row(const std::string& label, const std::function<std::unique_ptr<Consumer>()>& start) {
        Samples samples;
        for (unsigned i = 0; i < (options_.short_run ? 1 : options_.repetitions); ++i) {
            const auto from = Clock::now();
            const auto consumer = start();
            const Done sent = generate();
            const Done got = consumer->stop();
            const double seconds = std::chrono::duration<double>(Clock::now() - from).count();
            if (got.packets == 0) throw std::runtime_error(label + ": not a packet came through the bridge");
            const auto cpu_ns = static_cast<double>(sent.cpu_ns + got.cpu_ns);
            samples.goodput.push_back(static_cast<double>(got.packets) / seconds);
            samples.offered.push_back(static_cast<double>(sent.packets) / seconds);
            samples.cpus.push_back(cpu_ns / 1e9 / seconds);
            samples.ns.push_back(cpu_ns / static_cast<double>(got.packets));
        }
        table_.rows.push_back({label,
                               {measured(summarize(samples.goodput)), measured(summarize(samples.offered)),
                                measured(summarize(samples.cpus)), measured(summarize(samples.ns))}});
    }

    // A stream of 1000 packets per second on queue 1 of a net_ring, alone and beside one that sends flat out
    // on queue 0; each queue has an lcore that sends and receives in turn.
    void latency_beside_load() {
        Table table;
        table.name = "latency of a stream of 1000 pps on a queue of its own, net_ring";
        table.unit = "ns";
        table.columns = {"median", "99 %", "load pps"};
        std::array<Beside, 2> seen;
        for (unsigned i = 0; i < (options_.short_run ? 1 : options_.repetitions); ++i) {
            for (const bool loaded : {false, true}) {
                VolleydRun run(latency_config(loaded), options_.short_run ? "300ms" : "2s");
                run.process().wait();
                const json report = run.report();
                const json& streams = report.at("streams");
                const json& latency = streams.at(0).at("rx").at("latency_ns");
                if (!latency.is_object()) throw std::runtime_error("no packet of the latency stream came");
                seen[loaded].median.push_back(latency.at("p50").get<double>());
                seen[loaded].most.push_back(latency.at("p99").get<double>());
                seen[loaded].load.push_back(loaded ? streams.at(1).at("tx").at("packets").get<double>() *
                                                         1e9 / report.at("duration_ns").get<double>()
                                                   : 0);
            }
        }
        for (const bool loaded : {false, true}) {
            const Beside& of = seen[loaded];
            table.rows.push_back({loaded ? "beside max on another queue" : "alone",
                                  {measured(summarize(of.median)), measured(summarize(of.most)),
                                   measured(summarize(of.load))}});
        }
        const double alone = summarize(seen[0].median).median;
        table.rows.push_back(
            {"ratio", {number(alone > 0 ? summarize(seen[1].median).median / alone : 0), {}, {}}});
        table.notes.emplace_back(
            "From just before rte_eth_tx_burst to just after rte_eth_rx_burst: it holds the rings and the "
            "turn "
            "of the lcore.");
        result_.tables.push_back(std::move(table));
    }

    static json latency_config(bool loaded) {
        const json packet{{"frame_size", 64},
                          {"headers", json::array({{{"eth", json::object()}},
                                                   {{"ipv4", json::object()}},
                                                   {{"udp", json::object()}}})}};
        json streams = json::array({{{"name", "probe"},
                                     {"port", "bench"},
                                     {"rate", "1000pps"},
                                     {"latency", true},
                                     {"packet", packet}}});
        if (loaded)
            streams.push_back({{"name", "load"}, {"port", "bench"}, {"rate", "max"}, {"packet", packet}});
        const json lcores = json::array({2, 3});
        json out = volleyd_config("net_ring0", streams, {{"lcores", lcores}});
        out["ports"][0]["rx"] = {{"lcores", lcores}};
        out["eal"]["lcores"] =
            out["eal"]["lcores"].get<std::string>() + ",3@" + std::to_string(usable_cpus().front());
        return out;
    }

    // Flat out, on a thread of its own.
    Done generate() {
        Done out;
        std::thread thread([&] {
            pin(0);
            const auto frame = udp_frame();
            const std::uint64_t before = thread_ns();
            const auto end =
                Clock::now() + std::chrono::duration<double>(options_.short_run ? 0.1 : options_.seconds);
            while (Clock::now() < end) {
                for (unsigned i = 0; i < 64; ++i)
                    out.packets += ::write(source_.get(), frame.data(), frame.size()) > 0 ? 1 : 0;
            }
            out.cpu_ns = thread_ns() - before;
        });
        thread.join();
        return out;
    }

    const ReceiveOptions& options_;
    MachineWatch watch_;
    Result result_;
    Table table_;
    Fd source_;
};

}  // namespace

int run_receive(const ReceiveOptions& options) {
    publish(ReceiveBench(options).run(), options.files);
    return 0;
}

}  // namespace volley::bench
