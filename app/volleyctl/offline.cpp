#include "volleyctl/offline.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <utility>
#include <variant>

#include "base/units.h"
#include "config/load.h"
#include "config/problem.h"
#include "import/error.h"
#include "traffic/compile.h"

namespace volley::ctl {

void add_sets(CLI::App& app, std::vector<std::string>& sets) {
    app.add_option("--set", sets, "Change a value before it is checked, such as /streams/0/rate=50%")
        ->type_name("POINTER=VALUE")
        ->expected(1)
        ->take_all();
}

void CompileOptions::add_to(CLI::App& app) {
    app.add_option("CONFIG", file, "Configuration file")->required();
    add_sets(app, sets);
    app.add_option("--multiplier", multiplier, "Instead of run.multiplier");
    app.add_option("--link-speed", link_speed, "Speed of ports that say none, such as 10Gbps");
}

Compiled compile_offline(const CompileOptions& options) {
    Compiled out;
    std::uint64_t speed = 0;
    if (!options.link_speed.empty()) {
        std::string why;
        const auto parsed = parse_speed(options.link_speed, why);
        if (!parsed) throw UsageError("--link-speed: " + why);
        speed = *parsed;
    }
    out.model = config::load(options.file, options.sets);
    traffic::Inputs inputs;
    for (const config::Port& port : out.model.ports) {
        traffic::PortFacts facts;
        facts.link_bps = port.speed_bps.value_or(speed);
        facts.workers = port.tx ? static_cast<std::uint32_t>(port.tx->lcores.size()) : 0;
        out.link_bps.push_back(facts.link_bps);
        inputs.ports.push_back(facts);
    }
    inputs.tsc_hz = offline_hz;
    inputs.epoch = offline_epoch;
    // Without a run there is no time of day: the earliest that is named is the schedule's zero.
    for (const config::Stream& stream : out.model.streams) {
        if (!stream.start_at) continue;
        const std::uint64_t at = *stream.start_at;
        inputs.epoch_unix_ns = inputs.epoch_unix_ns == 0 ? at : std::min(inputs.epoch_unix_ns, at);
    }
    if (out.model.run.duration) inputs.end = offline_epoch + out.model.run.duration->ns;
    inputs.multiplier = options.multiplier;
    auto compiled = traffic::compile(out.model, inputs, out.table, nullptr);
    if (auto* problems = std::get_if<std::vector<traffic::Problem>>(&compiled)) {
        std::vector<config::Problem> told;
        told.reserve(problems->size());
        for (traffic::Problem& problem : *problems) {
            told.push_back({options.file, 0, 0, std::move(problem.pointer), std::move(problem.text)});
        }
        config::locate_in(options.file, options.sets, told);
        throw config::Error(std::move(told));
    }
    out.plan = std::move(std::get<0>(compiled));
    for (const std::string& warning : out.plan->warnings) std::cerr << "warning: " << warning << '\n';
    return out;
}

int guarded(const std::function<int()>& verb) {
    try {
        return verb();
    } catch (const config::Error& error) {
        std::cerr << error.what() << '\n';
        return exit_bad_content;
    } catch (const config::FileError& error) {
        std::cerr << error.what() << '\n';
        return exit_no_input;
    } catch (const imports::Error& error) {
        std::cerr << error.what() << '\n';
        return exit_no_input;
    } catch (const UsageError& error) {
        std::cerr << error.what() << '\n';
        return exit_usage;
    }
}

}  // namespace volley::ctl
