#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string_view>

#include "config/print.h"
#include "volleyctl/complete.h"
#include "volleyctl/config_commands.h"
#include "volleyctl/daemon_commands.h"
#include "volleyctl/exit_codes.h"
#include "volleyctl/explain_command.h"
#include "volleyctl/import_command.h"
#include "volleyctl/offline.h"
#include "volleyctl/render_command.h"
#include "volleyctl/top.h"

namespace {

int run(int argc, char** argv) {
    CLI::App app{
        "Controls and checks Volley. config check, config show FILE, render, explain and import need no "
        "daemon."};
    app.set_version_flag("--version", VOLLEY_VERSION);
    app.require_subcommand(1);
    volley::ctl::Place place;
    volley::ctl::add_place(app, place);
    volley::ctl::DaemonCommands daemon(app, place);
    volley::ctl::ConfigCommands config(app, place);
    volley::ctl::RenderCommand render(app);
    volley::ctl::ImportCommand imported(app);
    volley::ctl::TopCommand top(app, place);
    volley::ctl::ExplainCommand explain(app);
    if (argc > 1 && std::string_view(argv[1]) == "__complete")
        return volley::ctl::complete(app, {argv + 2, argv + argc});
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const auto rest = app.remaining();
        if (app.get_subcommands().empty() && !rest.empty() && error.get_exit_code() != 0) {
            std::cerr << "volleyctl: " << volley::config::quote(rest.front())
                      << " is no verb; volleyctl --help lists them\n";
            return volley::ctl::exit_usage;
        }
        return app.exit(error) == 0 ? 0 : volley::ctl::exit_usage;
    }
    if (daemon.parsed()) return daemon.run();
    if (render.parsed()) return render.run();
    if (imported.parsed()) return imported.run();
    if (top.parsed()) return top.run();
    if (explain.parsed()) return explain.run();
    return config.run();
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "volleyctl: " << error.what() << '\n';
        return volley::ctl::exit_internal;
    }
}
