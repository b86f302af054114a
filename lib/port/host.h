#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace volley::port {

/// A port with a NIC of its own, as far as the host has a say in its speed.
struct HostedPort {
    std::string name;
    std::string pci_address;          ///< "0000:03:00.0"
    int numa_node = -1;               ///< -1: the host has one node, or does not say
    std::vector<std::uint32_t> cpus;  ///< of its workers, one an lcore
};

/// What of the host's set-up costs packets, each with what would mend it: a worker on another NUMA node than
/// its NIC, two workers on one core, a CPU that is not isolated or not at its full clock, a PCIe link
/// narrower or slower than the card, a NIC bound to uio. Reads below `sysfs` ("/sys") and touches nothing;
/// what is not there is not judged.
std::vector<std::string> host_warnings(const std::vector<HostedPort>& ports,
                                       const std::string& sysfs = "/sys");

/// "0-3,8,10-11" as the kernel writes lists of CPUs; what is no number ends it.
std::vector<std::uint32_t> cpu_list(const std::string& text);

}  // namespace volley::port
