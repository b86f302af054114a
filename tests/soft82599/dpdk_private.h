#pragma once

// What DPDK 22.11 (ABI 23) keeps in headers that distributions do not install: the objects of the PCI and
// vdev buses, as far as the attachment touches them. Every offset is asserted against x86-64; attach.cpp
// refuses other versions.

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_interrupts.h>
#include <rte_os.h>
#include <rte_pci.h>
#include <sys/queue.h>

#include <cstddef>
#include <cstdint>

struct rte_driver {
    TAILQ_ENTRY(rte_driver) next;
    const char* name;
    const char* alias;
};

struct rte_device {
    TAILQ_ENTRY(rte_device) next;
    const char* name;
    const char* bus_info;
    const rte_driver* driver;
    const rte_bus* bus;
    int numa_node;
    rte_devargs* devargs;
};

struct rte_bus {
    TAILQ_ENTRY(rte_bus) next;
    const char* name;
    void (*scan_probe_find[3])();
    int (*plug)(rte_device* device);
    int (*unplug)(rte_device* device);
    void (*parse_map[4])();
    int scan_mode;
    void (*others[5])();
};

struct rte_pci_driver;

struct rte_pci_device {
    TAILQ_ENTRY(rte_pci_device) next;
    rte_device device;
    rte_pci_addr addr;
    rte_pci_id id;
    rte_mem_resource mem_resource[PCI_MAX_RESOURCE];
    rte_intr_handle* intr_handle;
    rte_pci_driver* driver;
    std::uint16_t max_vfs;
    int kernel_driver;
    char name[PCI_PRI_STR_SIZE + 1];
    char* bus_info;
    rte_intr_handle* request_handle;
};

struct rte_pci_driver {
    TAILQ_ENTRY(rte_pci_driver) next;
    rte_driver driver;
    int (*probe)(rte_pci_driver* driver, rte_pci_device* device);
    int (*remove)(rte_pci_device* device);
    void (*dma_map_unmap[2])();
    const rte_pci_id* id_table;
    std::uint32_t drv_flags;
};

struct rte_pci_bus {
    rte_bus bus;
    TAILQ_HEAD(, rte_pci_device) device_list;
    TAILQ_HEAD(, rte_pci_driver) driver_list;
};

struct rte_vdev_device {
    TAILQ_ENTRY(rte_vdev_device) next;
    rte_device device;
};

struct rte_vdev_driver {
    TAILQ_ENTRY(rte_vdev_driver) next;
    rte_driver driver;
    int (*probe)(rte_vdev_device* device);
    int (*remove)(rte_vdev_device* device);
    void (*dma_map_unmap[2])();
    std::uint32_t drv_flags;
};

extern "C" void rte_vdev_register(rte_vdev_driver* driver);

static_assert(sizeof(rte_bus) == 144 && offsetof(rte_bus, plug) == 48 && offsetof(rte_bus, unplug) == 56);
static_assert(offsetof(rte_pci_bus, device_list) == 144 && offsetof(rte_pci_bus, driver_list) == 160);
static_assert(sizeof(rte_pci_driver) == 96 && offsetof(rte_pci_driver, driver.name) == 32);
static_assert(offsetof(rte_pci_driver, probe) == 48 && offsetof(rte_pci_driver, drv_flags) == 88);
static_assert(sizeof(rte_pci_device) == 312 && offsetof(rte_pci_device, device) == 16);
static_assert(offsetof(rte_pci_device, addr) == 80 && offsetof(rte_pci_device, id) == 88);
static_assert(offsetof(rte_pci_device, mem_resource) == 104 && offsetof(rte_pci_device, intr_handle) == 248);
static_assert(offsetof(rte_pci_device, driver) == 256 && offsetof(rte_pci_device, kernel_driver) == 268);
static_assert(offsetof(rte_pci_device, name) == 272 && offsetof(rte_pci_device, bus_info) == 296);
static_assert(sizeof(rte_vdev_driver) == 88 && offsetof(rte_vdev_device, device) == 16);
