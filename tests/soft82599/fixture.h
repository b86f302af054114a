#pragma once

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "soft82599/control.h"

namespace volley::soft82599 {

/// Initialises the EAL once for the process: no huge pages, no real PCI device, no files that another process
/// shares, and every CPU for the main thread, since a thread that inherited one CPU's pin would share it with
/// the driver's.
inline void start_eal() {
    struct Eal {
        Eal() {
            std::string cpus;
            cpu_set_t allowed;
            CPU_ZERO(&allowed);
            sched_getaffinity(0, sizeof(allowed), &allowed);
            for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
                if (CPU_ISSET(cpu, &allowed)) cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
            }
            std::vector<std::string> arguments{"soft82599_test",
                                               "--no-huge",
                                               "--no-pci",
                                               "-m",
                                               "256",
                                               "--no-shconf",
                                               "--no-telemetry",
                                               "--lcores",
                                               "0@(" + cpus + ")",
                                               "--log-level=lib.eal:warning"};
            std::vector<char*> argv(arguments.size());
            std::transform(arguments.begin(), arguments.end(), argv.begin(),
                           [](auto& argument) { return argument.data(); });
            if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0) {
                throw std::runtime_error("rte_eal_init: " + std::string(rte_strerror(rte_errno)));
            }
        }
        ~Eal() { rte_eal_cleanup(); }
    };
    static const Eal eal;
}

/// A soft port for one test, plugged by the vdev bus as any program would: SoftPort nic(0,
/// "id=10f7,mode=virtual"). The test configures, starts and stops the ethdev id(); destruction closes and
/// removes it.
class SoftPort {
  public:
    /// Throws std::runtime_error; the model says on stderr why.
    explicit SoftPort(unsigned number = 0, const std::string& options = "id=10fb")
        : name_("net_soft82599_" + std::to_string(number)) {
        start_eal();
        if (rte_eal_hotplug_add("vdev", name_.c_str(), options.c_str()) != 0) {
            throw std::runtime_error(name_ + "," + options + " was refused");
        }
        port_ = volley_soft82599_find(name_.c_str());
        if (port_ == nullptr || rte_eth_dev_get_port_by_name(port_->device_name().c_str(), &id_) != 0) {
            rte_eal_hotplug_remove("vdev", name_.c_str());
            throw std::runtime_error(name_ + " made no ethdev");
        }
    }
    ~SoftPort() { rte_eal_hotplug_remove("vdev", name_.c_str()); }
    SoftPort(const SoftPort&) = delete;
    SoftPort& operator=(const SoftPort&) = delete;

    [[nodiscard]] std::uint16_t id() const noexcept { return id_; }
    /// What the test may ask of the model.
    Port* operator->() const noexcept { return port_; }
    Port& operator*() const noexcept { return *port_; }

  private:
    std::string name_;
    std::uint16_t id_ = RTE_MAX_ETHPORTS;
    Port* port_ = nullptr;
};

}  // namespace volley::soft82599
