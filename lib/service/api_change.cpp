#include <algorithm>
#include <initializer_list>
#include <optional>

#include "config/reader.h"
#include "service/api.h"
#include "telemetry/json_writer.h"

namespace volley::service {
namespace {

using Verdict = Outcome::Verdict;

unsigned status_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::done:
            return 200;
        case Verdict::invalid:
            return 422;
        case Verdict::not_found:
            return 404;
        case Verdict::conflict:
            return 409;
        case Verdict::stale:
            return 412;
        case Verdict::unavailable:
            break;
    }
    return 503;
}

void write_problems(telemetry::JsonWriter& writer, const std::vector<config::Problem>& problems) {
    writer.key("problems").begin_array();
    for (const config::Problem& problem : problems) {
        writer.begin_object().member("pointer", problem.pointer).member("text", problem.text);
        writer.member("line", problem.line).member("column", problem.column).end_object();
    }
    writer.end_array();
}

// The object that a small body is; nothing after having answered.
std::optional<config::Node> read_body(const Request& request, const Handler::Reply& reply) {
    config::Problems problems;
    auto body = config::read_json(request.body, "request", false, problems);
    if (!body || body->object() == nullptr) {
        reply(error_response(400, "bad_body", "the body is no JSON object"));
        return std::nullopt;
    }
    try {
        problems.throw_if_any();
    } catch (const config::Error& error) {
        const config::Problem& first = error.problems.front();
        reply(error_response(400, "bad_body", first.text, "send each key once", first.pointer));
        return std::nullopt;
    }
    return body;
}

// The members of a small object; false after having answered.
bool read_values(const Request& request, std::initializer_list<std::string_view> known, Command& out,
                 const Handler::Reply& reply) {
    if (request.body.empty()) return true;
    const auto body = read_body(request, reply);
    if (!body) return false;
    for (const config::Member& member : *body->object()) {
        const std::string& key = member.key;
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            std::string names;
            for (const std::string_view name : known)
                names += (names.empty() ? "" : ", ") + std::string(name);
            reply(error_response(422, "unknown_key", "this key is not known here",
                                 names.empty() ? "the body is empty" : "known are " + names, "/" + key));
            return false;
        }
        out.values.emplace_back(key, config::write_json(member.value, 0));
    }
    return true;
}

constexpr std::uint64_t most_captured_packets = 1'000'000;
constexpr std::uint64_t most_captured_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t longest_capture_ns = 600'000'000'000;

// Reads a member of a capture's order; says what would be right when it is not.
std::string read_order(const std::string& key, const config::Node& value, CaptureOrder& out) {
    const auto number = [&](std::uint64_t least, std::uint64_t most, auto& to) -> std::string {
        const std::uint64_t* const given = value.number();
        if (given == nullptr || *given < least || *given > most)
            return "an integer from " + std::to_string(least) + " to " + std::to_string(most) + " is needed";
        to = static_cast<std::remove_reference_t<decltype(to)>>(*given);
        return {};
    };
    if (key == "packets") return number(1, most_captured_packets, out.packets);
    if (key == "bytes") return number(1, most_captured_bytes, out.bytes);
    if (key == "snap") return number(64, 9728, out.snap);
    const std::string* const text = value.text();
    if (text == nullptr) return "a text is needed";
    if (key == "port") out.port = *text;
    if (key == "filter") out.filter = *text;
    if (key != "duration") return {};
    std::string why;
    const auto duration = parse_duration(*text, why);
    if (!duration) return why;
    if (duration->ns == 0) return "a capture lasts longer than 0";
    if (duration->ns > longest_capture_ns) return "a capture lasts 10 minutes at most";
    out.duration = *duration;
    return {};
}

}  // namespace

