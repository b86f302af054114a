#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/model.h"
#include "traffic/plan.h"
#include "traffic/stream_table.h"
#include "volleyctl/exit_codes.h"

namespace volley::ctl {

/// A wrong combination of options: exit code 64.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Ticks a second of plans that are compiled to be looked at: a tick is a nanosecond.
inline constexpr std::uint64_t offline_hz = 1'000'000'000;
/// The schedule's zero, far from 0 so that nothing lies before the clock's beginning.
inline constexpr Tsc offline_epoch = Tsc{1} << 40U;

/// The options of the verbs that compile a configuration without a device.
struct CompileOptions {
    std::string file;
    std::vector<std::string> sets;
    std::optional<double> multiplier;
    std::string link_speed;  ///< "10Gbps" for ports that say no speed; empty: none

    void add_to(CLI::App& app);
};

/// A configuration and what volleyd would send of it.
struct Compiled {
    config::Model model;
    traffic::StreamTable table;
    std::unique_ptr<traffic::Plan> plan;
    std::vector<std::uint64_t> link_bps;  ///< of each port; 0: unknown
};

/// Throws config::Error with all problems, config::FileError, UsageError.
Compiled compile_offline(const CompileOptions& options);

/// Adds `--set POINTER=VALUE`, taken one value an option, so that a file name may follow it.
void add_sets(CLI::App& app, std::vector<std::string>& sets);

/// Runs a verb and turns what it throws into a message on stderr and an exit code.
int guarded(const std::function<int()>& verb);

}  // namespace volley::ctl
