#pragma once

#include <array>
#include <string>
#include <string_view>

#include "service/api.h"

namespace volley::service {

struct Api::Route {
    std::string_view method;
    std::string_view path;  ///< a segment "*" stands for any
    bool changes = false;
    bool open = false;  ///< needs no token
    std::uint64_t body_limit = 0;
    void (Api::*handler)(const Request& request, const Target& target, const Reply& reply);
};

struct Routes {
    static constexpr std::uint64_t small = 64 * 1024;
    static constexpr std::uint64_t whole_configuration = std::uint64_t{32}
                                                         << 20;  // what config reads at most

    static constexpr std::array<Api::Route, 21> table{{
        {"GET", "/", false, true, 0, &Api::asset},
        {"GET", "/assets/*", false, true, 0, &Api::asset},
        {"GET", "/metrics", false, false, 0, &Api::metrics},
        {"GET", "/telemetry", false, false, 0, &Api::telemetry_line},
        {"GET", "/healthz", false, true, 0, &Api::health},
        {"GET", "/api/v1/state", false, false, 0, &Api::state},
        {"GET", "/api/v1/ports", false, false, 0, &Api::ports},
        {"GET", "/api/v1/streams", false, false, 0, &Api::streams},
        {"GET", "/api/v1/xstats", false, false, 0, &Api::xstats},
        {"GET", "/api/v1/config", false, false, 0, &Api::configuration},
        {"GET", "/api/v1/schema", false, false, 0, &Api::schema},
        {"GET", "/api/v1/report", false, false, 0, &Api::report},
        {"GET", "/api/v1/events", false, false, 0, &Api::events},
        {"POST", "/api/v1/start", true, false, small, &Api::start},
        {"POST", "/api/v1/stop", true, false, small, &Api::stop},
        {"POST", "/api/v1/clear", true, false, small, &Api::clear},
        {"POST", "/api/v1/reload", true, false, small, &Api::reload},
        {"POST", "/api/v1/capture", true, false, small, &Api::capture},
        {"PUT", "/api/v1/config", true, false, whole_configuration, &Api::configure},
        {"PATCH", "/api/v1/streams/*", true, false, small, &Api::change_streams},
        {"PUT", "/api/v1/log-level", true, false, small, &Api::log_level},
    }};

    /// The route of a request; nullptr when the path or the method has none. `allowed` gets the methods of
    /// the path.
    static const Api::Route* find(std::string_view method, const Target& target, std::string& allowed);
};

}  // namespace volley::service
