#pragma once

#include <string>

#include "telemetry/snapshot.h"

namespace volley::telemetry {

/// The version of the line's shape, its member "schema". Members may be added to it, none is renamed.
inline constexpr std::uint64_t line_schema = 1;

/// The snapshot or report as one JSON line that ends in '\n'. docs/telemetry.md lists every member.
std::string render_json(const Snapshot& snapshot);

/// The same for a human who watches a terminal: one line that ends in '\n', at most 100 columns for one port.
std::string render_live(const Snapshot& snapshot);

/// What the metrics say of the process itself.
struct MetricsContext {
    std::string version;
    std::string dpdk;
    std::uint64_t start_unix_ns = 0;
};

/// The counters since the process started in the text format 0.0.4 of Prometheus, names as in
/// docs/telemetry.md. The first `streams_in_full` streams have series of their own, the others one sum,
/// "_other".
std::string render_prometheus(const Totals& now, const std::vector<PublisherView>& publishers,
                              std::size_t streams_in_full, const MetricsContext& context);

/// Parts of a line as JSON arrays, for an interface that is asked for one: {"ports": [...]} and so on. Names
/// match a shell pattern; empty: all.
std::string render_ports(const Snapshot& snapshot, const std::string& pattern);
std::string render_xstats(const Snapshot& snapshot, const std::string& pattern);
/// `total` is the number of streams that match, of which these are some.
std::string render_streams(const std::vector<StreamView>& streams, std::size_t total);

}  // namespace volley::telemetry
