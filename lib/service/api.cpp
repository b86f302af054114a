#include "service/api.h"

#include <spdlog/spdlog.h>

#include "config/print.h"
#include "service/routes.h"

namespace volley::service {
namespace {

bool fits(std::string_view pattern, const Target& target) {
    if (target.path.empty()) return pattern == "/";
    for (const std::string& segment : target.path) {
        if (pattern.empty()) return false;
        pattern.remove_prefix(1);
        const std::string_view wanted = pattern.substr(0, pattern.find('/'));
        if (wanted != "*" && wanted != segment) return false;
        pattern.remove_prefix(wanted.size());
    }
    return pattern.empty();
}

std::shared_ptr<Response> refusal(Response response) {
    return std::make_shared<Response>(std::move(response));
}

constexpr std::size_t longest_logged = 200;

// Who changed what, and how it went; for whoever must tell afterwards.
void audit(const Request& request, unsigned status) {
    spdlog::info("audit: {} {} {} -> {}", request.peer.name, request.method,
                 config::on_one_line(std::string_view(request.target).substr(0, longest_logged)), status);
}

}  // namespace

const Api::Route* Routes::find(std::string_view method, const Target& target, std::string& allowed) {
    if (method == "HEAD") method = "GET";
    for (const Api::Route& route : table) {
        if (!fits(route.path, target)) continue;
        if (route.method == method) return &route;
        allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
    }
    return nullptr;
}

Api::Api(Options options, Sources sources, Mailbox& mailbox)
    : options_(std::move(options)), sources_(std::move(sources)), mailbox_(mailbox) {}

std::optional<Right> Api::right_of(const Request& head) const {
    if (head.peer.local) {
        if (head.peer.may_change) return Right::change;
        return head.peer.may_read ? std::optional(Right::read) : std::nullopt;
    }
    return options_.tokens ? options_.tokens->right_of(head.authorization) : Right::read;
}

// nullptr: go on. A browser's page of another site is turned away before its token is looked at.
std::shared_ptr<Response> Api::judge(const Request& head, const Route& route) const {
    if (!head.peer.local && options_.loopback_only && !names_loopback(head.host)) {
        return refusal(error_response(403, "foreign_host", "Host does not name this machine",
                                      "ask for localhost, 127.0.0.1 or [::1]"));
    }
    if (!same_origin(head.origin, head.host)) {
        return refusal(
            error_response(403, "foreign_origin", "pages of another site may not use this interface"));
    }
    const auto right = right_of(head);
    if (right == Right::change || route.open || (right && !route.changes)) return nullptr;
    if (!head.peer.local && options_.tokens && !right) {
        Response out = error_response(401, "unauthorized", "a valid token is needed",
                                      "send it as \"Authorization: Bearer TOKEN\"");
        out.headers.emplace_back("WWW-Authenticate", "Bearer");
        return refusal(std::move(out));
    }
    if (head.peer.local) {
        return refusal(error_response(403, "forbidden", "you may read, not change",
                                      "changes are for root, volleyd's own user and the group volley-admin"));
    }
    return refusal(error_response(403, "forbidden", "this access may read, not change",
                                  "use an admin token of service.tokens, or the control socket"));
}

Admission Api::admit(const Request& head) {
    const auto target = parse_target(head.target);
    if (!target) return {0, refusal(error_response(400, "bad_target", "this is no path of this interface"))};
    std::string allowed;
    const Route* route = Routes::find(head.method, *target, allowed);
    if (route == nullptr && allowed.empty())
        return {
            0, refusal(error_response(404, "not_found", "there is no such route", "docs/api.md lists them"))};
    if (route == nullptr) {
        Response out = error_response(405, "method_not_allowed", "this route takes " + allowed);
        out.headers.emplace_back("Allow", allowed);
        return {0, refusal(std::move(out))};
    }
    Admission out;
    out.refusal = judge(head, *route);
    if (out.refusal != nullptr && route->changes) audit(head, out.refusal->status);
    out.body_limit = route->body_limit;
    return out;
}

// Judged again: the head alone decided how much to read, and a handler never runs without.
void Api::handle(const Request& request, const Reply& reply) {
    const auto target = parse_target(request.target);
    std::string allowed;
    const Route* route = target ? Routes::find(request.method, *target, allowed) : nullptr;
    const Admission admission = admit(request);
    if (admission.refusal != nullptr) {
        reply(*admission.refusal);
        return;
    }
    if (route->changes) {
        (this->*route->handler)(request, *target, [request_head = request, reply](Response response) {
            audit(request_head, response.status);
            reply(std::move(response));
        });
    } else {
        (this->*route->handler)(request, *target, reply);
    }
}

}  // namespace volley::service
