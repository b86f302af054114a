#include <fnmatch.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/clock.h"
#include "config/change.h"
#include "config/load.h"
#include "config/print.h"
#include "daemon/daemon.h"
#include "dpdk/error.h"

// What the control interface and SIGHUP ask for. Each command is read and judged in full before anything is
// touched, and answered when it is done.
namespace volley::daemon {
namespace {

using service::Command;
using service::Outcome;
using Verdict = Outcome::Verdict;

constexpr std::chrono::seconds stats_patience{5};
constexpr std::string_view request_name = "request";

Outcome refused(Verdict verdict, std::string code, std::string message, std::string hint = {}) {
    Outcome out;
    out.verdict = verdict;
    out.code = std::move(code);
    out.message = std::move(message);
    out.hint = std::move(hint);
    return out;
}

std::string summary(const config::Error& error) {
    const std::size_t n = error.problems.size();
    const std::string first = config::to_line(error.problems.front());
    return n == 1 ? first : std::to_string(n) + " problems, first " + first;
}

Outcome invalid(const config::Error& error) {
    Outcome out = refused(Verdict::invalid, "invalid_configuration", summary(error));
    out.problems = error.problems;
    return out;
}

// A pause is no part of the configuration: it lasts until it is taken back, whatever is reloaded meanwhile.
void keep_paused(const config::Model& running, config::Model& fresh) {
    std::unordered_set<std::string_view> paused;
    for (const config::Stream& stream : running.streams) {
        if (stream.paused) paused.insert(stream.name);
    }
    for (config::Stream& stream : fresh.streams) stream.paused = paused.contains(stream.name);
}

bool same_pauses(const config::Model& a, const config::Model& b) {
    return std::equal(a.streams.begin(), a.streams.end(), b.streams.begin(), b.streams.end(),
                      [](const config::Stream& x, const config::Stream& y) { return x.paused == y.paused; });
}

// /streams/7/rate/steps/0 is /rate/steps/0 of a body whose rate went to /streams/7.
std::string into_body(const std::string& pointer, const std::vector<Daemon::Edit>& edits) {
    for (const Daemon::Edit& edit : edits) {
        const std::string place = edit.at + "/" + edit.key;
        if (pointer == place || pointer.rfind(place + "/", 0) == 0) return pointer.substr(edit.at.size());
    }
    return pointer;
}

const std::string* value_of(const Command& command, std::string_view key) {
    const auto found = std::find_if(command.values.begin(), command.values.end(),
                                    [&](const auto& value) { return value.first == key; });
    return found == command.values.end() ? nullptr : &found->second;
}

}  // namespace

void Daemon::obey() {
    while (auto letter = steering_->take()) {
        if (letter->command.kind == Command::Kind::capture) {
            capture(std::move(*letter));
            continue;
        }
        Outcome outcome = execute(letter->command);
        stats_->tick(stats_patience);  // what the client reads next has the effect of what it has just done
        add_situation(outcome);
        letter->answer(outcome);
    }
}

void Daemon::add_situation(Outcome& outcome) const {
    outcome.state = name_of(state_);
    outcome.run_id = situation_.run_id;
    outcome.generation = generation_;
    outcome.etag = steering_->etag();
}

// Goes on beside everything else and is answered when it is over.
void Daemon::capture(service::Mailbox::Letter letter) {
    service::CaptureOrder order = std::move(letter.command.capture);
    const config::Port* const port = find_port(model_, order.port);
    Outcome outcome;
    if (port == nullptr) {
        outcome = refused(Verdict::not_found, "no_such_port", "no port is named " + config::quote(order.port),
                          "GET /api/v1/ports lists them");
    } else if (!port->rx) {
        outcome = refused(Verdict::invalid, "not_received",
                          "port " + order.port + " receives nothing, so there is nothing to capture",
                          "give it \"rx\" and restart");
    } else {
        const auto number = static_cast<std::uint32_t>(port - model_.ports.data());
        std::vector<worker::RxWorker*> receivers;
        for (const auto& lane : road_.receivers()) {
            if (lane->port == number) receivers.push_back(&lane->worker);
        }
        add_situation(outcome);
        const std::string name = order.port;
        if (captures_->begin(number, std::move(receivers), std::move(order), outcome, letter.answer)) return;
        outcome = refused(Verdict::conflict, "capture_under_way", "port " + name + " has a capture under way",
                          "wait for its end");
    }
    add_situation(outcome);
    letter.answer(outcome);
}

Outcome Daemon::execute(const Command& command) {
    if (!command.if_match.empty() && command.if_match != "*" && command.if_match != steering_->etag()) {
        return refused(Verdict::stale, "changed_meanwhile",
                       "the configuration is not the one that you have seen",
                       "read it again, change that, and send its ETag");
    }
    switch (command.kind) {
        case Command::Kind::start:
            return start(command);
        case Command::Kind::stop:
            return stop_run();
        case Command::Kind::clear:
            return clear();
        case Command::Kind::reload:
            return reload();
        case Command::Kind::configure:
            return adopt_configuration([&] {
                config::ParseOptions options;
                options.comments = false;
                options.base_directory =
                    std::filesystem::absolute(options_.config_file).parent_path().lexically_normal().string();
                return config::parse(command.text, request_name, options);
            });
        case Command::Kind::change_streams:
            return change_streams(command);
        case Command::Kind::log_level:
        case Command::Kind::capture:
            break;
    }
    const auto level = spdlog::level::from_str(command.text);
    if (level == spdlog::level::off && command.text != "off") {
        return refused(Verdict::invalid, "unknown_level", "there is no such level",
                       "levels are trace, debug, info, warning, error, critical and off");
    }
    spdlog::set_level(level);
    return {};
}

// The configuration in force with members of a request's body put in at places, judged in full. Throws
// config::Error whose problems within those members point into the body.
config::Model Daemon::edited(const std::vector<Edit>& edits) const {
    std::vector<std::string> sets;
    for (const Edit& edit : edits) sets.push_back(edit.at + "/" + edit.key + "=" + edit.value);
    try {
        return config::edit(model_, request_name, sets);
    } catch (config::Error& error) {
        std::vector<config::Problem> out;
        for (config::Problem& problem : error.problems) {
            problem = {std::string(request_name), 0, 0, into_body(problem.pointer, edits), problem.text};
            const auto same = [&](const config::Problem& p) {
                return p.pointer == problem.pointer && p.text == problem.text;
            };
            if (std::none_of(out.begin(), out.end(), same)) out.push_back(problem);
        }
        throw config::Error(std::move(out));
    }
}

Outcome Daemon::start(const Command& command) {
    if (state_ != State::idle) {
        return refused(Verdict::conflict, "not_idle", "a run is under way: " + std::string(name_of(state_)),
                       "stop it, or wait for its end");
    }
    const config::Model before = model_;
    const auto not_started = [&](Outcome why) {
        model_ = before;
        configured_run_.reset();
        return why;
    };
    std::string failed = "unresolved";  // what the device or the network refuses, by the step at hand
    try {
        std::vector<Edit> edits;
        for (const char* key : {"duration", "multiplier"}) {
            if (const std::string* value = value_of(command, key)) edits.push_back({"/run", key, *value});
        }
        if (!edits.empty()) {
            config::Model fresh = edited(edits);
            keep_paused(model_, fresh);
            configured_run_ = model_.run;
            model_ = std::move(fresh);
        }
        hurry_ = dry_ = false;
        next_hops_.forget();
        if (!find_next_hops(model_))
            return not_started(
                refused(Verdict::unavailable, "stopping", "a stop came before its next hops were known"));
        failed = "not_begun";
        begin_run();
    } catch (const StopAsked& stop) {
        return not_started(refused(Verdict::unavailable, "stopping", stop.what()));
    } catch (const dpdk::Error& error) {
        return not_started(refused(Verdict::unavailable, failed, error.what()));
    } catch (const config::Error& error) {
        return not_started(invalid(error));
    }
    fire(Event::start);
    return {};
}

Outcome Daemon::stop_run() {
    if (state_ == State::running) {
        exit_after_ = stop_asked_;
        begin_drain();
        fire(Event::stop_run);
    }
    return {};
}

Outcome Daemon::clear() {
    if (stats_->clear(stats_patience) != nullptr) return {};
    return refused(Verdict::unavailable, "stats_late", "the stats lcore does not answer", "look at the log");
}

Outcome Daemon::change_streams(const Command& command) {
    Outcome out;
    std::vector<Edit> edits;
    std::string follows;  // a stream that is changed through another
    for (std::size_t i = 0; i < model_.streams.size(); ++i) {
        const std::string& name = model_.streams[i].name;
        if (::fnmatch(command.pattern.c_str(), name.c_str(), 0) != 0) continue;
        out.names.push_back(name);
        for (const auto& [key, value] : command.values) {
            if (key == "paused") continue;
            if (model_.streams[i].is_reverse) {
                follows = name;
                continue;
            }
            edits.push_back({"/streams/" + std::to_string(i), key, value});
        }
    }
    if (out.names.empty()) {
        return refused(Verdict::not_found, "no_such_stream",
                       "no stream is named " + config::quote(command.pattern),
                       "volleyctl streams, or GET /api/v1/streams, lists them");
    }
    if (!follows.empty() && edits.empty()) {
        return refused(Verdict::invalid, "follows_another",
                       "stream " + config::quote(follows) + " is the reverse of another and follows it",
                       "change the stream that it is the reverse of");
    }
    const std::string* paused = value_of(command, "paused");
    if (paused != nullptr && *paused != "true" && *paused != "false") {
        Outcome wrong = refused(Verdict::invalid, "not_boolean", "true or false is needed");
        wrong.problems = {{"", 0, 0, "/paused", "true or false is needed"}};
        return wrong;
    }
    Outcome done =
        adopt_configuration([&] { return edits.empty() ? model_ : edited(edits); },
                            [&](config::Model& fresh) {
                                if (paused == nullptr) return;
                                for (config::Stream& stream : fresh.streams) {
                                    if (::fnmatch(command.pattern.c_str(), stream.name.c_str(), 0) == 0)
                                        stream.paused = *paused == "true";
                                }
                            });
    done.names = std::move(out.names);
    return done;
}

Outcome Daemon::reload_done(const std::string& what) {
    spdlog::info("reload: {}", what);
    reload_warning_.reset();
    ++situation_.reloads.done;
    situation_.reloads.last_refused = false;
    steering_->publish(model_);
    return {};
}

Outcome Daemon::refuse_reload(Verdict verdict, const std::string& code, const std::string& why) {
    spdlog::error("reload refused, generation {} goes on: {}", generation_, why);
    reload_warning_ = "last reload refused: " + why;
    ++situation_.reloads.refused;
    situation_.reloads.last_refused = true;
    return refused(verdict, code, why);
}

// Reads and compares; nothing is touched before all is known to be right.
Outcome Daemon::adopt_configuration(const std::function<config::Model()>& read,
                                    const std::function<void(config::Model&)>& edit) {
    if (state_ != State::running && state_ != State::idle) {
        spdlog::warn("reload ignored while {}", name_of(state_));
        return refused(Verdict::conflict, "not_now",
                       "nothing can be changed while " + std::string(name_of(state_)),
                       "try again when it is running or idle");
    }
    fire(Event::reload);
    systemd_.reloading();
    Outcome out;
    situation_.reloads.last_unix_ns = clock_ns(CLOCK_REALTIME);
    try {
        config::Model fresh = read();
        keep_paused(model_, fresh);
        if (edit) edit(fresh);
        const config::Change change = config::classify(model_, fresh);
        if (change.kind == config::Change::Kind::needs_restart) {
            std::string keys;
            for (const std::string& key : change.restart) keys += (keys.empty() ? "" : ", ") + key;
            out = refuse_reload(Verdict::conflict, "needs_restart", "these keys need a restart: " + keys);
            for (const std::string& key : change.restart)
                out.problems.push_back({"", 0, 0, key, "needs a restart"});
        } else if (change.kind == config::Change::Kind::nothing && same_pauses(model_, fresh) &&
                   same_files()) {
            out = reload_done("nothing has changed");
        } else if (replace_plan(std::move(fresh))) {
            configured_run_.reset();
            out = reload_done("done, generation " + std::to_string(generation_));
        } else {
            const std::string why = reload_warning_.value_or("the last reload has not reached every worker");
            out = refuse_reload(Verdict::unavailable, "not_adopted", why);
            reload_warning_ = why;
            steering_->publish(model_);
        }
    } catch (const config::Error& error) {
        for (const config::Problem& problem : error.problems) spdlog::error("{}", config::to_line(problem));
        refuse_reload(Verdict::invalid, "invalid_configuration", summary(error));
        out = invalid(error);
    } catch (const StopAsked& stop) {
        out = refuse_reload(Verdict::unavailable, "stopping", stop.what());
    } catch (const dpdk::Error& error) {
        out = refuse_reload(Verdict::unavailable, "unresolved", error.what());
    } catch (const std::exception& error) {
        out = refuse_reload(Verdict::invalid, "unreadable", error.what());
    }
    fire(Event::reload_done);
    systemd_.ready();
    tell();
    return out;
}

}  // namespace volley::daemon
