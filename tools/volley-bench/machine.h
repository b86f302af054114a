#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace volley::bench {

/// What every table says of the machine it was measured on. Line transfer: one way, TSC cycles that a cache
/// line takes from one CPU's cache to the other's; it moves by 1.7 x within minutes on shared hosts.
struct Machine {
    std::string host;
    std::string cpu;  ///< model name
    unsigned cpus = 0;
    std::string relation;  ///< of CPUs 0 and 1: "separate cores", "siblings of one core", "one CPU"
    std::uint64_t tsc_hz = 0;
    double core_per_tsc = 0;  ///< core cycles a TSC cycle, by a chain of dependent multiplications
    double line_min = 0;
    double line_max = 0;
    double load = 0;           ///< 1 minute load average
    double steal_percent = 0;  ///< of all CPU time while the subcommand ran
    std::string scheduler;     ///< class of the measuring threads
    std::string time;          ///< RFC 3339, UTC
};

/// Looks at the machine at the start and again at the end.
class MachineWatch {
  public:
    /// `quick`: fewer ping-pongs.
    explicit MachineWatch(bool quick);
    /// What to print, with the line transfer's extremes before and after.
    [[nodiscard]] Machine finish() const;

  private:
    bool quick_;
    Machine machine_;
    std::uint64_t steal_ = 0;
    std::uint64_t total_ = 0;
};

std::string to_text(const Machine& machine);

/// Pins the calling thread to one CPU of the process's own set, by position; false when there are not so
/// many.
bool pin(unsigned position);
/// CPUs that this process may use, asked at the first call, which must come before any thread pins itself.
const std::vector<unsigned>& usable_cpus();

}  // namespace volley::bench
