#include "volley-bench/burst_clean.h"

#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "base/tsc.h"
#include "packet/template.h"
#include "port/port.h"
#include "soft82599/control.h"
#include "worker/tx_pool.h"

namespace volley::bench {
namespace {

constexpr std::uint16_t frame = 60;
/// The posting's packets cost 81 ns, its tail writes what --doorbell says.
constexpr double packet_ns = 81;

struct Setting {
    std::uint32_t descriptors = 1024;
    std::uint32_t free_thresh = 32;
    std::uint32_t burst = 32;
    double report_ns = 0;  ///< from one report of sent descriptors to the next
};

struct Outcome {
    double cycles = 0;  ///< TSC cycles in tx_burst, a packet
    double mpps = 0;
    double full = 0;   ///< of 100 calls: those of which not all was taken
    double empty = 0;  ///< of 100 calls: those that found nothing waiting in the ring
};

std::string name_of(const BurstOptions& options) {
    return options.device.substr(0, options.device.find(','));
}

// The model stays on its bus when its port goes; the next setting wants a fresh one.
void unplug(const BurstOptions& options) {
    rte_eal_hotplug_remove("vdev", name_of(options).c_str());
}

class CleanUp {
  public:
    CleanUp(const BurstOptions& options, const Setting& setting)
        : setting_(setting),
          doorbell_ns_(options.doorbell_ns),
          pool_("clean", setting.descriptors, frame, 0),
          port_(port_settings(options, setting)) {
        port_.start(frame, "bench");
        nic_ = soft82599::find_in_plugin(name_of(options).c_str());
        if (nic_ == nullptr) throw std::runtime_error("no soft NIC " + name_of(options));
    }
    ~CleanUp() {
        nic_->pump();
        port_.stop();
    }
    CleanUp(const CleanUp&) = delete;
    CleanUp& operator=(const CleanUp&) = delete;

    Outcome run(std::uint64_t packets) {
        std::array<rte_mbuf*, packet::max_burst> mbufs{};
        std::uint32_t waiting = 0;
        std::uint64_t sent = 0;
        std::uint64_t calls = 0;
        std::uint64_t full = 0;
        std::uint64_t empty = 0;
        Tsc in_driver = 0;
        const double start_ns = clock_ns_;
        while (sent < packets) {
            report();
            if (waiting == 0) {
                if (!take(mbufs.data())) break;
                waiting = setting_.burst;
            }
            ++calls;
            empty += unreported_ == 0 ? 1 : 0;
            const Tsc before = tsc_now();
            const std::uint16_t done =
                rte_eth_tx_burst(port_.id().value, 0, mbufs.data() + (setting_.burst - waiting),
                                 static_cast<std::uint16_t>(waiting));
            in_driver += tsc_now() - before;
            sent += done;
            waiting -= done;
            full += waiting != 0 ? 1 : 0;
            pass(done, waiting != 0);
        }
        rte_pktmbuf_free_bulk(mbufs.data() + (setting_.burst - waiting), waiting);
        const auto count = static_cast<double>(std::max<std::uint64_t>(sent, 1));
        Outcome out;
        out.cycles = static_cast<double>(in_driver) / count;
        out.mpps = 1000 * count / (clock_ns_ - start_ns);
        out.full = 100 * static_cast<double>(full) / static_cast<double>(calls);
        out.empty = 100 * static_cast<double>(empty) / static_cast<double>(calls);
        return out;
    }

  private:
    static config::Port port_settings(const BurstOptions& options, const Setting& setting) {
        config::Port out = burst_port(options, setting.descriptors);
        out.tx->free_thresh = setting.free_thresh;
        return out;
    }

    bool take(rte_mbuf** mbufs) {
        if (rte_pktmbuf_alloc_bulk(pool_.get(), mbufs, setting_.burst) != 0) return false;
        for (std::uint32_t i = 0; i < setting_.burst; ++i) {
            mbufs[i]->data_len = frame;
            mbufs[i]->pkt_len = frame;
        }
        return true;
    }

