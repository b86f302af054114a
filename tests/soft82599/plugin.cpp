#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "soft82599/attach.h"
#include "soft82599/dpdk_private.h"
#include "soft82599/log.h"
#include "soft82599/nic.h"
#include "soft82599/options.h"

namespace volley::soft82599 {
namespace {

struct Instance {
    Instance(const std::string& name, Options options, unsigned number)
        : nic(name, std::move(options)), attachment(nic, number) {}
    Nic nic;
    Attachment attachment;
};

std::mutex instances_mutex;
std::map<std::string, std::unique_ptr<Instance>> instances;

Options complete(Options options, unsigned number) {
    if (options.mac == MacAddress{})
        options.mac = {0x02, 0x1B, 0x21, 0x82, 0x99, static_cast<std::uint8_t>(number)};
    return options;
}

int probe(rte_vdev_device* device) noexcept {
    const std::string name = device->device.name;
    try {
        const unsigned number = port_number(name);
        const rte_devargs* devargs = device->device.devargs;
        const Options options =
            parse_options(devargs != nullptr && devargs->args != nullptr ? devargs->args : "");
        auto instance = std::make_unique<Instance>(name, complete(options, number), number);
        const std::scoped_lock guard(instances_mutex);
        instances[name] = std::move(instance);
        return 0;
    } catch (const std::exception& error) {
        say("%s: %s", name.c_str(), error.what());
        return -EINVAL;
    }
}

int remove(rte_vdev_device* device) noexcept {
    std::unique_ptr<Instance> instance;
    {
        const std::scoped_lock guard(instances_mutex);
        if (const auto known = instances.find(device->device.name); known != instances.end()) {
            instance = std::move(known->second);
            instances.erase(known);
        }
    }
    return 0;
}

/// With this flag the EAL chooses IOVA as VA by itself: descriptors hold addresses that the model can follow.
constexpr std::uint32_t needs_iova_as_va = 1;

constinit rte_vdev_driver driver = {.next = {},
                                    .driver = {{}, "net_soft82599", nullptr},
                                    .probe = probe,
                                    .remove = remove,
                                    .dma_map_unmap = {},
                                    .drv_flags = needs_iova_as_va};

[[gnu::constructor]] void register_driver() {
    rte_vdev_register(&driver);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] Port* volley_soft82599_find(const char* name) {
    const std::scoped_lock guard(instances_mutex);
    const auto known = instances.find(name);
    return known == instances.end() ? nullptr : &known->second->nic;
}

}  // namespace volley::soft82599
