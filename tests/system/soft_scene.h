#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "soft82599/control.h"
#include "system/volleyd.h"

namespace volley::test {

/// What a test may do while a daemon runs on soft ports within this process.
class Scene {
  public:
    /// Files of the telemetry lines and of the configuration.
    Scene(std::string lines, std::string file) : lines_(std::move(lines)), file_(std::move(file)) {}

    /// The model of net_soft82599_N.
    [[nodiscard]] static soft82599::Port& nic(unsigned number = 0);
    /// The telemetry lines so far.
    [[nodiscard]] std::vector<json> lines() const;
    /// Waits for a condition; false after a minute.
    static bool wait_until(const std::function<bool()>& condition);
    bool wait_for_line(const std::function<bool(const json&)>& condition) const;
    /// To this process, as an operator would send it.
    static void signal(int number);
    /// Rewrites the configuration and has it read.
    void reload(const json& config) const;

  private:
    std::string lines_;
    std::string file_;
};

struct SceneResult {
    int status = -1;          ///< what Daemon::run() returned; -1 when it threw
    std::string error;        ///< what it threw
    std::vector<json> lines;  ///< all telemetry lines
    std::string log;          ///< messages of the log, one a line
};

/// Runs a daemon to its end in this process, which must have no EAL yet, with `operate` on a thread of its
/// own from the moment that the ports are started. Call it within in_child().
SceneResult run_scene(const json& config, const std::function<void(const Scene&)>& operate);

}  // namespace volley::test
