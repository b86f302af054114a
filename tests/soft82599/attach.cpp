#include "soft82599/attach.h"

#include <dlfcn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>

#include "soft82599/dpdk_private.h"
// After the structures that it needs complete.
#include <rte_bus.h>
#include <rte_version.h>

#include "soft82599/abi.h"
#include "soft82599/log.h"
#include "soft82599/nic.h"
#include "soft82599/trap.h"

extern "C" {
// In 22.11 for drivers only (version node INTERNAL), hence in no installed header.
int rte_intr_dev_fd_set(rte_intr_handle* handle, int fd);
int rte_intr_nb_efd_get(const rte_intr_handle* handle);
int rte_intr_efds_index_get(const rte_intr_handle* handle, int index);
}

namespace volley::soft82599 {
namespace {

constexpr std::uint32_t needs_mapping = 1;  ///< RTE_PCI_DRV_NEED_MAPPING
constexpr std::uint16_t intel = 0x8086;

rte_pci_bus& pci_bus() {
    rte_bus* bus = rte_bus_find_by_name("pci");
    if (bus == nullptr) {
        throw std::runtime_error(
            "DPDK has no PCI bus: load librte_bus_pci and librte_net_ixgbe (EAL option -d)");
    }
    // The version said that the layout is known; these two see through a private build that differs all the
    // same.
    Dl_info info{};
    const bool plug_is_code = dladdr(reinterpret_cast<void*>(bus->plug), &info) != 0;
    if (std::strcmp(bus->name, "pci") != 0 || !plug_is_code ||
        std::strstr(info.dli_fname, "rte") == nullptr) {
        throw std::runtime_error(
            "this DPDK's bus structure differs from 22.11's: compare dpdk_private.h with its sources");
    }
    return *reinterpret_cast<rte_pci_bus*>(bus);
}

rte_pci_driver& ixgbe_driver() {
    rte_pci_driver* driver = nullptr;
    TAILQ_FOREACH(driver, &pci_bus().driver_list, next) {
        if (std::strcmp(driver->driver.name, "net_ixgbe") == 0) return *driver;
    }
    throw std::runtime_error("no driver net_ixgbe on the PCI bus: load librte_net_ixgbe (EAL option -d)");
}

/// While one port is plugged the driver does without a mapped BAR from the kernel, and its probe is preceded
/// by ours.
class DriverOverride {
  public:
    explicit DriverOverride(int event_fd) : guard_(mutex_), driver_(ixgbe_driver()) {
        probe_ = driver_.probe;
        event_fd_ = event_fd;
        flags_ = driver_.drv_flags;
        driver_.drv_flags &= ~needs_mapping;
        driver_.probe = probe_with_interrupts;
    }
    ~DriverOverride() {
        driver_.drv_flags = flags_;
        driver_.probe = probe_;
    }
    DriverOverride(const DriverOverride&) = delete;
    DriverOverride& operator=(const DriverOverride&) = delete;

  private:
    /// Between the bus, which made the interrupt handle, and the driver, which uses it. Without a device
    /// descriptor the EAL leaves VFIO's ioctls out.
    static int probe_with_interrupts(rte_pci_driver* driver, rte_pci_device* device) {
        rte_intr_fd_set(device->intr_handle, event_fd_);
        rte_intr_dev_fd_set(device->intr_handle, -1);
        rte_intr_type_set(device->intr_handle, RTE_INTR_HANDLE_VFIO_MSIX);
        return probe_(driver, device);
    }

