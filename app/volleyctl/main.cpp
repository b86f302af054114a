#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "config/print.h"
#include "volleyctl/complete.h"
#include "volleyctl/config_commands.h"
#include "volleyctl/daemon_commands.h"
#include "volleyctl/exit_codes.h"
#include "volleyctl/explain_command.h"
#include "volleyctl/failure.h"
#include "volleyctl/import_command.h"
#include "volleyctl/offline.h"
#include "volleyctl/render_command.h"
#include "volleyctl/top.h"

namespace {

// --json may stand anywhere: each verb has it, and what is wrong with the words themselves is told by it too.
bool move_json_to_the_end(std::vector<std::string>& words) {
    const auto end = std::find(words.begin(), words.end(), "--");
    const auto kept = std::remove(words.begin(), end, "--json");
    if (kept == end) return false;
    words.erase(kept, end);
    words.insert(std::find(words.begin(), words.end(), "--"), "--json");
    return true;
}

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
    std::vector<std::string> words(argv + 1, argv + argc);
    const bool json = move_json_to_the_end(words);
    try {
        std::reverse(words.begin(), words.end());  // as CLI11 wants them
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        const auto rest = app.remaining();
        if (app.get_subcommands().empty() && !rest.empty() && error.get_exit_code() != 0) {
            return volley::ctl::fail(
                json, volley::ctl::exit_usage, "usage",
                volley::config::quote(rest.front()) + " is no verb; volleyctl --help lists them");
        }
        if (json && error.get_exit_code() != 0) {
            return volley::ctl::fail(true, volley::ctl::exit_usage, "usage",
                                     std::string(error.what()) + "; --help tells what is");
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
