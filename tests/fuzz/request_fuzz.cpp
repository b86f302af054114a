// The routes, from the head of a request to the answer: rights, targets, bodies, tokens and configurations.
// An input is lines: method, target, Host, Origin, Authorization, If-Match, 'l' for the Unix socket, then the
// body.
#include <spdlog/spdlog.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/load.h"
#include "service/api.h"
#include "service/mailbox.h"
#include "telemetry/published.h"

namespace {

using namespace volley;

struct World {
    service::Mailbox mailbox;
    std::shared_ptr<telemetry::Published> line = std::make_shared<telemetry::Published>();
    service::Api api;

    static service::Api::Options options() {
        spdlog::set_level(spdlog::level::off);
        service::Api::Options out;
        out.tokens = service::Tokens::parse("read-only 0123456789abcdef\nadmin fedcba9876543210\n", "tokens");
        out.stale_ns = ~std::uint64_t{0};
        return out;
    }
    service::Api::Sources sources() {
        line->totals = line->base = line->previous = std::make_shared<telemetry::Totals>();
        service::Api::Sources out;
        out.latest = [this] { return line; };
        out.latest_report = [] { return nullptr; };
        out.configuration = [] { return service::make_configuration("{}"); };
        return out;
    }
    World() : api(options(), sources(), mailbox) {}
};

std::string next_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    std::string out(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return out;
}

// As control judges it, without a daemon.
service::Outcome judge(const service::Command& command) {
    service::Outcome out;
    if (command.kind != service::Command::Kind::configure) return out;
    try {
        config::ParseOptions options;
        options.comments = false;
        config::parse(command.text, "request", options);
    } catch (const config::Error& error) {
        out.verdict = service::Outcome::Verdict::invalid;
        out.problems = error.problems;
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static World world;
    std::string_view text(reinterpret_cast<const char*>(data), size);
    service::Request request;
    for (std::string* field : {&request.method, &request.target, &request.host, &request.origin,
                               &request.authorization, &request.if_match})
        *field = next_line(text);
    request.peer.local = request.peer.may_change = next_line(text) == "l";
    request.body = text;
    int answers = 0;
    const service::Admission admission = world.api.admit(request);
    if (admission.refusal != nullptr) return 0;
    // Nothing is changed without the right to.
    const bool may_change =
        request.peer.local || request.authorization.find("fedcba9876543210") != std::string::npos;
    world.api.handle(request, [&](const service::Response& response) {
        ++answers;
        if (response.status < 200 || response.status > 599) std::abort();
    });
    while (const auto letter = world.mailbox.take()) {
        if (!may_change) std::abort();
        letter->answer(judge(letter->command));
    }
    if (answers != 1) std::abort();
    return 0;
}
