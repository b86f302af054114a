#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "config/model.h"
#include "traffic/plan.h"

namespace volley::daemon {

/// What telemetry says about each stream besides its counters: name, port, target and what the configured
/// rate has made due, reckoned on CLOCK_MONOTONIC, apart from the TSC that the lanes run on. Written by
/// control, read by the stats lcore, under a lock that the data path never sees.
class StreamBook {
  public:
    struct Line {
        StreamSlot slot;
        std::string name;
        std::string port;
        std::string state;
        std::optional<Rational> target_pps;
        std::optional<std::uint64_t> due_packets;
        std::uint64_t count = traffic::endless;  ///< by its count or its duration
        std::uint64_t packets_before = 0;        ///< its counter when this run's count began
        bool is_signed = false;
    };
    /// Reads a stream's packet counter.
    using Sent = std::function<std::uint64_t(StreamSlot)>;

    /// The streams of a plan whose schedule's zero is at epoch_ns and which ends at end_ns (~0: never).
    /// continues: a reload; what was due so far stays due, and what was sent while there was no one rate was
    /// due.
    void adopt(const traffic::Plan& plan, const config::Model& model, std::uint64_t epoch_ns,
               std::uint64_t end_ns, std::uint64_t now_ns, bool continues, const Sent& sent);
    /// A new run begins: nothing is due yet. Before its base line is taken, or the dues of the run before
    /// would be in it.
    void begin();
    /// Traffic ended at that instant: nothing falls due after it.
    void end(std::uint64_t now_ns);
    /// One line a slot that was ever used, in slot order.
    [[nodiscard]] std::vector<Line> read(std::uint64_t now_ns) const;

  private:
    struct Entry {
        bool used = false;
        bool present = false;  ///< in the plan in force
        bool paused = false;   ///< nothing falls due
        bool is_signed = false;
        std::string name;
        std::string port;
        std::optional<Rational> pps;
        std::uint64_t count = traffic::endless;
        std::uint64_t from_ns = 0;                  ///< the rate holds from here
        std::uint64_t start_ns = 0;                 ///< first packet's due
        std::uint64_t stop_ns = ~std::uint64_t{0};  ///< end of its own duration
        std::uint64_t packets_before = 0;           ///< its counter when the run began
        std::uint64_t before = 0;                   ///< packets due before from_ns
        std::uint64_t sent_at = 0;                  ///< its counter when its rate stopped to be one
    };
    [[nodiscard]] std::uint64_t due(const Entry& entry, std::uint64_t now_ns) const;

    mutable std::mutex mutex_;
    std::vector<Entry> entries_;  ///< by slot
    std::uint64_t end_ns_ = ~std::uint64_t{0};
};

}  // namespace volley::daemon
