#pragma once

#include <nlohmann/json.hpp>

#include "import/pktgen.h"

namespace volley::ctl {

/// The configuration that sends what a script for the kernel's packet generator would: a port and a stream a
/// device. What has no equivalent is added to the script's notes.
nlohmann::ordered_json pktgen_config(imports::PktgenScript& script);

}  // namespace volley::ctl
