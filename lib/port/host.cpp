#include "port/host.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

namespace volley::port {
namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

std::string cpu_folder(const std::string& sysfs, std::uint32_t cpu) {
    return sysfs + "/devices/system/cpu/cpu" + std::to_string(cpu);
}

// The entry node0, node1, ... of the CPU's folder.
std::optional<int> node_of(const std::string& sysfs, std::uint32_t cpu) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(cpu_folder(sysfs, cpu), none)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("node") && name.size() > 4 && name[4] >= '0' && name[4] <= '9')
            return std::atoi(name.c_str() + 4);
    }
    return std::nullopt;
}

/// One question at a time, each adding to the answers.
class Inspection {
  public:
    Inspection(const std::vector<HostedPort>& ports, const std::string& sysfs)
        : ports_(ports), sysfs_(sysfs) {
        for (const HostedPort& port : ports_) cpus_.insert(port.cpus.begin(), port.cpus.end());
    }

    std::vector<std::string> run() {
        for (const HostedPort& port : ports_) {
            nodes(port);
            lanes(port);
            driver(port);
        }
        siblings();
        isolation();
        governors();
        return std::move(out_);
    }

  private:
    void nodes(const HostedPort& port) {
        if (port.numa_node < 0) return;
        for (const std::uint32_t cpu : std::set<std::uint32_t>(port.cpus.begin(), port.cpus.end())) {
            const auto node = node_of(sysfs_, cpu);
            if (!node || *node == port.numa_node) continue;
            out_.push_back("port " + port.name + " is on NUMA node " + std::to_string(port.numa_node) +
                           ", but its worker on CPU " + std::to_string(cpu) + " is on node " +
                           std::to_string(*node) +
                           ": map its lcore to a CPU of the NIC's node in eal.lcores");
        }
    }

    void siblings() {
        std::map<std::string, std::uint32_t> first_of;
        for (const std::uint32_t cpu : cpus_) {
            const std::string core = line_of(cpu_folder(sysfs_, cpu) + "/topology/thread_siblings_list");
            if (core.empty()) continue;
            const auto [at, fresh] = first_of.try_emplace(core, cpu);
            if (fresh) continue;
            out_.push_back("the workers on CPUs " + std::to_string(at->second) + " and " +
                           std::to_string(cpu) +
                           " share one core (SMT siblings): give each a core of its own");
        }
    }

    void isolation() {
        const fs::path file = sysfs_ + "/devices/system/cpu/isolated";
        std::error_code none;
        if (!fs::exists(file, none)) return;
        const auto isolated = cpu_list(line_of(file));
        std::string open;
        for (const std::uint32_t cpu : cpus_) {
            if (std::find(isolated.begin(), isolated.end(), cpu) == isolated.end())
                open += (open.empty() ? "" : ",") + std::to_string(cpu);
        }
        if (open.empty()) return;
        out_.push_back("other tasks may run on the workers' CPUs " + open + ": boot with isolcpus=" + open +
                       " nohz_full=" + open);
    }

    void governors() {
        for (const std::uint32_t cpu : cpus_) {
            const std::string governor = line_of(cpu_folder(sysfs_, cpu) + "/cpufreq/scaling_governor");
            if (governor.empty() || governor == "performance") continue;
            out_.push_back("the clock of CPU " + std::to_string(cpu) + " follows the governor " + governor +
                           ": cpupower frequency-set -g performance");
        }
    }

    [[nodiscard]] std::string device(const HostedPort& port, const char* file) const {
        return line_of(sysfs_ + "/bus/pci/devices/" + port.pci_address + "/" + file);
    }

    void lanes(const HostedPort& port) {
        const int width = std::atoi(device(port, "current_link_width").c_str());
        const int card = std::atoi(device(port, "max_link_width").c_str());
        if (width > 0 && card < 255 && width < card) {  // 255: the device does not say
            out_.push_back("port " + port.name + " has " + std::to_string(width) + " of its card's " +
                           std::to_string(card) + " PCIe lanes: use a slot that is wired for all of them");
        }
        const std::string speed = device(port, "current_link_speed");
        const std::string most = device(port, "max_link_speed");
        if (std::atof(speed.c_str()) > 0 && std::atof(speed.c_str()) < std::atof(most.c_str())) {
            out_.push_back("port " + port.name + " has a PCIe link of " + speed + ", and its card can " +
                           most + ": look at the slot and at the firmware's settings");
        }
    }

    void driver(const HostedPort& port) {
        std::error_code none;
        const fs::path link = sysfs_ + "/bus/pci/devices/" + port.pci_address + "/driver";
        const std::string name = fs::read_symlink(link, none).filename().string();
        if (name != "uio_pci_generic" && name != "igb_uio") return;
        out_.push_back("port " + port.name + " is bound to " + name +
                       ", so the NIC may write to all of memory: dpdk-devbind.py --bind=vfio-pci " +
                       port.pci_address);
    }

    const std::vector<HostedPort>& ports_;
    const std::string& sysfs_;
    std::set<std::uint32_t> cpus_;
    std::vector<std::string> out_;
};

}  // namespace

std::vector<std::uint32_t> cpu_list(const std::string& text) {
    std::vector<std::uint32_t> out;
    const char* at = text.c_str();
    while (*at >= '0' && *at <= '9') {
        char* end = nullptr;
        const unsigned long first = std::strtoul(at, &end, 10);
        unsigned long last = first;
        if (*end == '-') last = std::strtoul(end + 1, &end, 10);
        for (unsigned long cpu = first; cpu <= std::min(last, first + 65'535); ++cpu)
            out.push_back(static_cast<std::uint32_t>(cpu));
        at = *end == ',' ? end + 1 : end;
    }
    return out;
}

std::vector<std::string> host_warnings(const std::vector<HostedPort>& ports, const std::string& sysfs) {
    return Inspection(ports, sysfs).run();
}

}  // namespace volley::port
