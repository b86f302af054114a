#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"

namespace volley::bench {

/// The socket on which any program with DPDK's EAL answers questions (Telemetry Library in DPDK's guide): a
/// connection to the one program in `directory`, which is that program's RUNTIME_DIRECTORY.
class EalSocket {
  public:
    /// None while the program has no such socket yet.
    static std::optional<EalSocket> connect(const std::string& directory);

    /// Packets that port 0 has sent since the program started, by rte_eth_stats. None when it does not
    /// answer, or has no port yet.
    std::optional<std::uint64_t> sent();

  private:
    explicit EalSocket(Fd fd) : fd_(std::move(fd)) {}
    Fd fd_;
};

}  // namespace volley::bench
