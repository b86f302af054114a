#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "volley-bench/blackhole.h"
#include "volley-bench/burst.h"
#include "volley-bench/compare.h"
#include "volley-bench/flush.h"
#include "volley-bench/pacing.h"
#include "volley-bench/peers.h"
#include "volley-bench/receive.h"
#include "volley-bench/ring/ring.h"
#include "volley-bench/rx.h"
#include "volley-bench/tx.h"
#include "whole_number.h"

namespace {

constexpr int exit_usage = 64;
constexpr int exit_internal = 70;

constexpr const char* tx_help =
    "TSC cycles of the transmitting thread's own CPU time a packet on net_null, for the whole road "
    "(schedule, ring,\n"
    "worker, stamp, tx_burst) beside the bare loop (mempool get, tx_burst of constant pre-filled frames), "
    "which run in\n"
    "alternation in this process: 15 short rounds, min, median and 90th percentile. A row is a case and its "
    "burst.\n"
    "Other work on the machine raises both: trust the ratio.\n"
    "  constant, two_fields, signature   64 bytes, at bursts of 1, 8, 32 and 64; _dispatch: planned on "
    "another "
    "lcore\n"
    "  field_1        one address, IPv4 checksum                tuple_4       addresses and ports, both "
    "checksums\n"
    "  imix           64, 570 and 1518 bytes at 7:4:1           tuple_random  the same, drawn\n"
    "  constant_1518  1518 bytes                                templates_10k 10,000 packets in turn";

constexpr const char* rx_help =
    "TSC cycles of the receiving thread's own CPU time a packet of 64 bytes on net_ring, for the receiver's "
    "turn\n"
    "(rx_burst, recognise, account, free) beside a bare loop of rx_burst and free, which run in "
    "alternation.\n"
    "  count             nothing is signed: packets are counted and freed\n"
    "  signature         one stream: loss, order, latency, jitter, inter-arrival\n"
    "  verify_all        the same, and every packet is made again and compared\n"
    "  streams_N         signature with N streams in turn, a burst of 32 each: as a sender with that burst\n"
    "  streams_N_singly  the same, a packet each: each touches another stream's counters";

constexpr const char* ring_help =
    "Queues between threads as the 2016 skb_array and alf_queue thread measured them: rte_ring in its modes, "
    "ptr_ring\n"
    "with and without locks and with batched zeroing, alf_queue, a cached-index SPSC.\n"
    "  One CPU        enqueue and dequeue of a bulk by one thread, cycles an object for both\n"
    "  Two CPUs       half-filled queue, a producer and a consumer: cycles an object, mean of both sides\n"
    "  nearly empty   a polling consumer takes all that comes\n"
    "  one way        half of a round trip of one object over two queues; and a look at an empty one\n"
    "  both on one    every thread enqueues and dequeues; OVERSUBSCRIBED: more threads than CPUs\n"
    "Compare rows of one table only. Two-CPU figures scale with the line transfer in the header: trust "
    "medians.\n"
    "Needs neither root nor huge pages.";

constexpr const char* flush_help =
    "Deferred tail flushing as the af_packet thread of August 2014 measured it: volleyd sends single packets "
    "(burst 1)\n"
    "through the kernel's packet socket over a veth pair, and gathers them in batches of the flush "
    "threshold.\n"
    "  Flush threshold  flat out: packets a second by the far end's counter, ns saved as the posting "
    "computes it,\n"
    "                   cycles of the sending thread, packets a system call; trafgen beside it where "
    "installed\n"
    "  Flush timeout    100 kpps with threshold 32: what waiting for company adds to a packet's lateness\n"
    "Runs in a network namespace of its own, which needs root. --trafgen takes the thread's own "
    "udp_example01 file.";

constexpr const char* blackhole_help =
    "The dummy multiqueue posting of March 2014: two senders flat out into a device that swallows "
    "everything, through\n"
    "one queue under a lock, through a queue each, and into a port each. net_null, then the kernel's dummy "
    "(ifb where\n"
    "this kernel has none) by af_packet. Seconds and Mpps are wall time for all packets; cycles are TSC "
    "cycles of CPU\n"
    "time a packet; context switches are of both senders. The kernel's part needs root and is left out "
    "without.";

constexpr const char* burst_help =
    "What a burst of b packets costs on any port, as the xmit_more thread of September 2014 asked: cycles a "
    "packet of the\n"
    "bare loop and of the whole road, the fit a + d / b, tail writes a packet, and the rate that they make "
    "likely when a\n"
    "tail write costs --doorbell nanoseconds, beside the posting's.\n"
    "On the soft 82599:  --plugin .../libsoft82599.so.1 --device net_soft82599_0,id=10f7,mode=plain measures "
    "cycles (the\n"
    "tail register is memory), without mode=plain the model counts every tail write. --rs-thresh 16 takes "
    "ixgbe's full path.\n"
    "With mode=plain completion clean-up as well: descriptors by free threshold, calls that found the ring "
    "full or empty,\n"
    "and why the posting's usecs 1 gives 3.9 Mpps at any burst.\n"
    "Needs neither root nor huge pages, but for a PCI address: then the NIC bound to vfio-pci.";

constexpr const char* peers_help =
    "volleyd beside dpdk-testpmd, trafgen and tcpreplay, whichever are installed, on the same veth pair with "
    "the same\n"
    "64-byte UDP packets, one after the other, A B A B. Rates are the far end's counters over measured time, "
    "cycles\n"
    "the CPU time of the busiest thread; the last columns are volleyd's cycles by the peer's of the same "
    "round, so below\n"
    "1 volleyd is cheaper. Then volleyd, dpdk-testpmd and Pktgen-DPDK on net_null at bursts of 1, 8, 32 and "
    "128, a row\n"
    "a case and burst, by each program's own port statistics. What is missing is named with how to get it. "
    "Needs root.";

constexpr const char* receive_help =
    "How a consumer waits for packets, as the tun_do_read thread of May 2014 measured it: a generator "
    "writes 64-byte UDP\n"
    "packets of one flow into a tap flat out, a bridge carries them to another tap, a consumer takes them.\n"
    "  poll, adaptive             Volley's receiver on DPDK's tap driver\n"
    "  program: arms, then reads  poll() before each read(), as the kernel did before that patch\n"
    "  program: reads, then waits read() first, poll() only when there is nothing\n"
    "Goodput, and what generator and consumer took of the CPUs, beside the posting's. In a network namespace "
    "of its own,\n"
    "which needs root; the generator has the first CPU, the consumer the last. Then the latency of a stream "
    "of 1000 pps\n"
    "on a queue of its own, alone and beside one that sends flat out on another queue.";

constexpr const char* pacing_help =
    "How late bursts leave by rate and burst on net_null, in alternation with a bare loop that waits for the "
    "same\n"
    "ticks and sends nothing: what the bare loop shows are the machine's own gaps, in which no thread of "
    "ours "
    "runs.\n"
    "  polling        a worker that looks for work all the time\n"
    "  adaptive       worker and bare loop asleep between bursts, with the CPU that each takes\n"
    "  schedule       cycles a burst of 1, 10, 1000 and 20,000 streams, and the worst count error\n"
    "Runs on CPU 0. Needs neither root nor huge pages.";

constexpr const char* compare_help =
    "Two results of --json of the same subcommand, cell by cell: medians, their ratio, and whether the "
    "spreads "
    "overlap\n"
    "(then the difference may be noise).";

void add_files(CLI::App& command, volley::bench::OutputFiles& files) {
    command.add_option("--json", files.json, "the tables and every repetition, for compare")
        ->type_name("FILE");
    command.add_option("--csv", files.csv, "one line a cell")->type_name("FILE");
    command.add_option("--svg", files.svg, "a plot a table")->type_name("FILE");
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"volley-bench measures what Volley's parts cost, each beside its floor in the same run."};
    app.require_subcommand(1);
    volley::bench::TxOptions tx;
    CLI::App* const tx_command = app.add_subcommand("tx", tx_help);
    tx_command->add_flag("--short", tx.short_run, "few short rounds: to see that it runs, not how fast");
    tx_command->add_option("--case", tx.only, "run this case only, such as constant or two_fields_dispatch");
    add_files(*tx_command, tx.files);
    volley::bench::RxOptions rx;
    CLI::App* const rx_command = app.add_subcommand("rx", rx_help);
    rx_command->add_flag("--short", rx.short_run, "few short rounds: to see that it runs, not how fast");
    rx_command->add_option("--case", rx.only, "run this case only, such as count or verify_all");
    add_files(*rx_command, rx.files);
    volley::bench::RingOptions ring;
    CLI::App* const ring_command = app.add_subcommand("ring", ring_help);
    ring_command->add_flag("--short", ring.short_run, "few small rounds: to see that it runs, not how fast");
    ring_command->add_option("--bulk", ring.bulks, "objects a call, such as 1,8,32")
        ->delimiter(',')
        ->transform(volley::whole_number());
    ring_command->add_option("--queue-size", ring.queue_size, "of the half-filled queues, a power of two")
        ->transform(volley::whole_number());
    ring_command->add_option("--repetitions", ring.repetitions, "of each cell")->check(CLI::Range(1, 1000));
    ring_command->add_option("--queue", ring.only, "only queues whose name contains this");
    ring_command->add_flag("--all-cpus", ring.all_cpus, "each pair of CPUs in turn, and without pinning");
    ring_command->add_flag("--kernel-format", ring.kernel_format,
                           "also the lines of the kernel's time_bench and of the posting");
    add_files(*ring_command, ring.files);
    volley::bench::PacingOptions pacing;
    CLI::App* const pacing_command = app.add_subcommand("pacing", pacing_help);
    pacing_command->add_flag("--short", pacing.short_run, "few brief rounds: to see that it runs");
    pacing_command->add_option("--repetitions", pacing.repetitions, "of each cell")
        ->check(CLI::Range(1, 1000));
    add_files(*pacing_command, pacing.files);
    std::string before;
    std::string after;
    volley::bench::OutputFiles compared;
    CLI::App* const compare_command = app.add_subcommand("compare", compare_help);
    compare_command->add_option("before", before, "result of an earlier run")
        ->required()
        ->type_name("A.json");
    compare_command->add_option("after", after, "result of a later run")->required()->type_name("B.json");
    add_files(*compare_command, compared);
    volley::bench::FlushOptions flush;
    CLI::App* const flush_command = app.add_subcommand("flush", flush_help);
    flush_command->add_flag("--short", flush.short_run, "one short round: to see that it runs, not how fast");
    flush_command->add_option("--threshold", flush.thresholds, "flush thresholds, such as 1,8")
        ->delimiter(',')
        ->transform(volley::whole_number());
    flush_command->add_option("--repetitions", flush.repetitions, "of each cell")->check(CLI::Range(1, 1000));
    flush_command->add_option("--trafgen", flush.trafgen_file, "trafgen file of the packet")
        ->type_name("FILE");
    add_files(*flush_command, flush.files);
    volley::bench::BlackholeOptions blackhole;
    CLI::App* const blackhole_command = app.add_subcommand("blackhole", blackhole_help);
    blackhole_command->add_flag("--short", blackhole.short_run,
                                "few packets: to see that it runs, not how fast");
    blackhole_command
        ->add_option("-n,--packets", blackhole.packets, "into net_null; a twentieth into the kernel")
        ->transform(volley::whole_number());
    blackhole_command->add_option("--repetitions", blackhole.repetitions, "of each row")
        ->check(CLI::Range(1, 1000));
    add_files(*blackhole_command, blackhole.files);
    volley::bench::PeersOptions peers;
    CLI::App* const peers_command = app.add_subcommand("peers", peers_help);
    peers_command->add_flag("--short", peers.short_run, "one short round: to see that it runs, not how fast");
    peers_command->add_option("--rounds", peers.rounds, "each runs every program once")
        ->check(CLI::Range(1, 1000));
    peers_command
        ->add_option("--seconds", peers.seconds,
                     "that a program is watched in a round; half of it on net_null")
        ->check(CLI::Range(0.1, 600.0));
    add_files(*peers_command, peers.files);
    volley::bench::ReceiveOptions receive;
    CLI::App* const receive_command = app.add_subcommand("receive", receive_help);
    receive_command->add_flag("--short", receive.short_run,
                              "one short round: to see that it runs, not how fast");
    receive_command->add_option("--repetitions", receive.repetitions, "of each row")
        ->check(CLI::Range(1, 1000));
    receive_command->add_option("--seconds", receive.seconds, "of each repetition")
        ->check(CLI::Range(0.01, 600.0));
    add_files(*receive_command, receive.files);
    volley::bench::BurstOptions burst;
    CLI::App* const burst_command = app.add_subcommand("burst", burst_help);
    burst_command->add_flag("--short", burst.short_run, "few samples: to see that it runs, not how fast");
    burst_command->add_option("--device", burst.device, "as in a configuration");
    burst_command->add_option("--plugin", burst.plugin, "shared object with the device's driver or model");
    burst_command->add_option("--burst", burst.bursts, "packets a burst, such as 1,2,32")
        ->delimiter(',')
        ->transform(volley::whole_number());
    burst_command->add_option("--rs-thresh", burst.rs_thresh, "32: ixgbe's fast paths; below: its full one")
        ->transform(volley::whole_number());
    burst_command->add_option("--doorbell", burst.doorbell_ns, "supposed cost of a tail write in ns");
    add_files(*burst_command, burst.files);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_usage;
    }
    try {
        if (rx_command->parsed()) return volley::bench::run_rx(rx);
        if (ring_command->parsed()) return volley::bench::run_ring(ring);
        if (flush_command->parsed()) return volley::bench::run_flush(flush);
        if (blackhole_command->parsed()) return volley::bench::run_blackhole(blackhole);
        if (receive_command->parsed()) return volley::bench::run_receive(receive);
        if (burst_command->parsed()) return volley::bench::run_burst(burst);
        if (peers_command->parsed()) return volley::bench::run_peers(peers);
        if (pacing_command->parsed()) return volley::bench::run_pacing(pacing);
        if (compare_command->parsed()) return volley::bench::run_compare(before, after, compared);
        return volley::bench::run_tx(tx);
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "volley-bench: %s\n", error.what());
        return exit_usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "volley-bench: %s\n", error.what());
        return exit_internal;
    }
}
