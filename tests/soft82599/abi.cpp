#include "soft82599/abi.h"

namespace volley::soft82599 {

std::string dpdk_mismatch(std::string_view version) {
    if (version.starts_with("DPDK 22.11.")) return {};
    return "written for the private structures of DPDK 22.11 (ABI 23), but this is " + std::string(version) +
           ": compare tests/soft82599/dpdk_private.h with its sources before allowing it in abi.cpp";
}

}  // namespace volley::soft82599
