#include "support/json_lines.h"

#include <set>
#include <stdexcept>
#include <string>

namespace volley::test {

nlohmann::json parse_json(std::string_view text) {
    using json = nlohmann::json;
    std::vector<std::set<std::string>> open_objects;
    const auto watch = [&](int, json::parse_event_t event, json& parsed) {
        if (event == json::parse_event_t::object_start) open_objects.emplace_back();
        if (event == json::parse_event_t::object_end) open_objects.pop_back();
        if (event == json::parse_event_t::key &&
            !open_objects.back().insert(parsed.get<std::string>()).second) {
            throw std::runtime_error("duplicate key " + parsed.dump() + " in " + std::string(text));
        }
        return true;
    };
    try {
        return json::parse(text, watch);
    } catch (const json::exception& error) {
        throw std::runtime_error(std::string(error.what()) + " in " + std::string(text));
    }
}

std::vector<nlohmann::json> parse_json_lines(std::string_view text) {
    std::vector<nlohmann::json> values;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos)
            throw std::runtime_error("a line without its end: " + std::string(text));
        values.push_back(parse_json(text.substr(0, end)));
        text.remove_prefix(end + 1);
    }
    return values;
}

}  // namespace volley::test
