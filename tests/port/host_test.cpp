#include "port/host.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace volley::port {
namespace {

/// A sysfs of two nodes with two cores of two threads each: CPUs 0 to 3 are cores, 4 to 7 their siblings;
/// CPUs 1 to 7 are isolated, all at full clock; one NIC on node 0 with all its lanes.
class Host {
  public:
    Host() {
        for (unsigned cpu = 0; cpu < 8; ++cpu) {
            const std::string folder = "devices/system/cpu/cpu" + std::to_string(cpu);
            put(folder + "/topology/thread_siblings_list",
                std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
            put(folder + "/cpufreq/scaling_governor", "performance");
            std::filesystem::create_directories(dir_.path() / folder /
                                                ("node" + std::to_string(cpu % 4 / 2)));
        }
        put("devices/system/cpu/isolated", "1-3,4-7");
        device("current_link_width", "8");
        device("max_link_width", "8");
        device("current_link_speed", "5.0 GT/s PCIe");
        device("max_link_speed", "5.0 GT/s PCIe");
        bind("vfio-pci");
    }
    void put(const std::string& file, const std::string& text) {
        std::filesystem::create_directories((dir_.path() / file).parent_path());
        dir_.write(file, text + "\n");
    }
    void device(const std::string& file, const std::string& text) {
        put("bus/pci/devices/0000:03:00.0/" + file, text);
    }
    void bind(const std::string& driver) {
        const auto link = dir_.path() / "bus/pci/devices/0000:03:00.0/driver";
        std::filesystem::remove(link);
        std::filesystem::create_symlink("../../drivers/" + driver, link);
    }
    [[nodiscard]] std::vector<std::string> warnings(std::vector<std::uint32_t> cpus, int node = 0) const {
        return host_warnings({{"east", "0000:03:00.0", node, std::move(cpus)}}, dir_.path());
    }
    /// The only one.
    [[nodiscard]] std::string warning(std::vector<std::uint32_t> cpus, int node = 0) const {
        const auto all = warnings(std::move(cpus), node);
        return all.size() == 1 ? all[0] : std::to_string(all.size()) + " warnings";
    }

  private:
    test::TempDir dir_;
};

TEST(Host, that_is_set_up_well_is_not_complained_of) {
    EXPECT_EQ(Host().warnings({1}), std::vector<std::string>{});
    EXPECT_EQ(Host().warnings({1, 1}), std::vector<std::string>{}) << "two queues of one worker lcore";
    EXPECT_EQ(host_warnings({{"east", "0000:03:00.0", 0, {1, 2}}}, "/nonexistent"),
              std::vector<std::string>{});
}

TEST(Host, is_told_of_a_worker_on_another_node_than_its_nic) {
    EXPECT_EQ(
        Host().warning({2}),
        "port east is on NUMA node 0, but its worker on CPU 2 is on node 1: map its lcore to a CPU of the "
        "NIC's node in eal.lcores");
    EXPECT_EQ(Host().warnings({2}, -1).size(), 0U);
}

TEST(Host, is_told_of_workers_that_share_a_core) {
    EXPECT_EQ(Host().warning({1, 5}),
              "the workers on CPUs 1 and 5 share one core (SMT siblings): give each a core of its own");
}

TEST(Host, is_told_of_cpus_that_others_may_use) {
    EXPECT_EQ(Host().warning({0, 1}),
              "other tasks may run on the workers' CPUs 0: boot with isolcpus=0 nohz_full=0");
    Host none;
    none.put("devices/system/cpu/isolated", "");
    EXPECT_EQ(none.warning({0, 1}),
              "other tasks may run on the workers' CPUs 0,1: boot with isolcpus=0,1 nohz_full=0,1");
}

TEST(Host, is_told_of_a_clock_that_follows_the_load) {
    Host host;
    host.put("devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave");
    EXPECT_EQ(host.warning({1}),
              "the clock of CPU 1 follows the governor powersave: cpupower frequency-set -g performance");
}

TEST(Host, is_told_of_a_pcie_link_below_the_card_s) {
    Host narrow;
    narrow.device("current_link_width", "4");
    EXPECT_EQ(narrow.warning({1}),
              "port east has 4 of its card's 8 PCIe lanes: use a slot that is wired for all of them");
    Host slow;
    slow.device("current_link_speed", "2.5 GT/s PCIe");
    EXPECT_NE(slow.warning({1}).find("link of 2.5 GT/s PCIe, and its card can 5.0 GT/s PCIe"),
              std::string::npos);
    Host silent;
    silent.device("max_link_width", "255");
    EXPECT_EQ(silent.warnings({1}).size(), 0U);
}

TEST(Host, is_told_of_uio) {
    for (const char* driver : {"uio_pci_generic", "igb_uio"}) {
        Host host;
        host.bind(driver);
        EXPECT_EQ(host.warning({1}), "port east is bound to " + std::string(driver) +
                                         ", so the NIC may write to all of memory: dpdk-devbind.py "
                                         "--bind=vfio-pci 0000:03:00.0");
    }
}

TEST(Host, has_lists_of_cpus_in_every_form_of_the_kernel) {
    EXPECT_EQ(cpu_list("0-2,7,9-10"), (std::vector<std::uint32_t>{0, 1, 2, 7, 9, 10}));
    EXPECT_EQ(cpu_list(""), std::vector<std::uint32_t>{});
    EXPECT_EQ(cpu_list("3\n"), std::vector<std::uint32_t>{3});
    EXPECT_EQ(cpu_list("(null)"), std::vector<std::uint32_t>{});
}

}  // namespace
}  // namespace volley::port
