#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/process.h"
#include "support/temp_dir.h"

namespace volley::bench {

/// volleyd of the same build, else the one in PATH. Throws std::runtime_error when there is none.
std::string volleyd_path();

/// A configuration of one port with one worker on the last CPU, control and stats on CPU 0, no huge pages, no
/// sockets: `device`, the streams given, `tx` merged into the port's.
nlohmann::json volleyd_config(const std::string& device, const nlohmann::json& streams,
                              const nlohmann::json& tx);

/// `burst` packets a time, as fast as they go, to the port that volleyd_config() has: 64 bytes with FCS from
/// 198.18.0.1 to `destination`, the payload zero. udp: fields beside the ports, which are 9 and 9.
nlohmann::json udp_stream(std::uint32_t burst, const nlohmann::json& destination,
                          const nlohmann::json& udp = nlohmann::json::object());

/// The program is in PATH.
bool installed(const std::string& program);

/// Runs a configuration to its end or until stop(), and gives the report.
class VolleydRun {
  public:
    explicit VolleydRun(const nlohmann::json& config, const std::string& duration = "");
    /// Where the EAL's own sockets are.
    [[nodiscard]] std::string runtime_directory() const { return dir_.path().string(); }
    [[nodiscard]] test::Process& process() { return *process_; }
    /// Ends it by SIGTERM if it still runs; throws std::runtime_error with its log when it fails.
    nlohmann::json report();

  private:
    test::TempDir dir_;
    std::unique_ptr<test::Process> process_;
};

/// From now on this process and its children are in a network namespace of their own, which goes with them.
/// Needs root or unprivileged user namespaces; throws std::system_error.
void enter_private_network();
/// Runs `ip ARGUMENTS`; throws std::runtime_error with what it says.
void ip(const std::vector<std::string>& arguments);
/// Two ends of a cable in this namespace, both up and without IPv6.
void make_veth(const std::string& a, const std::string& b);
/// Packets that the kernel counted as received on the interface, dropped ones included (ifb drops all).
std::uint64_t received(const std::string& interface);

/// Nanoseconds on a CPU of each thread of a process and its children so far, by the thread's path in /proc.
using ThreadTimes = std::vector<std::pair<std::string, std::uint64_t>>;
ThreadTimes thread_times(pid_t pid);
/// TSC cycles of CPU time between the two of the thread that used most.
double busiest_cycles(const ThreadTimes& before, const ThreadTimes& after);

/// What a program did while it was watched.
struct Watched {
    double pps = 0;     ///< by the counter given, over measured time
    double cycles = 0;  ///< TSC cycles of CPU time of its busiest thread, a packet
};
/// Waits until `interface` receives, then watches for `seconds`. None when the program ends first or nothing
/// comes within 20 s.
std::optional<Watched> watch(test::Process& process, const std::string& interface, double seconds);

}  // namespace volley::bench
