#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

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

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"volley-bench measures what Volley's parts cost, each beside its floor in the same run."};
    app.require_subcommand(1);
    volley::bench::TxOptions tx;
    CLI::App* const tx_command = app.add_subcommand("tx", tx_help);
    tx_command->add_flag("--short", tx.short_run, "few short rounds: to see that it runs, not how fast");
    tx_command->add_option("--json", tx.json, "write the rows to this file")->type_name("FILE");
    tx_command->add_option("--case", tx.only, "run this case only, such as constant or two_fields_dispatch");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_usage;
    }
    try {
        return volley::bench::run_tx(tx);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "volley-bench: %s\n", error.what());
        return exit_internal;
    }
}
