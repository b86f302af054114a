#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "volleyctl/config_commands.h"

namespace {

// sysexits.h, so that scripts and systemd can tell the kinds of failure apart. CLI11 has numbers of its own.
constexpr int exit_usage = 64;
constexpr int exit_internal = 70;

int run(int argc, char** argv) {
    CLI::App app{"Controls and checks Volley. The config verbs need no daemon."};
    app.set_version_flag("--version", VOLLEY_VERSION);
    app.require_subcommand(1);
    volley::ctl::ConfigCommands commands(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_usage;
    }
    return commands.run();
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "volleyctl: " << error.what() << '\n';
        return exit_internal;
    }
}
