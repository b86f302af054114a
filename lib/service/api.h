#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "service/configuration.h"
#include "service/http.h"
#include "service/mailbox.h"
#include "service/target.h"
#include "service/tokens.h"
#include "telemetry/published.h"

namespace volley::service {

/// The routes of docs/api.md. What is read comes from what the stats lcore and control published; what is
/// changed goes through the mailbox. All members are for the service's thread.
class Api : public Handler {
  public:
    struct Sources {  ///< any thread, never waiting
        std::function<std::shared_ptr<const telemetry::Published>()> latest;
        std::function<std::shared_ptr<const telemetry::Published>()> latest_report;
        std::function<std::shared_ptr<const Configuration>()> configuration;
    };
    struct Options {
        std::string name;
        std::string version;
        std::optional<Tokens> tokens;            ///< for TCP; without them TCP only reads
        bool loopback_only = true;               ///< TCP is bound to the loopback: Host must name it
        std::uint64_t stale_ns = 5'000'000'000;  ///< older telemetry than that is ill health
    };

    Api(Options options, Sources sources, Mailbox& mailbox);

    [[nodiscard]] Admission admit(const Request& head) override;
    void handle(const Request& request, const Reply& reply) override;
    /// From now on these tokens count and no others.
    void use(Tokens tokens) { options_.tokens = std::move(tokens); }

    struct Route;

  private:
    using Line = std::shared_ptr<const telemetry::Published>;

    [[nodiscard]] std::shared_ptr<Response> judge(const Request& head, const Route& route) const;
    [[nodiscard]] std::optional<Right> right_of(const Request& head) const;

    // Each is the handler of a route.
    void metrics(const Request& request, const Target& target, const Reply& reply);
    void telemetry_line(const Request& request, const Target& target, const Reply& reply);
    void health(const Request& request, const Target& target, const Reply& reply);
    void state(const Request& request, const Target& target, const Reply& reply);
    void ports(const Request& request, const Target& target, const Reply& reply);
    void streams(const Request& request, const Target& target, const Reply& reply);
    void xstats(const Request& request, const Target& target, const Reply& reply);
    void configuration(const Request& request, const Target& target, const Reply& reply);
    void schema(const Request& request, const Target& target, const Reply& reply);
    void report(const Request& request, const Target& target, const Reply& reply);
    void asset(const Request& request, const Target& target, const Reply& reply);
    void events(const Request& request, const Target& target, const Reply& reply);
    void start(const Request& request, const Target& target, const Reply& reply);
    void stop(const Request& request, const Target& target, const Reply& reply);
    void clear(const Request& request, const Target& target, const Reply& reply);
    void reload(const Request& request, const Target& target, const Reply& reply);
    void configure(const Request& request, const Target& target, const Reply& reply);
    void change_streams(const Request& request, const Target& target, const Reply& reply);
    void capture(const Request& request, const Target& target, const Reply& reply);
    void log_level(const Request& request, const Target& target, const Reply& reply);

    void command(Command command, const Request& request, const Reply& reply);
    /// The latest line, or an answer 503 when there is none yet.
    [[nodiscard]] Line latest(const Reply& reply) const;

    friend struct Routes;

    Options options_;
    Sources sources_;
    Mailbox& mailbox_;
};

/// The answer to a command.
Response response_of(const Outcome& outcome);

}  // namespace volley::service
