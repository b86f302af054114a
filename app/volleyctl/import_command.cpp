#include "volleyctl/import_command.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

#include "import/pktgen.h"
#include "volleyctl/offline.h"
#include "volleyctl/pktgen_config.h"

namespace volley::ctl {

ImportCommand::ImportCommand(CLI::App& app) {
    CLI::App* verb = app.add_subcommand("import", "Turn what other generators read into a configuration");
    verb->require_subcommand(1);
    pktgen_ = verb->add_subcommand("pktgen", "A script for the kernel's packet generator");
    pktgen_->add_option("SCRIPT", script_, "Script with pgset, pg_set or echo lines")->required();
    const std::pair<const char*, const char*> options[] = {
        {"-i", "DEV"},      {"-s", "PKT_SIZE"}, {"-d", "DEST_IP"},  {"-m", "DST_MAC"},
        {"-p", "DST_PORT"}, {"-t", "THREADS"},  {"-f", "F_THREAD"}, {"-c", "CLONE_SKB"},
        {"-n", "COUNT"},    {"-b", "BURST"},    {"-w", "DELAY"}};
    for (const auto& [name, variable] : options) {
        pktgen_->add_option_function<std::string>(
            name, [this, key = std::string(variable)](const std::string& value) { options_[key] = value; },
            "As the sample scripts take it: " + std::string(variable));
    }
    pktgen_->add_flag("-6", ipv6_, "As the sample scripts take it: IPv6");
    for (const auto& [name, variable] : {std::pair{"-a", "APPEND"}, {"-v", "VERBOSE"}, {"-x", "DEBUG"}}) {
        pktgen_->add_flag_function(
            name, [this, key = std::string(variable)](std::int64_t) { options_[key] = "1"; },
            "As the sample scripts take it: " + std::string(variable));
    }
}

int ImportCommand::run() const {
    return guarded([this] { return import_pktgen(); });
}

int ImportCommand::import_pktgen() const {
    std::ifstream file(script_, std::ios::binary);
    std::stringstream text;
    if (!file || !(text << file.rdbuf())) throw imports::Error("cannot read " + script_);
    auto variables = options_;
    if (ipv6_) variables["IP6"] = "6";
    // What the sample scripts fall back to.
    for (const auto& [name, value] : {std::pair{"PKT_SIZE", "60"}, {"THREADS", "1"}, {"F_THREAD", "0"}})
        variables.emplace(name, value);
    const auto port = variables.find("DST_PORT");
    if (port != variables.end()) {
        const std::size_t dash = port->second.find('-');
        variables["UDP_DST_MIN"] = port->second.substr(0, dash);
        variables["UDP_DST_MAX"] = dash == std::string::npos ? port->second : port->second.substr(dash + 1);
    }
    imports::PktgenScript script = imports::parse_pktgen(text.str(), std::move(variables));
    const nlohmann::ordered_json made = pktgen_config(script);
    for (const std::string& note : script.notes) std::cerr << note << '\n';
    if (const auto threads = options_.find("THREADS"); threads != options_.end() && threads->second != "1") {
        std::cerr
            << "-t " << threads->second
            << ": one worker sends what one thread would; give the port more lcores, and the stream their "
               "rate and count together\n";
    }
    std::cerr << "the payload is zeros, without pktgen's own header (magic, sequence, time)\n";
    // A script's names may be no UTF-8.
    std::cout << made.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    return 0;
}

}  // namespace volley::ctl
