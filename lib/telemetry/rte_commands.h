#pragma once

#include "telemetry/stats_loop.h"

namespace volley::telemetry {

/// The latest line as commands of DPDK's own telemetry socket: /volley/info, /volley/ports, /volley/port,ID,
/// /volley/streams,OFFSET, /volley/stream,ID, /volley/lcores and /volley/lcore,ID. That socket cuts an answer
/// at 16 KiB without a word (DPDK 22.11, lib/telemetry), so lists are short and hold names alone, and what an
/// entry says is asked for by its number.
class RteCommands {
  public:
    /// One at a time in a process. stats must outlive it. Throws std::runtime_error when DPDK refuses a name.
    explicit RteCommands(const StatsLoop& stats);
    ~RteCommands();
    RteCommands(const RteCommands&) = delete;
    RteCommands& operator=(const RteCommands&) = delete;
};

}  // namespace volley::telemetry
