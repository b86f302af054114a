#include "volley-bench/peers.h"

#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <stdexcept>

#include "volley-bench/peers_null.h"
#include "volley-bench/volleyd.h"

namespace volley::bench {
namespace {

using nlohmann::json;

/// One generator: how it is started on the interface "near", one sending thread, flat out.
struct Peer {
    std::string name;
    std::vector<std::string> command;  ///< empty: volleyd with `device`
    std::string device;
    std::string how_to_get;  ///< where its program is not found
};

// The packet of udp_stream() for trafgen and, a thousand times over, as a capture for tcpreplay.
constexpr const char* trafgen_packet =
    "{ 0x02,0,0,0,0,2, 0x02,0,0,0,0,1, const16(0x800), 0x45,0, const16(46), const16(0), const16(0), 64, 17, "
    "csumip(14,33), 198,18,0,1, 198,18,0,2, const16(9), const16(9), const16(26), const16(0), fill(0,18) }\n";

void write_capture(const std::string& file) {
    std::array<u_char, 60> frame{0x02, 0, 0,   0,  0, 2, 0x02, 0, 0,  0,  0, 1, 0x08, 0,
                                 0x45, 0, 0,   46, 0, 0, 0,    0, 64, 17, 0, 0, 198,  18,
                                 0,    1, 198, 18, 0, 2, 0,    9, 0,  9,  0, 26};
    unsigned sum = 0;
    for (std::size_t i = 14; i < 34; i += 2) sum += frame[i] * 256U + frame[i + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
    frame[24] = static_cast<u_char>(sum >> 8);
    frame[25] = static_cast<u_char>(sum & 0xff);
    const std::unique_ptr<pcap_t, decltype(&pcap_close)> format(pcap_open_dead(DLT_EN10MB, 65535),
                                                                pcap_close);
    pcap_dumper_t* out = pcap_dump_open(format.get(), file.c_str());
    if (out == nullptr) throw std::runtime_error("cannot write " + file);
    pcap_pkthdr header{};
    header.caplen = header.len = static_cast<bpf_u_int32>(frame.size());
    for (int i = 0; i < 1000; ++i) {
        header.ts.tv_usec = i;
        pcap_dump(reinterpret_cast<u_char*>(out), &header, frame.data());
    }
    pcap_dump_close(out);
}

// In a process namespace of its own, whose end is that of every process in it: trafgen's workers outlive
// trafgen.
std::vector<std::string> contained(const std::vector<std::string>& command) {
    std::vector<std::string> out{"unshare", "--pid", "--fork", "--kill-child", "--"};
    out.insert(out.end(), command.begin(), command.end());
    return out;
}

class PeersBench {
  public:
    explicit PeersBench(const PeersOptions& options) : options_(options), watch_(options.short_run) {}

    Result run() {
        enter_private_network();
        make_veth("near", "far");
        result_.subcommand = "peers";
        find_peers();
        std::vector<std::vector<Watched>> seen(peers_.size());
        const unsigned rounds = options_.short_run ? 1 : std::max(1U, options_.rounds);
        for (unsigned round = 0; round < rounds; ++round) {
            for (std::size_t p = 0; p < peers_.size(); ++p) {
                if (const auto watched = once(peers_[p])) seen[p].push_back(*watched);
            }
        }
        tabulate(seen);
        NullRoad null =
            compare_on_net_null(options_.short_run, rounds, options_.short_run ? 0.1 : options_.seconds / 2);
        result_.tables.push_back(std::move(null.table));
        for (const std::string& note : null.advice) say_once(result_.advice, note);
        result_.machine = watch_.finish();
        return std::move(result_);
    }

  private:
    void find_peers() {
        const auto testpmd = [](const std::string& device) {
            return std::vector<std::string>{"dpdk-testpmd",
                                            "--lcores=0@0,1@" + std::to_string(usable_cpus().back()),
                                            "--no-huge",
                                            "--no-pci",
                                            "--no-shconf",
                                            "-m",
                                            "256",
                                            "--vdev=" + device,
                                            "--",
                                            "--forward-mode=txonly",
                                            "--txpkts=60",
                                            "--burst=32",
                                            "--nb-cores=1",
                                            "--total-num-mbufs=8192",
                                            "--no-lsc-interrupt",
                                            "--stats-period=1000",
                                            "--auto-start"};
        };
        const std::string packet = dir_.write("udp.cfg", trafgen_packet);
        const std::string capture = dir_.file("udp.pcap");
        write_capture(capture);
        const std::vector<Peer> known{
            {"volleyd, af_packet", {}, "net_af_packet0,iface=near,qdisc_bypass=1", ""},
            {"dpdk-testpmd txonly, af_packet", testpmd("net_af_packet0,iface=near,qdisc_bypass=1"), "",
             "Debian package dpdk-dev"},
            {"trafgen",
             {"trafgen", "--cpp", "-i", packet, "-o", "near", "--cpus", "1", "-q"},
             "",
             "Debian package netsniff-ng"},
            {"tcpreplay",
             {"tcpreplay", "-q", "-t", "-K", "--loop", "0", "-i", "near", capture},
             "",
             "Debian package tcpreplay"},
            {"volleyd, af_xdp", {}, "net_af_xdp0,iface=near,force_copy=1", ""},
            {"dpdk-testpmd txonly, af_xdp", testpmd("net_af_xdp0,iface=near,force_copy=1"), "",
             "Debian package dpdk-dev"},
        };
        for (const Peer& peer : known) {
            if (peer.command.empty() || installed(peer.command.front())) {
                peers_.push_back(peer);
            } else {
                result_.advice.push_back(peer.name + " is not installed: " + peer.how_to_get + ".");
            }
        }
    }

    std::optional<Watched> once(const Peer& peer) {
        const double seconds = options_.short_run ? 0.2 : options_.seconds;
        if (peer.command.empty()) {
            const std::uint64_t before = received("far");
            VolleydRun run(
                volleyd_config(peer.device, udp_stream(32, "198.18.0.2"), {{"flush_threshold", 32}}));
            auto watched = watch(run.process(), "far", seconds);
            std::uint64_t counted = 0;
            try {
                counted = run.report().at("ports").at(0).at("tx").at("packets").get<std::uint64_t>();
            } catch (const std::exception& error) {
                say_once(result_.advice, peer.name + " did not run here: " + first_line(error.what()));
                return std::nullopt;
            }
            if (received("far") - before != counted)
                say_once(result_.advice, peer.name + ": " + std::to_string(counted) + " sent, " +
                                             std::to_string(received("far") - before) + " received.");
            return watched;
        }
        test::Process process(contained(peer.command));
        auto watched = watch(process, "far", seconds);
        process.signal(SIGKILL);
        process.wait();
        if (!watched)
            say_once(result_.advice, peer.name + " sent nothing here: " + first_line(process.err()));
        return watched;
    }

    static std::string first_line(const std::string& text) {
        return text.substr(0, std::min(text.find('\n', 20), std::size_t{300}));
    }

    void tabulate(const std::vector<std::vector<Watched>>& seen) {
        Table table;
        table.name = "Generators over veth, one sending thread, 64 bytes, burst 32, in alternation";
        table.columns = {"Mpps at the far end", "cycles a packet", "volleyd, af_packet, by it",
                         "volleyd, af_xdp, by it"};
        for (std::size_t p = 0; p < peers_.size(); ++p) {
            std::vector<double> rate;
            std::vector<double> cycles;
            for (const Watched& watched : seen[p]) {
                rate.push_back(watched.pps / 1e6);
                cycles.push_back(watched.cycles);
            }
            table.rows.push_back({peers_[p].name,
                                  {measured(summarize(rate)), measured(summarize(cycles)),
                                   by(seen[0], seen[p]), by(seen[xdp_row()], seen[p])}});
        }
        table.notes.emplace_back(
            "Cycles: TSC cycles of CPU time of the busiest thread. Ratios within a round; below 1 volleyd is "
            "cheaper.");
        result_.tables.push_back(std::move(table));
    }

    // Cycles of the one by cycles of the other, round by round.
    static Cell by(const std::vector<Watched>& ours, const std::vector<Watched>& theirs) {
        std::vector<double> ratio;
        for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
            ratio.push_back(ours[i].cycles / theirs[i].cycles);
        return ratio.empty() ? Cell{} : measured(summarize(std::move(ratio)));
    }

    [[nodiscard]] std::size_t xdp_row() const {
        for (std::size_t p = 0; p < peers_.size(); ++p) {
            if (peers_[p].name == "volleyd, af_xdp") return p;
        }
        return 0;
    }

    const PeersOptions& options_;
    MachineWatch watch_;
    test::TempDir dir_;
    Result result_;
    std::vector<Peer> peers_;
};

}  // namespace

int run_peers(const PeersOptions& options) {
    publish(PeersBench(options).run(), options.files);
    return 0;
}

}  // namespace volley::bench
