#pragma once

#include <string>

namespace volley {

/// The CPU's model name as /proc/cpuinfo has it, "unknown" where it has none.
std::string cpu_model();

}  // namespace volley
