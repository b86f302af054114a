#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace volley::service {

/// Requests and answers as plain values: routing, rights and rendering need no HTTP library and are tested
/// without sockets.

/// Who asks. On the Unix socket the kernel tells (SO_PEERCRED); over TCP a token does.
struct Peer {
    bool local = false;    ///< through the Unix socket
    bool may_read = true;  ///< by the socket alone; over TCP tokens decide
    bool may_change = false;
    bool encrypted = false;
    std::string name;  ///< for the audit: "uid 0 pid 4711", "127.0.0.1:50123"
};

struct Request {
    std::string method;  ///< "GET", …
    std::string target;  ///< as it came: path and query, still encoded
    std::string host;    ///< empty: none or several
    std::string origin;
    std::string authorization;
    std::string if_match;
    std::string if_none_match;
    std::string content_type;
    std::string body;
    Peer peer;
};

struct Response {
    using Body = std::shared_ptr<const std::string>;

    unsigned status = 200;
    std::string type = "application/json";
    Body body;  ///< may be part of what was published: nothing is copied; null: no bytes
    std::vector<std::pair<std::string, std::string>> headers;
    /// A stream of server-sent events: asked for the next text again and again, null when there is none yet.
    std::function<Body()> events;
};

/// What is known from the head of a request decides how much of a body is read.
struct Admission {
    std::uint64_t body_limit = 0;
    std::shared_ptr<Response> refusal;  ///< null: go on
};

/// Takes the place of the routes for the server. Called on the service's thread alone.
class Handler {
  public:
    using Reply = std::function<void(Response)>;
    virtual ~Handler() = default;
    [[nodiscard]] virtual Admission admit(const Request& head) = 0;
    /// Calls reply once, now or later, from any thread. It must not wait.
    virtual void handle(const Request& request, const Reply& reply) = 0;
};

/// The body of an error: {"error": {"code", "message", "hint", "pointer"}}.
Response error_response(unsigned status, std::string_view code, std::string_view message,
                        std::string_view hint = {}, std::string_view pointer = {});
Response json_response(std::string body, unsigned status = 200);

}  // namespace volley::service
