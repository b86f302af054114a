#pragma once

#include "telemetry/json_writer.h"
#include "telemetry/snapshot.h"

namespace volley::telemetry {

/// One element of a line's arrays.
void write(JsonWriter& json, const PortView& port);
void write(JsonWriter& json, const StreamView& stream);

}  // namespace volley::telemetry
