#include "volley-bench/flush.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "base/tsc.h"
#include "volley-bench/volleyd.h"

namespace volley::bench {
namespace {

using nlohmann::json;

constexpr const char* device = "net_af_packet0,iface=near,qdisc_bypass=1";

/// The posting: 1,562,539 to 1,683,746 packets per second with PACKET_FLUSH_THRESH 8, ixgbe.
constexpr double posting_without = 1'562'539;
constexpr double posting_with = 1'683'746;

double ns_saved(double pps_before, double pps_after) {
    return 1e9 / pps_before - 1e9 / pps_after;
}

class FlushBench {
  public:
    explicit FlushBench(const FlushOptions& options) : options_(options), watch_(options.short_run) {}

    Result run() {
        enter_private_network();
        make_veth("near", "far");
        result_.subcommand = "flush";
        thresholds();
        timeouts();
        result_.machine = watch_.finish();
        return std::move(result_);
    }

  private:
    [[nodiscard]] unsigned repetitions() const { return options_.short_run ? 1 : options_.repetitions; }
    [[nodiscard]] double seconds() const { return options_.short_run ? 0.1 : 1.0; }

    [[nodiscard]] json stream(const std::string& rate) const {
        json packet;
        if (!options_.trafgen_file.empty()) {
            packet = {{"trafgen", options_.trafgen_file}};
        } else {
            const json headers = json::array(
                {json{{"eth", {{"src", "00:1b:21:3c:9e:6c"}, {"dst", "ec:0d:9a:db:11:c4"}}}},
                 json{
                     {"ipv4",
                      {{"src", "198.18.1.66"}, {"dst", "198.18.1.1"}, {"id", 2}, {"flags", 2}, {"ttl", 64}}}},
                 json{{"udp", {{"src", 9}, {"dst", 6666}, {"checksum", 0}}}}});
            packet = {{"frame_size", 64}, {"payload", {{"fill", "0x42"}}}, {"headers", headers}};
        }
        return json::array(
            {json{{"name", "udp"}, {"port", "bench"}, {"rate", rate}, {"burst", 1}, {"packet", packet}}});
    }

    // Packets arrive singly (burst 1) and as fast as they are taken; the threshold decides how many go with
    // one system call.
    void thresholds() {
        Table table;
        table.name = "Flush threshold, af_packet over veth, flat out";
        table.columns = {"pps", "ns a packet", "ns saved", "cycles a packet", "packets a call"};
        double base = 0;
        for (const unsigned threshold : options_.thresholds) {
            std::vector<double> pps;
            std::vector<double> ns;
            std::vector<double> cycles;
            double per_call = 0;
            for (unsigned i = 0; i < repetitions(); ++i) {
                VolleydRun run(volleyd_config(device, stream("max"), {{"flush_threshold", threshold}}));
                const auto seen = watch(run.process(), "far", seconds());
                const json report = run.report();
                if (!seen) continue;
                pps.push_back(seen->pps);
                ns.push_back(1e9 / seen->pps);
                cycles.push_back(seen->cycles);
                const json& tx = report.at("queues").at(0).at("tx");
                per_call =
                    tx.at("packets").get<double>() / std::max(1.0, tx.at("tx_burst_calls").get<double>());
            }
            const Summary rate = summarize(pps);
            if (base == 0) base = rate.median;
            table.rows.push_back({std::to_string(threshold),
                                  {measured(rate), measured(summarize(ns)),
                                   number(rate.median > 0 ? ns_saved(base, rate.median) : 0),
                                   measured(summarize(cycles)), number(per_call)}});
        }
        add_trafgen(table);
        table.rows.push_back({"the thread: without",
                              {number(posting_without), number(1e9 / posting_without), number(0), {}, {}}});
        table.rows.push_back({"the thread: threshold 8",
                              {number(posting_with),
                               number(1e9 / posting_with),
                               number(ns_saved(posting_without, posting_with)),
                               {},
                               {}}});
        table.notes.emplace_back(
            "ns saved = 1e9 / pps at threshold 1 - 1e9 / pps, as the posting computes it. Its cause there "
            "was the "
            "doorbell of a NIC, here it is the system call a burst.");
        result_.tables.push_back(std::move(table));
    }

    void add_trafgen(Table& table) {
        if (test::run({"sh", "-c", "command -v trafgen"}).status != 0) {
            result_.advice.emplace_back(
                "trafgen is not installed (Debian package netsniff-ng): its row is left out.");
            return;
        }
        std::string file = options_.trafgen_file;
        const test::TempDir dir;
        if (file.empty()) {
            file =
                dir.write("udp.cfg",
                          "{ 0xec,0x0d,0x9a,0xdb,0x11,0xc4, 0x00,0x1b,0x21,0x3c,0x9e,0x6c, const16(0x800), "
                          "0x45,0, const16(46), const16(2), 0x40,0, 64, 17, csumip(14,33), "
                          "198,18,1,66, 198,18,1,1, const16(9), const16(6666), const16(26), const16(0), "
                          "fill('B',18), }\n");
        }
        std::vector<double> pps;
        std::vector<double> ns;
        std::vector<double> cycles;
        for (unsigned i = 0; i < repetitions(); ++i) {
            test::Process trafgen({"unshare", "--pid", "--fork", "--kill-child", "--", "trafgen", "--cpp",
                                   "-i", file, "-o", "near", "--cpus", "1", "-q"});
            const auto seen = watch(trafgen, "far", seconds());
            trafgen.signal(SIGKILL);
            trafgen.wait();
            if (!seen) continue;
            pps.push_back(seen->pps);
            ns.push_back(1e9 / seen->pps);
            cycles.push_back(seen->cycles);
        }
        table.rows.push_back(
            {"trafgen, one CPU",
             {measured(summarize(pps)), measured(summarize(ns)), {}, measured(summarize(cycles)), {}}});
    }

    // What waiting costs: bursts of one at a fixed rate, held back until 32 are there or the time is over.
    void timeouts() {
        Table table;
        table.name = "Flush timeout, threshold 32, 100 kpps of single packets";
        table.columns = {"packets a call", "lateness p50 ns", "lateness p99 ns"};
        for (const char* timeout : {"0us", "10us", "50us", "200us", "1ms"}) {
            std::vector<double> per_call;
            std::vector<double> p50;
            std::vector<double> p99;
            for (unsigned i = 0; i < repetitions(); ++i) {
                VolleydRun run(volleyd_config(device, stream("100kpps"),
                                              {{"flush_threshold", 32}, {"flush_timeout", timeout}}),
                               options_.short_run ? "100ms" : "1s");
                run.process().wait();
                const json report = run.report();
                const json& tx = report.at("queues").at(0).at("tx");
                const json& late = report.at("streams").at(0).at("lateness_ns");
                per_call.push_back(tx.at("packets").get<double>() /
                                   std::max(1.0, tx.at("tx_burst_calls").get<double>()));
                if (!late.is_object()) continue;
                p50.push_back(late.at("p50").get<double>());
                p99.push_back(late.at("p99").get<double>());
            }
            table.rows.push_back(
                {timeout,
                 {measured(summarize(per_call)), measured(summarize(p50)), measured(summarize(p99))}});
        }
        result_.tables.push_back(std::move(table));
    }

    const FlushOptions& options_;
    MachineWatch watch_;
    Result result_;
};

}  // namespace

int run_flush(const FlushOptions& options) {
    publish(FlushBench(options).run(), options.files);
    return 0;
}

}  // namespace volley::bench
