#include "volleyctl/config_commands.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "config/change.h"
#include "config/check.h"
#include "config/load.h"
#include "traffic/source_check.h"
#include "volleyctl/daemon_commands.h"
#include "volleyctl/offline.h"
#include "volleyctl/show.h"

namespace volley::ctl {
namespace {

int unreachable(const Unreachable& error) {
    std::cerr << "volleyctl: " << error.what() << '\n';
    return exit_unavailable;
}

int refused(const Reply& reply, bool json) {
    (json ? std::cout : std::cerr) << (json ? reply.body : error_text(reply));
    return exit_code_of(reply);
}

}  // namespace

ConfigCommands::ConfigCommands(CLI::App& app, const Place& place) : place_(place) {
    CLI::App* config = app.add_subcommand("config", "Check, show, compare and push configurations");
    config->require_subcommand(1);
    config->fallthrough();
    check_ = config->add_subcommand("check", "Name every problem of configuration files");
    check_->add_option("FILE", files_, "Configuration files")->required();
    check_->add_flag("--json", json_, "Print a JSON object instead of lines");
    add_sets(*check_, sets_);
    show_ = config->add_subcommand("show", "Print a configuration with every default filled in");
    show_->add_option("FILE", file_, "Configuration file; without it, the one in force in the daemon");
    show_->add_flag("--json", json_, "Print it on one line");
    add_sets(*show_, sets_);
    diff_ =
        config->add_subcommand("diff", "What a file would change in the daemon; exits with 1 if anything");
    push_ =
        config->add_subcommand("push", "Put a configuration into force; the daemon's file stays as it is");
    for (CLI::App* verb : {diff_, push_}) {
        verb->add_option("FILE", file_, "Configuration file")->required();
        verb->add_flag("--json", json_, "Print JSON");
        add_sets(*verb, sets_);
        verb->fallthrough();
    }
    show_->fallthrough();
    push_->add_option("--if-match", etag_, "Only if the configuration in force has this etag")
        ->type_name("ETAG");
}

int ConfigCommands::run() const {
    try {
        if (check_->parsed()) return check();
        if (diff_->parsed()) return guarded([this] { return diff(); });
        if (push_->parsed()) return guarded([this] { return push(); });
        return file_.empty() ? show_running() : show();
    } catch (const Unreachable& error) {
        return unreachable(error);
    }
}

int ConfigCommands::check() const {
    std::vector<config::Report> reports;
    for (const std::string& file : files_) reports.push_back(traffic::check_file(file, sets_));
    if (json_) {
        std::cout << config::to_json(reports) << '\n';
        return config::exit_code(reports);
    }
    for (const config::Report& report : reports) {
        for (const config::Problem& problem : report.problems) std::cerr << config::to_line(problem) << '\n';
        if (!report.readable) std::cerr << report.unreadable << '\n';
        for (const std::string& warning : report.warnings) std::cerr << "warning: " << warning << '\n';
        if (report.valid()) std::cout << report.file << ": ok\n";
    }
    return config::exit_code(reports);
}

int ConfigCommands::show() const {
    return guarded([this] {
        std::cout << config::dump_config(config::load(file_, sets_), json_ ? 0 : 2) << '\n';
        return 0;
    });
}

int ConfigCommands::show_running() const {
    Client client(place_);
    const Reply reply = client.request("GET", "/api/v1/config");
    if (reply.status != 200) return refused(reply, json_);
    std::cout << nlohmann::ordered_json::parse(reply.body).dump(json_ ? -1 : 2) << '\n';
    return 0;
}

int ConfigCommands::diff() const {
    const config::Model fresh = config::load(file_, sets_);
    Client client(place_);
    const Reply reply = client.request("GET", "/api/v1/config");
    if (reply.status != 200) return refused(reply, json_);
    const config::Change change = config::classify(config::parse(reply.body, "daemon"), fresh);
    const bool same = change.kind == config::Change::Kind::nothing;
    if (json_) {
        std::cout << nlohmann::json{{"same", same},
                                    {"live", change.live},
                                    {"next_run", change.next_run},
                                    {"restart", change.restart}}
                  << '\n';
    } else {
        for (const std::string& pointer : change.live) std::cout << "live      " << pointer << '\n';
        for (const std::string& pointer : change.next_run) std::cout << "next run  " << pointer << '\n';
        for (const std::string& pointer : change.restart) std::cout << "restart   " << pointer << '\n';
    }
    return same ? 0 : exit_differs;
}

// Read and checked here first, so that problems have their places in the file and paths are whole.
int ConfigCommands::push() const {
    const std::string text = config::dump_config(config::load(file_, sets_), 0);
    Client client(place_);
    std::string etag = etag_;
    if (etag.empty()) {
        const Reply seen = client.request("GET", "/api/v1/config");
        if (seen.status != 200) return refused(seen, json_);
        etag = seen.etag;
    }
    const Reply reply = client.request("PUT", "/api/v1/config", text, {"If-Match: " + etag});
    if (reply.status != 200) return refused(reply, json_);
    std::cout << (json_ ? reply.body : changed_text(reply.body));
    return 0;
}

}  // namespace volley::ctl
