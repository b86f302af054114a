#pragma once

#include <string>
#include <string_view>

namespace volley::soft82599 {

/// Empty when the model knows the private structures of the DPDK that calls itself so ("DPDK 22.11.11"), else
/// the reason to refuse it and what to do.
std::string dpdk_mismatch(std::string_view version);

}  // namespace volley::soft82599
