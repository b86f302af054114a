#include "dpdk/eal.h"

#include <fcntl.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/fd.h"
#include "dpdk/error.h"
#include "dpdk/log.h"

namespace volley::dpdk {
namespace {

/// While it lives, what is printed to stdout is lost: the EAL answers a wrong argument with a page of usage
/// there, where volleyd writes JSON lines only.
class NoStdout {
  public:
    NoStdout() : kept_(dup(STDOUT_FILENO)) {
        std::fflush(stdout);
        const Fd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
        dup2(null.get(), STDOUT_FILENO);
    }
    ~NoStdout() {
        std::fflush(stdout);
        if (kept_) dup2(kept_.get(), STDOUT_FILENO);
    }
    NoStdout(const NoStdout&) = delete;
    NoStdout& operator=(const NoStdout&) = delete;

  private:
    Fd kept_;
};

int initialise(std::vector<char*> argv) {
    const NoStdout silence;
    return rte_eal_init(static_cast<int>(argv.size()), argv.data());
}

std::string joined(const std::vector<unsigned>& ids) {
    std::string out;
    for (const unsigned id : std::set<unsigned>(ids.begin(), ids.end())) {
        if (!out.empty()) out.push_back(',');
        out += std::to_string(id);
    }
    return out;
}

std::uint64_t number_in(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::uint64_t value = 0;
    in >> value;
    return value;
}

}  // namespace

std::uint64_t free_huge_page_mib() {
    std::uint64_t kib = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", ignored)) {
        const std::string name = entry.path().filename().string();  // hugepages-2048kB
        const std::size_t dash = name.find('-');
        std::uint64_t page_kib = 0;
        if (dash == std::string::npos) continue;
        std::from_chars(name.data() + dash + 1, name.data() + name.size(), page_kib);
        kib += page_kib * number_in(entry.path() / "free_hugepages");
    }
    return kib / 1024;
}

std::vector<std::string> eal_arguments(const EalOptions& options, std::uint64_t huge_free_mib) {
    std::vector<std::string> args{"volley"};
    if (options.lcores.empty()) {
        args.insert(args.end(), {"-l", joined(options.lcore_ids)});
    } else {
        args.insert(args.end(), {"--lcores", options.lcores});
    }
    args.insert(args.end(), {"--main-lcore", std::to_string(options.main_lcore)});
    args.insert(args.end(), {"-m", std::to_string(options.memory_mib)});
    const bool huge =
        options.huge_pages == "yes" || (options.huge_pages == "auto" && huge_free_mib >= options.memory_mib);
    if (huge) {
        args.emplace_back("--in-memory");
    } else {
        args.insert(args.end(),
                    {"--no-huge", "--no-shconf"});  // --in-memory with --no-huge is refused by the EAL
    }
    args.insert(args.end(), {"--file-prefix", options.name});
    for (const std::string& plugin : options.plugins) args.insert(args.end(), {"-d", plugin});
    if (options.pci.empty()) {
        args.emplace_back("--no-pci");
    } else {
        for (const std::string& address : options.pci) args.insert(args.end(), {"-a", address});
    }
    args.insert(args.end(), options.extra.begin(), options.extra.end());
    return args;
}

Eal::Eal(const EalOptions& options) {
    std::vector<std::string> args = eal_arguments(options, free_huge_page_mib());
    std::vector<char*> argv;
    for (std::string& arg : args) argv.push_back(arg.data());
    route_log();
    if (initialise(std::move(argv)) < 0) {
        const int code = rte_errno;
        std::string line;
        for (const std::string& arg : args) line += (line.empty() ? "" : " ") + arg;
        restore_log();
        throw Error(
            "starting the EAL with \"" + line + "\"", code,
            "the EAL's own lines above say why; lcores that name absent CPUs are mapped with eal.lcores, for "
            "example \"0@0,1@0,2@1\"; memory is eal.memory_mib");
    }
}

Eal::~Eal() {
    rte_eal_cleanup();
    restore_log();
}

void launch(LcoreId lcore, int (*function)(void*), void* argument) {
    const int code = rte_eal_remote_launch(function, argument, lcore.value);
    if (code != 0) throw Error("launching lcore " + std::to_string(lcore.value), code);
}

void wait_lcore(LcoreId lcore) {
    rte_eal_wait_lcore(lcore.value);
}

bool has_lcore(LcoreId lcore) {
    return lcore.value < RTE_MAX_LCORE && rte_lcore_is_enabled(lcore.value) != 0;
}

unsigned cpu_of(LcoreId lcore) {
    return static_cast<unsigned>(rte_lcore_to_cpu_id(static_cast<int>(lcore.value)));
}

bool shares_cpu(LcoreId lcore) {
    const rte_cpuset_t own = rte_lcore_cpuset(lcore.value);
    unsigned other = 0;
    RTE_LCORE_FOREACH(other) {
        if (other == lcore.value) continue;
        const rte_cpuset_t theirs = rte_lcore_cpuset(other);
        rte_cpuset_t both;
        CPU_AND(&both, &own, &theirs);
        if (CPU_COUNT(&both) != 0) return true;
    }
    return false;
}

}  // namespace volley::dpdk
