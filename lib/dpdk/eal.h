#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"

namespace volley::dpdk {

struct EalOptions {
    std::string name = "volley";      ///< file prefix of the DPDK runtime directory
    std::string lcores;               ///< --lcores text; empty: -l with lcore_ids, id = CPU
    std::vector<unsigned> lcore_ids;  ///< every lcore that will be used
    unsigned main_lcore = 0;
    std::string huge_pages = "auto";  ///< auto: use them when enough are free
    std::uint32_t memory_mib = 512;
    std::vector<std::string> plugins;  ///< -d
    std::vector<std::string> pci;      ///< -a; none: --no-pci, so a NIC that nobody named is never touched
    std::vector<std::string> extra;    ///< appended as they are
};

/// The argument vector for rte_eal_init. huge_free_mib: free huge page memory of the machine.
std::vector<std::string> eal_arguments(const EalOptions& options, std::uint64_t huge_free_mib);

/// Free memory in huge pages of any size, from sysfs; 0 where there is none.
std::uint64_t free_huge_page_mib();

/// Owns the EAL: the first member of whatever uses DPDK, because a DPDK object freed after the clean-up
/// crashes. DPDK's own log lines go to `volley` as they come (see dpdk/log.h). One per process; throws Error.
class Eal {
  public:
    explicit Eal(const EalOptions& options);
    ~Eal();
    Eal(const Eal&) = delete;
    Eal& operator=(const Eal&) = delete;
};

/// The function runs on that lcore until it returns; the caller joins by its own atomic, then with
/// wait_lcore.
void launch(LcoreId lcore, int (*function)(void*), void* argument);
void wait_lcore(LcoreId lcore);
/// True when the lcore exists in this EAL.
bool has_lcore(LcoreId lcore);
/// The CPU that the lcore runs on; of several, the first.
unsigned cpu_of(LcoreId lcore);
/// True when another lcore of this EAL may run on one of the CPUs of this one: then an idle poll must yield.
bool shares_cpu(LcoreId lcore);

}  // namespace volley::dpdk