Response response_of(const Outcome& outcome) {
    if (outcome.content != nullptr) {
        Response out;
        out.type = outcome.content_type;
        out.body = outcome.content;
        return out;
    }
    std::string body;
    telemetry::JsonWriter writer(body);
    writer.begin_object();
    if (outcome.verdict != Verdict::done) {
        writer.key("error").begin_object().member("code", outcome.code).member("message", outcome.message);
        writer.member("hint", outcome.hint);
        writer.member("pointer", outcome.problems.empty() ? std::string() : outcome.problems.front().pointer);
        write_problems(writer, outcome.problems);
        writer.end_object();
    }
    writer.member("state", outcome.state)
        .member("run_id", outcome.run_id)
        .member("generation", outcome.generation);
    writer.member("etag", outcome.etag);
    if (!outcome.names.empty()) {
        writer.key("streams").begin_array();
        for (const std::string& name : outcome.names) writer.value(name);
        writer.end_array();
    }
    writer.end_object();
    body += '\n';
    Response out = json_response(std::move(body), status_of(outcome.verdict));
    if (!outcome.etag.empty()) out.headers.emplace_back("ETag", outcome.etag);
    return out;
}

void Api::command(Command command, const Request& request, const Reply& reply) {
    command.who = request.peer.name;
    command.if_match = request.if_match;
    mailbox_.post(std::move(command), [reply](const Outcome& outcome) { reply(response_of(outcome)); });
}

void Api::start(const Request& request, const Target& /*target*/, const Reply& reply) {
    Command out{Command::Kind::start, {}, {}, {}, {}, {}};
    if (read_values(request, {"duration", "multiplier"}, out, reply)) command(std::move(out), request, reply);
}

void Api::stop(const Request& request, const Target& /*target*/, const Reply& reply) {
    Command out{Command::Kind::stop, {}, {}, {}, {}, {}};
    if (read_values(request, {}, out, reply)) command(std::move(out), request, reply);
}

void Api::clear(const Request& request, const Target& /*target*/, const Reply& reply) {
    Command out{Command::Kind::clear, {}, {}, {}, {}, {}};
    if (read_values(request, {}, out, reply)) command(std::move(out), request, reply);
}

void Api::reload(const Request& request, const Target& /*target*/, const Reply& reply) {
    Command out{Command::Kind::reload, {}, {}, {}, {}, {}};
    if (read_values(request, {}, out, reply)) command(std::move(out), request, reply);
}

// Without If-Match a client could undo what another has just done without ever having seen it.
void Api::configure(const Request& request, const Target& /*target*/, const Reply& reply) {
    if (request.if_match.empty()) {
        reply(error_response(428, "if_match_needed", "a new configuration needs If-Match",
                             "send the ETag of the configuration that you changed, or * to replace any"));
        return;
    }
    Command out{Command::Kind::configure, {}, {}, request.body, {}, {}};
    command(std::move(out), request, reply);
}

void Api::change_streams(const Request& request, const Target& target, const Reply& reply) {
    Command out{Command::Kind::change_streams, {}, {}, {}, target.path.back(), {}};
    if (!read_values(request, {"rate", "enabled", "paused"}, out, reply)) return;
    if (out.values.empty()) {
        reply(error_response(400, "bad_body", "nothing is to be changed",
                             "send an object with rate, enabled or paused"));
        return;
    }
    command(std::move(out), request, reply);
}

void Api::capture(const Request& request, const Target& /*target*/, const Reply& reply) {
    Command out{Command::Kind::capture, {}, {}, {}, {}, {}};
    if (!read_values(request, {"port", "filter", "packets", "bytes", "duration", "snap"}, out, reply)) return;
    const auto wrong = [&](const std::string& key, const std::string& why) {
        reply(error_response(422, "bad_value", key + ": " + why, {}, "/" + key));
    };
    const auto body = request.body.empty() ? std::nullopt : read_body(request, reply);
    for (const config::Member& member : body ? *body->object() : config::Node::Object{}) {
        const std::string why = read_order(member.key, member.value, out.capture);
        if (!why.empty()) return wrong(member.key, why);
    }
    if (out.capture.port.empty()) return wrong("port", "the name of a port is needed");
    command(std::move(out), request, reply);
}

void Api::log_level(const Request& request, const Target& /*target*/, const Reply& reply) {
    const auto body = read_body(request, reply);
    if (!body) return;
    const config::Node::Object& members = *body->object();
    const std::string* const level =
        members.size() == 1 && members[0].key == "level" ? members[0].value.text() : nullptr;
    if (level == nullptr) {
        reply(error_response(400, "bad_body", "an object with \"level\" is needed",
                             "levels are trace, debug, info, warning, error, critical and off", "/level"));
        return;
    }
    command({Command::Kind::log_level, {}, {}, *level, {}, {}}, request, reply);
}

}  // namespace volley::service
