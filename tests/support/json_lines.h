#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace volley::test {

/// Strict: a duplicate key, NaN, an infinity or anything after the value throws std::runtime_error.
nlohmann::json parse_json(std::string_view text);

/// One value a line, each ended by '\n'. Throws when a line is not JSON or the last one is cut off.
std::vector<nlohmann::json> parse_json_lines(std::string_view text);

}  // namespace volley::test
