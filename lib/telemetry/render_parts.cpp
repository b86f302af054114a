#include <fnmatch.h>

#include "telemetry/render.h"
#include "telemetry/write_views.h"

namespace volley::telemetry {
namespace {

bool matches(const std::string& pattern, const std::string& name) {
    return pattern.empty() || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

}  // namespace

std::string render_ports(const Snapshot& snapshot, const std::string& pattern) {
    std::string out;
    JsonWriter json(out);
    json.begin_object().key("ports").begin_array();
    for (const PortView& port : snapshot.ports) {
        if (matches(pattern, port.name)) write(json, port);
    }
    json.end_array().end_object();
    out.push_back('\n');
    return out;
}

std::string render_xstats(const Snapshot& snapshot, const std::string& pattern) {
    std::string out;
    JsonWriter json(out);
    json.begin_object().key("ports").begin_array();
    for (const PortView& port : snapshot.ports) {
        if (!matches(pattern, port.name)) continue;
        json.begin_object().member("name", port.name).key("xstats").begin_object();
        for (const NamedCount& stat : port.xstats) json.member(stat.name, stat.count);
        json.end_object().end_object();
    }
    json.end_array().end_object();
    out.push_back('\n');
    return out;
}

std::string render_streams(const std::vector<StreamView>& streams, std::size_t total) {
    std::string out;
    out.reserve(64 + streams.size() * 512);
    JsonWriter json(out);
    json.begin_object().member("total", std::uint64_t{total}).key("streams").begin_array();
    for (const StreamView& stream : streams) write(json, stream);
    json.end_array().end_object();
    out.push_back('\n');
    return out;
}

}  // namespace volley::telemetry
