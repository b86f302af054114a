#include <algorithm>
#include <charconv>

#include "base/clock.h"
#include "service/api.h"
#include "service/assets.h"
#include "service/schema.h"
#include "telemetry/json_writer.h"
#include "telemetry/render.h"

namespace volley::service {
namespace {

constexpr std::size_t most_streams = 1000;

std::string pattern_of(const Target& target) {
    const std::string* name = target.parameter("name");
    return name == nullptr ? std::string() : *name;
}

// False when the parameter is there and no number.
bool read_number(const Target& target, std::string_view name, std::size_t& out) {
    const std::string* text = target.parameter(name);
    if (text == nullptr) return true;
    const char* const end = text->data() + text->size();
    const auto [rest, error] = std::from_chars(text->data(), end, out);
    return error == std::errc{} && rest == end;
}

// Shares what was published; nothing is copied.
Response shared_response(const std::shared_ptr<const telemetry::Published>& line, const std::string& part) {
    Response out;
    out.body = Response::Body(line, &part);
    return out;
}

std::string event_text(std::string_view kind, const telemetry::Published& line) {
    std::string out = "event: ";
    (out += kind) += "\nid: " + std::to_string(line.snapshot.sequence) + "\ndata: ";
    (out += line.line) += '\n';  // the line ends in one newline, the event in two
    return out;
}

}  // namespace

Api::Line Api::latest(const Reply& reply) const {
    Line line = sources_.latest();
    if (line == nullptr) {
        reply(error_response(503, "not_yet", "there is no telemetry yet", "try again in a second"));
    }
    return line;
}

void Api::metrics(const Request& /*request*/, const Target& /*target*/, const Reply& reply) {
    const Line line = latest(reply);
    if (line == nullptr) return;
    Response out = shared_response(line, line->metrics);
    out.type = "text/plain; version=0.0.4; charset=utf-8";
    reply(std::move(out));
}

void Api::telemetry_line(const Request& /*request*/, const Target& /*target*/, const Reply& reply) {
    const Line line = latest(reply);
    if (line != nullptr) reply(shared_response(line, line->line));
}

void Api::health(const Request& /*request*/, const Target& /*target*/, const Reply& reply) {
    const Line line = latest(reply);
    if (line == nullptr) return;
    const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
    if (now > line->snapshot.monotonic_ns && now - line->snapshot.monotonic_ns > options_.stale_ns) {
        reply(error_response(503, "stale", "the last telemetry is too old", "look at the log of volleyd"));
        return;
    }
    reply(json_response("{\"status\":\"ok\"}\n"));
}

// A page may do nothing but load its own files and talk to where it came from.
void Api::asset(const Request& request, const Target& target, const Reply& reply) {
    const std::string path = target.path.empty() ? "/" : "/assets/" + target.path.back();
    const auto found = std::find_if(assets().begin(), assets().end(),
                                    [&](const Asset& asset) { return asset.path == path; });
    if (found == assets().end()) {
        reply(error_response(404, "not_found", "there is no such file", "the dashboard is at /"));
        return;
    }
    Response out;
    out.type = found->type;
    out.headers = {
        {"Content-Security-Policy", "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cache-Control", "no-cache"},
        {"ETag", std::string(found->etag)}};
    if (request.if_none_match == found->etag) {
        out.status = 304;
    } else {
        out.body = std::make_shared<const std::string>(found->text);
    }
    reply(std::move(out));
}

void Api::state(const Request& request, const Target& /*target*/, const Reply& reply) {
    const Line line = latest(reply);
    if (line == nullptr) return;
    const telemetry::Snapshot& now = line->snapshot;
    const telemetry::Reloads& reloads = line->totals->reloads;
    const auto configuration = sources_.configuration();
    const Line report = sources_.latest_report();
    std::string body;
    telemetry::JsonWriter json(body);
    json.begin_object().member("name", options_.name).member("version", options_.version);
    json.member("state", now.state).member("run_id", now.run_id).member("generation", now.generation);
    json.member("sequence", now.sequence)
        .member("time_unix_ns", now.time_unix_ns)
        .member("duration_ns", now.duration_ns);
    json.member("ports", std::uint64_t{now.ports.size()})
        .member("streams", std::uint64_t{line->totals->streams.size()});
    json.member("etag", configuration ? configuration->etag : std::string());
    json.member("report_run_id", report ? std::optional(report->snapshot.run_id) : std::nullopt);
    json.member("may_change", right_of(request) == Right::change);
    json.key("reloads").begin_object().member("done", reloads.done).member("refused", reloads.refused);
    json.member("last_refused", reloads.last_refused)
        .member("last_unix_ns", reloads.last_unix_ns)
        .end_object();
    json.key("warnings").begin_array();
    for (const std::string& warning : now.warnings) json.value(warning);
    json.end_array().end_object();
    body += '\n';
    reply(json_response(std::move(body)));
}

void Api::ports(const Request& /*request*/, const Target& target, const Reply& reply) {
    const Line line = latest(reply);
    if (line != nullptr) reply(json_response(telemetry::render_ports(line->snapshot, pattern_of(target))));
}

void Api::xstats(const Request& /*request*/, const Target& target, const Reply& reply) {
    const Line line = latest(reply);
    if (line != nullptr) reply(json_response(telemetry::render_xstats(line->snapshot, pattern_of(target))));
}

void Api::streams(const Request& /*request*/, const Target& target, const Reply& reply) {
    const Line line = latest(reply);
    if (line == nullptr) return;
    std::size_t offset = 0;
    std::size_t limit = most_streams;
    if (!read_number(target, "offset", offset) || !read_number(target, "limit", limit)) {
        reply(error_response(400, "bad_parameter", "offset and limit are numbers"));
        return;
    }
    std::size_t total = 0;
    const auto streams =
        telemetry::make_streams(*line->base, *line->previous, *line->totals, pattern_of(target), offset,
                                std::min(limit, most_streams), total);
    reply(json_response(telemetry::render_streams(streams, total)));
}

void Api::configuration(const Request& request, const Target& /*target*/, const Reply& reply) {
    const auto configuration = sources_.configuration();
    Response out;
    out.headers.emplace_back("ETag", configuration->etag);
    if (!request.if_none_match.empty() && request.if_none_match == configuration->etag) {
        out.status = 304;
    } else {
        out.body = Response::Body(configuration, &configuration->text);
    }
    reply(std::move(out));
}

void Api::schema(const Request& /*request*/, const Target& /*target*/, const Reply& reply) {
    Response out = json_response(std::string(configuration_schema()));
    out.type = "application/schema+json";
    reply(std::move(out));
}

void Api::report(const Request& /*request*/, const Target& /*target*/, const Reply& reply) {
    const Line line = sources_.latest_report();
    if (line == nullptr) {
        reply(error_response(404, "no_report", "no run has ended yet", "POST /api/v1/stop ends a run"));
    } else {
        reply(shared_response(line, line->line));
    }
}

// A client that is slow gets the latest line when it has taken the one before, never a backlog.
void Api::events(const Request& /*request*/, const Target& /*target*/, const Reply& reply) {
    Response out;
    const Line report = sources_.latest_report();
    out.type = "text/event-stream";
    out.events = [this, line_seen = Line(), report_seen = report]() mutable -> Response::Body {
        Line now = sources_.latest_report();
        if (now != nullptr && now != report_seen) {
            report_seen = now;
            return std::make_shared<const std::string>(event_text("report", *now));
        }
        now = sources_.latest();
        if (now == nullptr || now == line_seen) return nullptr;
        line_seen = now;
        return std::make_shared<const std::string>(event_text("snapshot", *now));
    };
    reply(std::move(out));
}

}  // namespace volley::service
