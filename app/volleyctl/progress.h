#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace volley::ctl {

/// What a run has done and when it ends, on stderr: a bar that is drawn over on a terminal, else a plain line
/// now and then. Nothing when the run is shorter than a second.
class Progress {
  public:
    /// duration_ns: of the run; none: it ends by counts or by command, so there is no end to tell.
    explicit Progress(std::optional<std::uint64_t> duration_ns);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// A telemetry line of the run.
    void show(const nlohmann::json& line);

  private:
    std::optional<std::uint64_t> duration_ns_;
    bool terminal_;
    bool drawn_ = false;
    std::chrono::steady_clock::time_point last_;
};

/// The text for a line: "42 % [########------------] 12 s of 30 s, 1.2 Mpps, 18 s to go".
std::string progress_text(const nlohmann::json& line, std::optional<std::uint64_t> duration_ns);

}  // namespace volley::ctl
