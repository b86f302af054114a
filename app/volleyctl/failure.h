#pragma once

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace volley::ctl {

/// Tells what ends a verb: with --json as an object on stdout that is formed like the daemon's errors, else
/// as a line on stderr. Returns the exit code.
inline int fail(bool json, int exit_code, const std::string& code, const std::string& message) {
    if (json) {
        // A name may hold any bytes.
        std::cout << nlohmann::ordered_json{{"error", {{"code", code}, {"message", message}}}}.dump(
                         -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                  << '\n';
    } else {
        std::cerr << "volleyctl: " << message << '\n';
    }
    return exit_code;
}

}  // namespace volley::ctl
