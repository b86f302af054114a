#include "volley-bench/peers_null.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "volley-bench/eal_socket.h"
#include "volley-bench/volleyd.h"

namespace volley::bench {
namespace {

using nlohmann::json;

constexpr const char* device = "net_null0,copy=0,no-rx=1";

/// The same work for each program: the same packet always, or an address that changes with each packet and
/// its checksum. The recorded figures are medians of cycles a packet, TSC 2.3 GHz, from a run of their own.
struct Case {
    std::string name;
    std::string testpmd_mode;
    std::string testpmd_size;  ///< txonly counts without FCS, flowgen with it
    std::string pktgen_script;
    std::array<double, 4> recorded_testpmd;
    std::array<double, 4> recorded_pktgen;
};
const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"constant", "txonly", "60", "", {178, 52, 51, 51}, {175, 46, 36, 27}},
        {"fields",
         "flowgen",
         "64",
         "pktgen.dst_ip('0', 'start', '198.18.0.2')\npktgen.dst_ip('0', 'inc', '0.0.0.1')\n"
         "pktgen.dst_ip('0', 'min', '198.18.0.2')\npktgen.dst_ip('0', 'max', '198.18.4.1')\n"
         "pktgen.set_range('0', 'on')\n",
         {187, 80, 72, 65},
         {257, 82, 76, 68}},
    };
    return all;
}
constexpr std::array<std::uint32_t, 4> bursts{1, 8, 32, 128};

enum Program : std::size_t { ours, testpmd, pktgen, programs };
constexpr std::array<const char*, programs> names{"volleyd", "dpdk-testpmd", "Pktgen-DPDK"};

json stream(const Case& c, std::uint32_t burst) {
    json address = "198.18.0.2";
    if (c.name == "fields") address = {{"increment", {{"from", "198.18.0.2"}, {"to", "198.18.4.1"}}}};
    return udp_stream(burst, address, {{"checksum", 0}});
}

class NullBench {
  public:
    NullBench(bool short_run, double seconds) : short_run_(short_run), seconds_(seconds) {}

    NullRoad run(unsigned rounds) {
        runs_[ours] = true;
        runs_[testpmd] = installed("dpdk-testpmd");
        runs_[pktgen] = installed("pktgen");
        if (!runs_[testpmd])
            say_once(out_.advice, "On net_null dpdk-testpmd is missing: Debian package dpdk-dev.");
        if (!runs_[pktgen])
            say_once(
                out_.advice,
                "On net_null Pktgen-DPDK is missing: Debian has no package of it, build it from its sources "
                "for the installed DPDK and put `pktgen` into the PATH; its recorded figures stand beside.");
        Table& table = out_.table;
        table.name = "Generators on net_null, one sending thread, 64 bytes, in alternation";
        table.unit = "TSC cycles of CPU time a packet";
        for (std::size_t p = 0; p < programs; ++p) {
            if (runs_[p]) table.columns.emplace_back(names[p]);
        }
        for (std::size_t p = testpmd; p < programs; ++p) {
            if (runs_[p]) table.columns.push_back("volleyd by " + std::string(names[p]));
        }
        for (std::size_t p = testpmd; p < programs; ++p)
            table.columns.push_back("recorded: " + std::string(names[p]));
        for (const Case& c : cases()) {
            for (std::size_t b = 0; b < bursts.size(); ++b) {
                if (!short_run_ || bursts[b] == 32) table.rows.push_back(row(c, b, rounds));
            }
        }
        table.notes = {
            "By each program's own port statistics (rte_eth_stats) and the CPU time of its busiest thread "
            "over "
            "the same span. Ratios within a round; below 1 volleyd is cheaper.",
            "fields: 1,024 destinations in turn and their IPv4 checksum; testpmd's flowgen, Pktgen's range. "
            "Recorded: medians at 2.3 GHz on another machine, of Pktgen-DPDK 23.03."};
        return std::move(out_);
    }

