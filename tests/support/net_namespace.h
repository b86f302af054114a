#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/process.h"

namespace volley::test {

/// A network namespace without a name: it lives as long as this process holds it, so nothing is left behind
/// however the test ends. IPv6 is off in it, so the kernel sends no frames of its own. Needs root.
class NetNamespace {
  public:
    /// Why none can be made here, or empty: a test skips with it.
    static std::string unavailable();

    NetNamespace();
    ~NetNamespace();
    NetNamespace(const NetNamespace&) = delete;
    NetNamespace& operator=(const NetNamespace&) = delete;

    /// The command that runs `command` inside.
    [[nodiscard]] std::vector<std::string> inside(std::vector<std::string> command) const;
    /// Path that names the namespace for other processes.
    [[nodiscard]] std::string path() const;

  private:
    int fd_ = -1;
};

struct LinkCounters {
    std::uint64_t rx_packets = 0;
    std::uint64_t rx_bytes = 0;
    std::uint64_t rx_dropped = 0;
    std::uint64_t rx_errors = 0;
};

/// Two ends of a cable, one in each namespace, both up. mtu: of both ends.
void connect(const NetNamespace& a, const std::string& name_a, const NetNamespace& b,
             const std::string& name_b, unsigned mtu = 1500);

/// The kernel's own counters.
LinkCounters counters(const NetNamespace& where, const std::string& link);

}  // namespace volley::test
