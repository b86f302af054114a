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

}  // namespace volley::telemetry
