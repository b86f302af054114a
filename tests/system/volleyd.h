#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/net_namespace.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace volley::test {

using nlohmann::json;

/// The programs that this build made.
std::string volleyd_path();
std::string volleyctl_path();
/// The folder of the sources, for conf/ and README.md.
std::string source_path();
/// True in a build with a sanitizer, where a test asks for less.
bool sanitized();

/// A configuration whose control, stats and dispatch lcores are 0, 1 and 2 and whose workers' are
/// first_worker, first_worker + 1, ...: `workers` of them spread over the machine's CPUs. No huge pages, no
/// socket.
inline constexpr unsigned first_worker = 3;
json configuration(unsigned workers, bool dispatch, const std::vector<json>& ports,
                   const std::vector<json>& streams);
/// A port that the first `workers` workers drive.
json port(const std::string& name, const std::string& device, unsigned workers = 1);
/// 60 bytes of 0xff without FCS.
json raw_packet();

/// Sum of a member over an array, such as sum(report["queues"], "/tx/packets"); elements without it count 0.
std::uint64_t sum(const json& array, const std::string& pointer);
/// The element of that name.
const json& named(const json& array, const std::string& name);
/// Every sum over ports, queues, workers and streams agrees, and the report is settled.
void expect_consistent(const json& report);

/// volleyd as a child process with a folder of its own for its files and sockets.
class Volleyd {
  public:
    struct Options {
        std::vector<std::string> arguments;   ///< after --config FILE
        const NetNamespace* where = nullptr;  ///< where it runs
        std::vector<std::string> prefix;      ///< command that runs the command
    };
    explicit Volleyd(const json& config, const Options& options);
    explicit Volleyd(const json& config) : Volleyd(config, Options{}) {}

    [[nodiscard]] Process& process() noexcept { return *process_; }
    [[nodiscard]] const TempDir& dir() const noexcept { return dir_; }
    void rewrite(const json& config) const;

    /// The whole lines so far, parsed strictly.
    [[nodiscard]] std::vector<json> lines() const;
    /// Waits for a line, from line `from` on, that fulfils the condition, and returns its number.
    std::optional<std::size_t> wait_for_line(const std::function<bool(const json&)>& condition,
                                             std::size_t from = 0);
    bool wait_for_state(const std::string& state);
    /// Waits for the end; the exit code.
    std::optional<int> wait(Seconds deadline = patience) { return process_->wait(deadline); }
    /// The last line, which must be a whole report; after wait().
    [[nodiscard]] json report() const;

  private:
    TempDir dir_;
    std::unique_ptr<Process> process_;
};

/// Runs to the end, which must come with that exit code, and returns the report.
json run_volleyd(const json& config, int exit_code = 0);

/// For a daemon within this process: the EAL comes up once in one, so each run has a child of its own. True
/// when nothing failed in it.
bool in_child(const std::function<void()>& body);

}  // namespace volley::test
