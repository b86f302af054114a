#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "volley-bench/compare.h"
#include "volley-bench/ring/ring.h"
#include "volley-bench/tx.h"

namespace {

constexpr int exit_usage = 64;
constexpr int exit_internal = 70;

constexpr const char* tx_help =
    "TSC cycles of the transmitting thread's own CPU time a packet on net_null, for the whole road "
    "(schedule, ring,\n"
    "worker, stamp, tx_burst) beside the bare loop (mempool get, tx_burst of constant pre-filled frames), "
    "which run in\n"
    "alternation in this process. Medians of 15 short rounds; ratio is road by floor. Other work on the "
    "machine raises\n"
    "both: trust the ratio, and the minima in brackets.";

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
    tx_command->add_option("--json", tx.json, "write the rows to this file")->type_name("FILE");
    tx_command->add_option("--case", tx.only, "run this case only, such as constant or two_fields_dispatch");
    volley::bench::RingOptions ring;
    CLI::App* const ring_command = app.add_subcommand("ring", ring_help);
    ring_command->add_flag("--short", ring.short_run, "few small rounds: to see that it runs, not how fast");
    ring_command->add_option("--bulk", ring.bulks, "objects a call, such as 1,8,32")->delimiter(',');
    ring_command->add_option("--queue-size", ring.queue_size, "of the half-filled queues, a power of two");
    ring_command->add_option("--repetitions", ring.repetitions, "of each cell")->check(CLI::Range(1, 1000));
    ring_command->add_option("--queue", ring.only, "only queues whose name contains this");
    ring_command->add_flag("--all-cpus", ring.all_cpus, "each pair of CPUs in turn, and without pinning");
    ring_command->add_flag("--kernel-format", ring.kernel_format,
                           "also the lines of the kernel's time_bench and of the posting");
    add_files(*ring_command, ring.files);
    std::string before;
    std::string after;
    volley::bench::OutputFiles compared;
    CLI::App* const compare_command = app.add_subcommand("compare", compare_help);
    compare_command->add_option("before", before, "result of an earlier run")
        ->required()
        ->type_name("A.json");
    compare_command->add_option("after", after, "result of a later run")->required()->type_name("B.json");
    add_files(*compare_command, compared);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_usage;
    }
    try {
        if (ring_command->parsed()) return volley::bench::run_ring(ring);
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