  private:
    TableRow row(const Case& c, std::size_t b, unsigned rounds) {
        std::array<std::vector<double>, programs> cycles;
        std::array<std::vector<double>, programs> ratios;
        for (unsigned round = 0; round < rounds; ++round) {
            std::optional<double> mine;
            for (std::size_t p = 0; p < programs; ++p) {
                if (!runs_[p]) continue;
                const auto seen = once(static_cast<Program>(p), c, bursts[b]);
                if (!seen) continue;
                cycles[p].push_back(*seen);
                if (p == ours) mine = seen;
                if (p != ours && mine) ratios[p].push_back(*mine / *seen);
            }
        }
        TableRow out{c.name + " " + std::to_string(bursts[b]), {}};
        for (std::size_t p = 0; p < programs; ++p) {
            if (runs_[p]) out.cells.push_back(measured(summarize(cycles[p])));
        }
        for (std::size_t p = testpmd; p < programs; ++p) {
            if (runs_[p]) out.cells.push_back(measured(summarize(ratios[p])));
        }
        out.cells.push_back(number(c.recorded_testpmd[b]));
        out.cells.push_back(number(c.recorded_pktgen[b]));
        return out;
    }

    std::optional<double> once(Program program, const Case& c, std::uint32_t burst) {
        if (program == ours) {
            VolleydRun run(volleyd_config(device, stream(c, burst), {{"flush_threshold", burst}}));
            return cycles_a_packet(names[program], run.process(), run.runtime_directory());
        }
        const test::TempDir folder;
        test::Process process(
            program == testpmd ? testpmd_command(c, burst) : pktgen_command(c, burst, folder),
            {"RUNTIME_DIRECTORY=" + folder.path().string()});
        const auto seen = cycles_a_packet(names[program], process, folder.path().string());
        process.signal(SIGKILL);
        process.wait();
        return seen;
    }

    static std::vector<std::string> eal(const std::string& program) {
        return {program,
                "--lcores=0@" + std::to_string(usable_cpus().front()) + ",1@" +
                    std::to_string(usable_cpus().back()),
                "--no-huge",
                "--no-pci",
                "--no-shconf",
                "--file-prefix=peer",
                "-m",
                "512",
                std::string("--vdev=") + device,
                "--"};
    }

    static std::vector<std::string> testpmd_command(const Case& c, std::uint32_t burst) {
        std::vector<std::string> out = eal("dpdk-testpmd");
        out.insert(out.end(), {"--forward-mode=" + c.testpmd_mode, "--txpkts=" + c.testpmd_size,
                               "--burst=" + std::to_string(burst), "--nb-cores=1", "--total-num-mbufs=8192",
                               "--no-lsc-interrupt", "--stats-period=1000", "--auto-start"});
        return out;
    }

    // net_null calls itself a port of 10 Gb/s, and Pktgen paces to that until its cycles a burst are set.
    static std::vector<std::string> pktgen_command(const Case& c, std::uint32_t burst,
                                                   const test::TempDir& folder) {
        const std::string script = folder.write(
            "volley.lua",
            "pktgen.screen('off')\npktgen.set('0', 'size', 64)\npktgen.set('0', 'rate', 100)\n"
            "for _, word in ipairs({'burst', 'txburst'}) do pcall(pktgen.set, '0', word, " +
                std::to_string(burst) + ") end\n" + c.pktgen_script +
                "pktgen.start('0')\nfor _, word in ipairs({'cycles', 'tx_cycles', 'txcycles'}) do "
                "pcall(pktgen.set, '0', word, 1) end\n");
        std::vector<std::string> out = eal("pktgen");
        out.insert(out.end(), {"-P", "-m", "1.0", "-f", script});
        return out;
    }

    // From when its port counts packets, over `seconds_`.
    std::optional<double> cycles_a_packet(const std::string& name, test::Process& process,
                                          const std::string& directory) {
        std::optional<EalSocket> socket;
        std::uint64_t first = 0;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (first < 1000) {
            if (std::chrono::steady_clock::now() > deadline || process.wait(test::Seconds{0.01})) {
                const std::string said = process.err();
                say_once(out_.advice, name + " sent nothing on net_null here: " + said.substr(0, 300));
                return std::nullopt;
            }
            if (!socket) socket = EalSocket::connect(directory);
            if (socket) first = socket->sent().value_or(0);
        }
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds_ / 5));
        const ThreadTimes before = thread_times(process.pid());
        const auto from = socket->sent();
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds_));
        const ThreadTimes after = thread_times(process.pid());
        const auto to = socket->sent();
        if (!from || !to || *to == *from) return std::nullopt;
        return busiest_cycles(before, after) / static_cast<double>(*to - *from);
    }

    bool short_run_;
    double seconds_;
    std::array<bool, programs> runs_{};
    NullRoad out_;
};

}  // namespace

NullRoad compare_on_net_null(bool short_run, unsigned rounds, double seconds) {
    return NullBench(short_run, seconds).run(rounds);
}

}  // namespace volley::bench