    static inline std::mutex mutex_;
    static inline int (*probe_)(rte_pci_driver*, rte_pci_device*) = nullptr;
    static inline int event_fd_ = -1;
    std::scoped_lock<std::mutex> guard_;
    rte_pci_driver& driver_;
    std::uint32_t flags_ = 0;
};

/// One for each port number, made once and never closed: the EAL's interrupt thread may still hold the number
/// in its list when the port is gone, and would then watch whatever got it next.
int event_fd(unsigned number) {
    static std::array<int, 32> descriptors = [] {
        std::array<int, 32> none{};
        none.fill(-1);
        return none;
    }();
    int& fd = descriptors.at(number);
    if (fd < 0) fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (fd < 0) throw std::runtime_error("no eventfd for interrupts");
    std::uint64_t stale = 0;
    [[maybe_unused]] const auto n = read(fd, &stale, sizeof(stale));
    return fd;
}

void signal_event(int fd) {
    const std::uint64_t one = 1;
    // By syscall: ThreadSanitizer would order the EAL's interrupt thread after us.
    syscall(SYS_write, fd, &one, sizeof(one));  // full only after 2^64 unread interrupts
}

}  // namespace

Attachment::Attachment(Nic& nic, unsigned number) : nic_(nic) {
    if (const auto mismatch = dpdk_mismatch(rte_version()); !mismatch.empty())
        throw std::runtime_error(mismatch);
    event_fd_ = event_fd(number);
    try {
        build_device(number);
        trap_add(nic_);
        plug();
    } catch (...) {
        trap_remove(nic_);
        throw;
    }
    rte_intr_handle* handle = device_->intr_handle;
    nic_.set_interrupt_sink([fd = event_fd_, handle](unsigned vector) {
        if (vector == 0) {
            signal_event(fd);
        } else if (static_cast<int>(vector) <= rte_intr_nb_efd_get(handle)) {
            signal_event(rte_intr_efds_index_get(handle, static_cast<int>(vector) - 1));
        }
    });
}

/// calloc and strdup, for the bus releases the device with free().
void Attachment::build_device(unsigned number) {
    device_ = static_cast<rte_pci_device*>(std::calloc(1, sizeof(rte_pci_device)));
    if (device_ == nullptr) throw std::bad_alloc();
    device_->addr = {0x8259, 0x99, static_cast<std::uint8_t>(number), 0};
    device_->id = {0x020000, intel, static_cast<std::uint16_t>(nic_.options().id), intel, 3};
    rte_pci_device_name(&device_->addr, device_->name, sizeof(device_->name));
    device_->bus_info = strdup("software model");
    device_->mem_resource[0] = {0x8259'0000, RegisterFile::bytes, nic_.bar_address()};
    device_->device.name = device_->name;
    device_->device.bus_info = device_->bus_info;
    device_->device.bus = &pci_bus().bus;
    device_->device.numa_node = 0;
    nic_.set_device_name(device_->name);
}

void Attachment::plug() {
    rte_pci_bus& bus = pci_bus();
    rte_pci_device* known = nullptr;
    TAILQ_FOREACH(known, &bus.device_list, next) {
        if (std::strcmp(known->name, device_->name) == 0) break;
    }
    int result = -EEXIST;
    if (known == nullptr) {
        const DriverOverride override(event_fd_);
        TAILQ_INSERT_TAIL(&bus.device_list, device_, next);
        result = bus.bus.plug(&device_->device);
        if (result != 0) TAILQ_REMOVE(&bus.device_list, device_, next);
    }
    if (result == 0) return;
    const std::string name = device_->name;
    std::free(device_->bus_info);
    std::free(device_);
    device_ = nullptr;
    throw std::runtime_error("the PCI bus does not take " + name + " (" + std::to_string(result) +
                             "): see the messages of net_ixgbe with --log-level=pmd.net.ixgbe:debug");
}

bool Attachment::on_bus() const {
    rte_pci_device* known = nullptr;
    TAILQ_FOREACH(known, &pci_bus().device_list, next) {
        if (known == device_) return true;
    }
    return false;
}

Attachment::~Attachment() {
    // A program may have detached the PCI device itself, or EAL clean-up has.
    if (on_bus() && pci_bus().bus.unplug(&device_->device) != 0)
        say("%s could not be unplugged", nic_.name().c_str());
    nic_.set_interrupt_sink({});
    trap_remove(nic_);
}

}  // namespace volley::soft82599
