#include "volleyctl/config_commands.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "config/check.h"
#include "config/load.h"
#include "volleyctl/offline.h"

namespace volley::ctl {
ConfigCommands::ConfigCommands(CLI::App& app) {
    CLI::App* config = app.add_subcommand("config", "Check and show configuration files");
    config->require_subcommand(1);
    check_ = config->add_subcommand("check", "Name every problem of configuration files");
    check_->add_option("FILE", files_, "Configuration files")->required();
    check_->add_flag("--json", json_, "Print a JSON object instead of lines");
    add_sets(*check_, sets_);
    show_ = config->add_subcommand("show", "Print a configuration with every default filled in");
    show_->add_option("FILE", file_, "Configuration file")->required();
    show_->add_flag("--json", json_, "Print it on one line");
    add_sets(*show_, sets_);
}

int ConfigCommands::run() const {
    return check_->parsed() ? check() : show();
}

int ConfigCommands::check() const {
    std::vector<config::Report> reports;
    for (const std::string& file : files_) reports.push_back(config::check_file(file, sets_));
    if (json_) {
        std::cout << config::to_json(reports) << '\n';
        return config::exit_code(reports);
    }
    for (const config::Report& report : reports) {
        for (const config::Problem& problem : report.problems) std::cerr << config::to_line(problem) << '\n';
        if (!report.readable) std::cerr << report.unreadable << '\n';
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

}  // namespace volley::ctl
