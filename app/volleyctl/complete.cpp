#include "volleyctl/complete.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "volleyctl/client.h"

namespace volley::ctl {
namespace {

using nlohmann::json;

// Names of what a verb takes, as the daemon that the words mean knows them.
std::vector<std::string> names_for(const std::string& verb, const std::vector<std::string>& words) {
    const bool streams = verb == "streams" || verb == "pause" || verb == "resume" || verb == "rate";
    if (!streams && verb != "ports" && verb != "xstats") return {};
    Place place;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (words[i] == "--socket") place.socket = words[i + 1];
        if (words[i] == "--url") place.url = words[i + 1];
        if (words[i] == "--token-file") place.token_file = words[i + 1];
        if (words[i] == "--ca-file") place.ca_file = words[i + 1];
    }
    std::vector<std::string> out;
    try {
        Client client(place);
        const std::string what = streams ? "streams" : "ports";
        const json answer = json::parse(client.request("GET", "/api/v1/" + what).body);
        for (const json& entry : answer.at(what)) out.push_back(entry.at("name"));
    } catch (const std::exception&) {
        return {};  // no daemon, no names
    }
    return out;
}

}  // namespace

int complete(CLI::App& app, const std::vector<std::string>& words) {
    CLI::App* verb = &app;
    std::vector<CLI::App*> path{&app};
    const std::string last = words.empty() ? std::string() : words.back();
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const auto named =
            verb->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == words[i]; });
        if (named.empty()) continue;
        verb = named.front();
        path.push_back(verb);
    }
    std::vector<std::string> candidates;
    for (const CLI::App* sub : verb->get_subcommands([](const CLI::App*) { return true; }))
        candidates.push_back(sub->get_name());
    if (last.starts_with('-')) {
        for (const CLI::App* of : path) {
            for (const CLI::Option* option : of->get_options()) {
                for (const std::string& name : option->get_lnames()) candidates.push_back("--" + name);
            }
        }
    } else {
        for (std::string& name : names_for(verb->get_name(), words)) candidates.push_back(std::move(name));
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    for (const std::string& candidate : candidates) {
        if (candidate.starts_with(last)) std::cout << candidate << '\n';
    }
    return 0;
}

}  // namespace volley::ctl
