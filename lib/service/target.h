#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace volley::service {

/// A request target (RFC 9112 section 3.2.1) taken apart and decoded.
struct Target {
    std::vector<std::string> path;  ///< segments: "/api/v1/state" is {"api", "v1", "state"}
    std::vector<std::pair<std::string, std::string>> query;

    /// The value of a parameter, or nullptr.
    [[nodiscard]] const std::string* parameter(std::string_view name) const;
};

/// Nothing when it is no such target: no leading slash, a misformed or dot segment, a control character.
std::optional<Target> parse_target(std::string_view text);

/// Whether Host (RFC 9110 section 7.2) names this machine to itself: localhost, 127.0.0.0/8 or [::1], with
/// any port. A page of another site that had its name resolve to the loopback is found out by it.
bool names_loopback(std::string_view host);
/// Whether Origin (RFC 6454) is that of the request's own Host, or absent.
bool same_origin(std::string_view origin, std::string_view host);

}  // namespace volley::service
