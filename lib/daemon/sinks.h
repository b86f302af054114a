#pragma once

#include <memory>
#include <vector>

#include "config/model.h"
#include "telemetry/sink.h"

namespace volley::daemon {

/// Where telemetry lines go: stdout always, the file and the socket of the configuration, the live line on
/// stderr when asked for or when stderr is a terminal. Throws what the sinks throw; a default socket that
/// cannot be made is a warning only, for nobody asked for it.
std::vector<std::unique_ptr<telemetry::Sink>> make_sinks(const config::Model& model, bool live);

}  // namespace volley::daemon