    // The simulated clock: what the packets and their tail writes cost; a full ring waits for the next
    // report.
    void pass(std::uint32_t packets, bool full) {
        const std::uint32_t chunk = port_.packets_per_tail_write();
        const std::uint32_t writes = chunk != 0 ? (packets + chunk - 1) / chunk : (packets != 0 ? 1U : 0U);
        clock_ns_ += packets * packet_ns + writes * doorbell_ns_;
        unreported_ += packets;
        if (full) clock_ns_ = std::max(clock_ns_, next_ns_);
    }

    void report() {
        if (clock_ns_ < next_ns_) return;
        nic_->pump();
        unreported_ = 0;
        next_ns_ = clock_ns_ + setting_.report_ns;
    }

    const Setting setting_;
    const double doorbell_ns_;
    worker::TxPool pool_;  // goes after the port, which gives the last buffers back
    port::Port port_;
    soft82599::Port* nic_ = nullptr;
    double clock_ns_ = 0;
    double next_ns_ = 0;
    std::uint64_t unreported_ = 0;
};

Table by_ring(const BurstOptions& options) {
    constexpr double report_ns = 30'000;
    Table table{"Completion clean-up by descriptors x free_thresh, burst 32",
                "",
                {"cycles a packet in tx_burst", "Mpps", "ring full in 100 calls", "ring empty in 100 calls"},
                {},
                {}};
    for (const std::uint32_t descriptors : {64U, 128U, 512U, 1024U, 4096U}) {
        for (const std::uint32_t free_thresh : {32U, 64U, 256U}) {
            if (options.rs_thresh + free_thresh > descriptors) continue;
            std::vector<double> cycles;
            Outcome last;
            {
                CleanUp bench(options, {descriptors, free_thresh, 32, report_ns});
                for (unsigned i = 0; i < (options.short_run ? 1U : 9U); ++i) {
                    last = bench.run(options.short_run ? 2'000 : 20'000);
                    cycles.push_back(last.cycles);
                }
            }
            unplug(options);
            table.rows.push_back(
                {std::to_string(descriptors) + " x " + std::to_string(free_thresh),
                 {measured(summarize(cycles)), number(last.mpps), number(last.full), number(last.empty)}});
        }
    }
    table.notes.emplace_back(
        "The NIC reports what it has sent every 30 us of a simulated clock, on which a packet takes 81 ns "
        "and a tail write the doorbell's time. A ring holds what is sent between two reports, or it is full "
        "and the sender waits: descriptors by time is the highest rate.");
    return table;
}

// The posting's middle row.
Table by_burst(const BurstOptions& options) {
    constexpr double report_ns = 125'000;
    Table table{
        "Why the posting's usecs 1 gives 3.9 Mpps at any burst: 512 descriptors, reported every 125 us",
        "",
        {"Mpps", "ring full in 100 calls", "Mpps posted, usecs 1"},
        {},
        {}};
    for (const std::uint32_t burst : {1U, 4U, 32U, 100U}) {
        const Outcome outcome = CleanUp(options, {512, 32, burst, report_ns}).run(20'000);
        unplug(options);
        table.rows.push_back(
            {"burst " + std::to_string(burst),
             {number(outcome.mpps), number(outcome.full), burst == 32 ? Cell{} : number(3.9)}});
    }
    table.notes.emplace_back(
        "usecs 1 means dynamic moderation to the kernel's ixgbe, whose slowest pace was 8,000 interrupts a "
        "second, and sent packets were freed in them. Its 512 descriptors less the 21 that it keeps free, "
        "8,000 times a second, are 3.93 Mpps: the ring is the limit, and what a burst saves is spent "
        "waiting. DPDK's driver frees as it sends and has no such limit.");
    return table;
}

}  // namespace

std::vector<Table> clean_up_tables(const BurstOptions& options) {
    if (!options.device.starts_with("net_soft82599") ||
        options.device.find("mode=plain") == std::string::npos)
        return {};
    unplug(options);
    return {by_ring(options), by_burst(options)};
}

}  // namespace volley::bench
