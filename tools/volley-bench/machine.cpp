#include "volley-bench/machine.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/cache_line.h"
#include "base/cpu.h"
#include "base/tsc.h"

namespace volley::bench {
namespace {

std::string siblings_of(unsigned cpu) {
    std::ifstream in("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    std::string out;
    std::getline(in, out);
    return out;
}

std::string relation_of(const std::vector<unsigned>& cpus) {
    if (cpus.size() < 2) return "one CPU";
    const std::string first = siblings_of(cpus[0]);
    if (first.empty()) return "unknown";
    return first == siblings_of(cpus[1]) ? "siblings of one core" : "separate cores";
}

std::string scheduler_class() {
    switch (sched_getscheduler(0)) {
        case SCHED_FIFO:
            return "SCHED_FIFO";
        case SCHED_RR:
            return "SCHED_RR";
        case SCHED_BATCH:
            return "SCHED_BATCH";
        case SCHED_OTHER:
            return "SCHED_OTHER";
        default:
            return "other";
    }
}

double load_average() {
    double load = 0;
    return getloadavg(&load, 1) == 1 ? load : 0;
}

// Sum of all and of the stolen CPU time, in ticks since boot (proc_stat(5)).
void cpu_times(std::uint64_t& total, std::uint64_t& steal) {
    std::ifstream in("/proc/stat");
    std::string word;
    in >> word;
    total = steal = 0;
    std::uint64_t ticks = 0;
    for (int field = 0; field < 8 && in >> ticks; ++field) {
        total += ticks;
        if (field == 7) steal = ticks;
    }
}

// A multiplication takes 3 core cycles where each waits for the one before, on all x86 cores since Nehalem.
double core_per_tsc() {
    constexpr std::uint64_t steps = 1'000'000;
    double best = 0;
    for (int round = 0; round < 5; ++round) {
        std::uint64_t value = 3;
        const Tsc before = tsc_now();
        for (std::uint64_t i = 0; i < steps; ++i) {
            value *= 0x9e3779b97f4a7c15;
            asm volatile("" : "+r"(value));
        }
        best = std::max(best, 3.0 * static_cast<double>(steps) / static_cast<double>(tsc_now() - before));
    }
    return best;
}

struct Flag {
    alignas(2 * cache_line) std::atomic<std::uint32_t> ping{0};
    alignas(2 * cache_line) std::atomic<std::uint32_t> pong{0};
};

// One way, TSC cycles: half of a round trip over two lines, each written by one side.
double line_transfer(std::uint32_t rounds) {
    Flag flag;
    std::thread other([&flag, rounds] {
        pin(1);
        for (std::uint32_t i = 1; i <= rounds; ++i) {
            while (flag.ping.load(std::memory_order_acquire) != i) {
            }
            flag.pong.store(i, std::memory_order_release);
        }
    });
    Tsc start = 0;
    for (std::uint32_t i = 1; i <= rounds; ++i) {
        if (i == rounds / 10) start = tsc_now();
        flag.ping.store(i, std::memory_order_release);
        while (flag.pong.load(std::memory_order_acquire) != i) {
        }
    }
    const Tsc end = tsc_now();
    other.join();
    return static_cast<double>(end - start) / (2.0 * (rounds - rounds / 10 + 1));
}

void measure_lines(Machine& machine, bool quick) {
    if (machine.cpus < 2) return;
    std::thread([&machine, quick] {
        pin(0);
        for (int round = 0; round < (quick ? 2 : 5); ++round) {
            const double cycles = line_transfer(quick ? 2'000 : 100'000);
            machine.line_min = machine.line_min == 0 ? cycles : std::min(machine.line_min, cycles);
            machine.line_max = std::max(machine.line_max, cycles);
        }
    }).join();
}

std::string now_text() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text.data();
}

}  // namespace

const std::vector<unsigned>& usable_cpus() {
    // Asked once, before any thread pins itself: the set of the main thread is the process's.
    static const std::vector<unsigned> cpus = [] {
        cpu_set_t set;
        CPU_ZERO(&set);
        std::vector<unsigned> out;
        if (sched_getaffinity(getpid(), sizeof(set), &set) != 0) return std::vector<unsigned>{0};
        for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &set)) out.push_back(cpu);
        }
        return out;
    }();
    return cpus;
}

bool pin(unsigned position) {
    const std::vector<unsigned>& cpus = usable_cpus();
    if (position >= cpus.size()) return false;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus[position], &set);
    return pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0;
}

MachineWatch::MachineWatch(bool quick) : quick_(quick) {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) == 0) machine_.host = name.data();
    machine_.cpu = cpu_model();
    const std::vector<unsigned>& cpus = usable_cpus();
    machine_.cpus = static_cast<unsigned>(cpus.size());
    machine_.relation = relation_of(cpus);
    machine_.tsc_hz = tsc_hz();
    machine_.core_per_tsc = core_per_tsc();
    machine_.scheduler = scheduler_class();
    machine_.time = now_text();
    machine_.load = load_average();
    measure_lines(machine_, quick_);
    cpu_times(total_, steal_);
}

Machine MachineWatch::finish() const {
    Machine out = machine_;
    std::uint64_t total = 0;
    std::uint64_t steal = 0;
    cpu_times(total, steal);
    if (total > total_)
        out.steal_percent = 100.0 * static_cast<double>(steal - steal_) / static_cast<double>(total - total_);
    out.load = std::max(out.load, load_average());
    measure_lines(out, quick_);
    return out;
}

std::string to_text(const Machine& m) {
    std::ostringstream out;
    char numbers[256];
    std::snprintf(numbers, sizeof(numbers),
                  "TSC %.3f GHz, %.2f core cycles a TSC cycle, line transfer %.0f to %.0f cycles one way, "
                  "load %.2f, steal %.1f %%",
                  static_cast<double>(m.tsc_hz) / 1e9, m.core_per_tsc, m.line_min, m.line_max, m.load,
                  m.steal_percent);
    out << "host " << m.host << ", " << m.time << ", " << m.cpu << ", " << m.cpus << " CPUs (" << m.relation
        << "), " << m.scheduler << "\n"
        << numbers << "\n";
    return out.str();
}

}  // namespace volley::bench
