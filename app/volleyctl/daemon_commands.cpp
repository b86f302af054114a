#include "volleyctl/daemon_commands.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "config/print.h"
#include "volleyctl/capture_summary.h"
#include "volleyctl/exit_codes.h"
#include "volleyctl/failure.h"
#include "volleyctl/progress.h"
#include "volleyctl/result.h"
#include "volleyctl/show.h"
#include "whole_number.h"

namespace volley::ctl {
namespace {

using nlohmann::json;

// What the report says of the run: whether all that was accepted was sent, and what was expected came true.
int verdict_of(const json& report, const std::vector<Verdict>& verdicts) {
    std::uint64_t unsent = 0;
    for (const json& port : report.at("ports")) {
        if (port.at("tx").is_object()) unsent += port.at("tx").at("unsent").get<std::uint64_t>();
    }
    if (unsent != 0 || report.at("settled") != true) return exit_try_again;
    const auto missed = [&](bool rate) {
        return std::any_of(verdicts.begin(), verdicts.end(), [rate](const Verdict& verdict) {
            return !verdict.met && (verdict.expectation == "rate_error_ppm") == rate;
        });
    };
    return missed(false) ? exit_not_expected : missed(true) ? exit_rate_missed : 0;
}

// How long the run that is on will take, where that is known.
std::optional<std::uint64_t> length_of(const std::string& asked, const json& config) {
    std::string text = asked;
    const json::json_pointer at("/run/duration");
    if (text.empty() && config.contains(at) && config.at(at).is_string())
        text = config.at(at).get<std::string>();
    std::string why;
    const auto duration = parse_duration(text, why);
    return duration ? std::optional(duration->ns) : std::nullopt;
}

bool write_file(const std::string& file, const std::string& text) {
    if (file.empty() || (std::ofstream(file) << text).flush()) return true;
    std::cerr << "volleyctl: cannot write " << file << '\n';
    return false;
}

// A number stays one; anything else is a text, which the daemon judges.
json number_or_text(const std::string& text) {
    const json value = json::parse(text, nullptr, false);
    return value.is_number() ? value : json(text);
}

constexpr long longest_capture_s = 660;  // ten minutes, and the way

}  // namespace

void add_place(CLI::App& app, Place& place) {
    app.add_option("--socket", place.socket, "Control socket; default: the one in the runtime folders")
        ->type_name("PATH");
    app.add_option("--url", place.url, "The daemon over TCP, such as https://lab-east:9464")
        ->type_name("URL");
    app.add_option("--token-file", place.token_file, "File that holds the token for --url")
        ->type_name("FILE");
    app.add_option("--ca-file", place.ca_file, "Certificates that --url is checked by, PEM")
        ->type_name("FILE");
}

CLI::App* DaemonCommands::verb(CLI::App& app, const std::string& name, const std::string& help,
                               int (DaemonCommands::*action)()) {
    CLI::App* out = app.add_subcommand(name, help);
    out->add_flag("--json", json_, "Print JSON");
    out->fallthrough();
    verbs_.push_back({out, action});
    return out;
}

DaemonCommands::DaemonCommands(CLI::App& app, const Place& place) : place_(place) {
    using Self = DaemonCommands;
    const auto add_run_options = [this](CLI::App* of) {
        of->add_option("--duration", duration_, "Length of this run, such as 10s")->type_name("D");
        of->add_option("--multiplier", multiplier_, "Factor on every scaled rate in this run")
            ->type_name("X");
    };
    CLI::App* run = verb(app, "run", "Start, wait, print the settled report", &Self::run_once);
    add_run_options(run);
    run->add_option("--report", report_file_, "Write the report to this file too")->type_name("FILE");
    run->add_option("--result", result_file_,
                    "Write configuration, environment, report and samples to this file")
        ->type_name("FILE");
    verb(app, "status", "State, rates and warnings", &Self::status);
    for (const auto& [name, help, action] :
         {std::tuple{"ports", "Ports: links, packets, rates", &Self::ports},
          std::tuple{"streams", "Streams: state, packets, rates", &Self::streams},
          std::tuple{"xstats", "Extended statistics of the devices", &Self::xstats}}) {
        verb(app, name, help, action)->add_option("PATTERN", pattern_, "Names, as a shell pattern");
    }
    add_run_options(verb(app, "start", "Start a run", &Self::start));
    verb(app, "stop", "End the run and wait for its report", &Self::stop)
        ->add_flag("--no-wait", no_wait_, "Do not wait for the report");
    for (const auto& [name, help, action] :
         {std::tuple{"pause", "Streams keep their place and send nothing", &Self::pause},
          std::tuple{"resume", "Paused streams go on", &Self::resume}}) {
        verb(app, name, help, action)
            ->add_option("PATTERN", patterns_, "Names, as shell patterns")
            ->required();
    }
    CLI::App* rate = verb(app, "rate", "Change the rate of streams", &Self::rate);
    rate->add_option("PATTERN", pattern_, "Names, as a shell pattern")->required();
    rate->add_option("RATE", rate_, "Such as 10%, 1.5Mpps, 2Gbps or max")->required();
    verb(app, "clear", "Count in answers and lines from now on", &Self::clear);
    verb(app, "reload", "Read the configuration file again", &Self::reload);
    verb(app, "log-level", "Change what is logged", &Self::log_level)
        ->add_option("LEVEL", level_, "trace, debug, info, warning, error, critical or off")
        ->required();
    verb(app, "watch", "A line a tick, until interrupted", &Self::watch)
        ->add_option("--count", count_, "End after so many lines")
        ->transform(whole_number())
        ->type_name("N");
    CLI::App* capture =
        verb(app, "capture", "Packets that a port receives, as a pcapng file", &Self::capture);
    capture->add_option("PORT", port_, "Name of the port")->required();
    capture->add_option("--filter", filter_, "What to take, as pcap-filter(7) says it; default: everything")
        ->type_name("EXPRESSION");
    capture->add_option("--count", packets_, "End with so many packets; default: 1000")->type_name("N");
    capture->add_option("--bytes", bytes_, "End with so many bytes of them; default: 16777216")
        ->type_name("N");
    capture->add_option("--duration", duration_, "End after this time; default: 10s")->type_name("D");
    capture->add_option("--snap", snap_, "Keep so many bytes of a packet; default: 2048")->type_name("N");
    capture->add_option("-o,--output", capture_file_, "File; default: stdout, for a pipe")->type_name("FILE");
    CLI::App* report =
        verb(app, "report", "The report of the last run, or of a file, in other forms too", &Self::report);
    report->add_option("FILE", from_,
                       "A result of run --result, or a file of telemetry lines; needs no daemon");
    report->add_option("--html", html_file_, "One page with plots, readable without JavaScript")
        ->type_name("FILE");
    report->add_option("--csv", csv_file_, "A line a port and a stream")->type_name("FILE");
    report->add_option("--junit", junit_file_, "What was expected, as test cases")->type_name("FILE");
}

bool DaemonCommands::parsed() const {
    return std::any_of(verbs_.begin(), verbs_.end(), [](const Verb& verb) { return verb.app->parsed(); });
}

int DaemonCommands::run() {
    for (const Verb& verb : verbs_) {
        if (!verb.app->parsed()) continue;
        try {
            if (from_.empty()) client_ = std::make_unique<Client>(place_);
            return (this->*verb.action)();
        } catch (const Unreachable& error) {
            return fail(json_, exit_unavailable, "unreachable", error.what());
        } catch (const NoSuchFile& error) {
            return fail(json_, exit_no_input, "no_such_file", error.what());
        } catch (const ResultError& error) {
            return fail(json_, exit_bad_content, "bad_content", error.what());
        }
    }
    return exit_internal;
}

int DaemonCommands::tell(const Reply& reply) const {
    if (json_) {
        std::cout << reply.body;
    } else {
        std::cerr << error_text(reply);
    }
    return exit_code_of(reply);
}

int DaemonCommands::show(const Reply& reply, std::string (*text)(const std::string& body)) const {
    if (reply.status != 200) return tell(reply);
    std::cout << (json_ ? reply.body : text(reply.body));
    return 0;
}

// A pattern that fits nothing is most likely a slip.
int DaemonCommands::none_named(const std::string& kind) const {
    return fail(json_, exit_no_input, "none_named",
                "none of the " + kind + " is named " + config::quote(pattern_) + "; volleyctl " + kind +
                    " without a name lists them");
}

int DaemonCommands::show_ports(const std::string& route, std::string (*text)(const std::string& body)) const {
    const Reply reply = client_->request("GET", route + "?name=" + Client::escape(pattern_));
    if (reply.status == 200 && pattern_ != "*" && json::parse(reply.body).at("ports").empty())
        return none_named("ports");
    return show(reply, text);
}

int DaemonCommands::change(const std::string& method, const std::string& path, const std::string& body) {
    return show(client_->request(method, path, body), changed_text);
}

int DaemonCommands::change_streams(const std::string& body) {
    int code = 0;
    for (const std::string& pattern : patterns_)
        code = std::max(code, change("PATCH", "/api/v1/streams/" + Client::escape(pattern), body));
    return code;
}

std::string DaemonCommands::start_body() const {
    json body = json::object();
    if (!duration_.empty()) body["duration"] = duration_;
    if (!multiplier_.empty()) body["multiplier"] = number_or_text(multiplier_);
    return body.dump();
}

// The report is told by its event, so nothing is polled; one that was published before we listened is found
// by its run's id.
int DaemonCommands::run_once() {
    const Reply started = client_->request("POST", "/api/v1/start", start_body());
    if (started.status != 200) return tell(started);
    const std::string run_id = json::parse(started.body).at("run_id");
    const json config = configuration();
    std::vector<json> lines;
    std::string line;
    const auto look = [&] {
        const Reply reply = client_->request("GET", "/api/v1/report");
        if (reply.status == 200 && json::parse(reply.body).at("run_id") == run_id) line = reply.body;
        return !line.empty();
    };
    {
        Progress progress(length_of(duration_, config));
        while (!look()) {
            client_->events("/api/v1/events", [&](const std::string& kind, const std::string& data) {
                json event = json::parse(data);
                const bool on = kind != "report" && event.at("state") != "idle";
                if (on && event.at("run_id") == run_id) {
                    progress.show(event);
                    if (!result_file_.empty()) lines.push_back(std::move(event));
                }
                return on;
            });
        }
    }
    lines.push_back(json::parse(line));
    const Result result = make_result(lines, config);
    if (!write_file(report_file_, line) || !write_file(result_file_, result.dump(1) + "\n"))
        return exit_no_input;
    std::cout << (json_ ? line : report_text(line));
    return verdict_of(lines.back(), judge(result));
}

json DaemonCommands::configuration() {
    const Reply reply = client_->request("GET", "/api/v1/config");
    return reply.status == 200 ? json::parse(reply.body) : json(nullptr);
}

int DaemonCommands::status() {
    const Reply state = client_->request("GET", "/api/v1/state");
    if (state.status != 200 || json_) return show(state, nullptr);
    const Reply line = client_->request("GET", "/telemetry");
    if (line.status != 200) return tell(line);
    std::cout << status_text(state.body, line.body);
    return 0;
}

int DaemonCommands::ports() {
    return show_ports("/api/v1/ports", ports_text);
}

// However many there are: page by page.
int DaemonCommands::streams() {
    json all = json::array();
    for (;;) {
        const Reply reply = client_->request("GET", "/api/v1/streams?name=" + Client::escape(pattern_) +
                                                        "&offset=" + std::to_string(all.size()));
        if (reply.status != 200) return tell(reply);
        const json page = json::parse(reply.body);
        for (const json& stream : page.at("streams")) all.push_back(stream);
        if (page.at("streams").empty() || all.size() >= page.at("total").get<std::size_t>()) break;
    }
    if (all.empty() && pattern_ != "*") return none_named("streams");
    const json out{{"total", all.size()}, {"streams", all}};
    std::cout << (json_ ? out.dump() + "\n" : streams_text(out.dump()));
    return 0;
}

int DaemonCommands::xstats() {
    return show_ports("/api/v1/xstats", xstats_text);
}

int DaemonCommands::start() {
    return change("POST", "/api/v1/start", start_body());
}

int DaemonCommands::stop() {
    const Reply reply = client_->request("POST", "/api/v1/stop");
    if (reply.status != 200 || no_wait_) return show(reply, changed_text);
    Reply state = reply;
    while (json::parse(state.body).at("state") != "idle") {
        client_->events("/api/v1/events", [](const std::string& kind, const std::string& data) {
            return kind != "report" && json::parse(data).at("state") != "idle";
        });
        state = client_->request("GET", "/api/v1/state");
        if (state.status != 200) return tell(state);
    }
    return show(state, changed_text);
}

int DaemonCommands::pause() {
    return change_streams(R"({"paused":true})");
}

int DaemonCommands::resume() {
    return change_streams(R"({"paused":false})");
}

int DaemonCommands::rate() {
    patterns_ = {pattern_};
    const json value = json::parse(rate_, nullptr, false);
    return change_streams(json{{"rate", value.is_object() ? value : json(rate_)}}.dump());
}

int DaemonCommands::clear() {
    return change("POST", "/api/v1/clear");
}

int DaemonCommands::reload() {
    return change("POST", "/api/v1/reload");
}

int DaemonCommands::log_level() {
    return change("PUT", "/api/v1/log-level", json{{"level", level_}}.dump());
}

int DaemonCommands::watch() {
    unsigned lines = 0;
    client_->events("/api/v1/events", [&](const std::string& /*kind*/, const std::string& data) {
        std::cout << (json_ ? data + "\n" : line_text(data)) << std::flush;
        return std::cout.good() && (count_ == 0 || ++lines < count_);
    });
    return 0;
}

int DaemonCommands::capture() {
    const bool piped = capture_file_ == "-";
    if (piped && ::isatty(STDOUT_FILENO) != 0) {
        return fail(json_, exit_usage, "usage", "a capture is nothing to read; give -o FILE, or a pipe");
    }
    json body{{"port", port_}};
    if (!filter_.empty()) body["filter"] = filter_;
    if (!duration_.empty()) body["duration"] = duration_;
    for (const auto& [key, text] : {std::pair{"packets", &packets_}, {"bytes", &bytes_}, {"snap", &snap_}}) {
        if (!text->empty()) body[key] = number_or_text(*text);
    }
    client_->set_patience(longest_capture_s);
    const Reply reply = client_->request("POST", "/api/v1/capture", body.dump());
    if (reply.status != 200) return tell(reply);
    const CaptureSummary seen = summary_of(reply.body);
    if (piped) {
        std::cout << reply.body << std::flush;
    } else if (!write_file(capture_file_, reply.body)) {
        return exit_no_input;
    }
    if (json_ && !piped) {
        std::cout << json{{"file", capture_file_},
                          {"packets", seen.packets},
                          {"received", seen.received},
                          {"accepted", seen.accepted},
                          {"dropped", seen.dropped}}
                  << '\n';
    } else {
        std::cerr << "volleyctl: " << seen.packets << " packets captured, " << seen.received << " looked at, "
                  << seen.dropped << " without room\n";
    }
    return 0;
}

int DaemonCommands::report() {
    Result result;
    if (!from_.empty()) {
        result = read_result(from_);
        const std::string line = json(result.at("report")).dump() + "\n";
        std::cout << (json_ ? line : report_text(line));
    } else {
        const Reply reply = client_->request("GET", "/api/v1/report");
        if (const int code = show(reply, report_text); code != 0) return code;
        result = make_result({json::parse(reply.body)}, configuration());
    }
    const bool written = write_file(html_file_, html_file_.empty() ? "" : result_html(result)) &&
                         write_file(csv_file_, csv_file_.empty() ? "" : result_csv(result)) &&
                         write_file(junit_file_, junit_file_.empty() ? "" : result_junit(result));
    return written ? 0 : exit_no_input;
}

}  // namespace volley::ctl
