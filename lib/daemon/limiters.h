#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "config/limiter.h"
#include "daemon/links.h"
#include "daemon/road.h"
#include "telemetry/totals.h"
#include "traffic/plan.h"

namespace volley::daemon {

/// The NICs' rate limiters, for streams that leave their pacing to them: what each queue is held to. Control
/// sets them, the stats lcore shows them. A limiter is reckoned from the link's speed and forgotten when a
/// port starts, so it is set before each run and again whenever the link comes up.
class Limiters {
  public:
    /// Both must outlive it.
    Limiters(const Road& road, const Links& links) : road_(road), links_(links) {}

    /// Before the lanes get the plan: holds the queues of its hardware-paced streams. Throws dpdk::Error when
    /// a device refuses, or does not tell its link's speed; then every queue is held as before.
    void hold(const traffic::Plan& plan);
    /// After every lane has adopted it: lets go of queues that are held for it no more.
    void let_go(const traffic::Plan& plan);
    /// The link of a port has come up, perhaps at another speed.
    void renew(std::size_t port) noexcept;

    /// Any thread: of a lane of the road, by its index.
    [[nodiscard]] std::optional<telemetry::LimiterTotals> view(std::size_t lane) const;

  private:
    using Wanted = std::vector<std::optional<config::Limiter>>;  ///< by lane
    [[nodiscard]] Wanted wanted_by(const traffic::Plan& plan) const;
    void check(std::size_t lane, const config::Limiter& wanted) const;
    void put_back(const Wanted& wanted, std::size_t refused) const noexcept;
    void set(std::size_t lane, std::uint32_t mbps) const;
    void set_or_tell(std::size_t lane, std::uint32_t mbps) const noexcept;
    void publish();

    const Road& road_;
    const Links& links_;
    Wanted held_;
    mutable std::mutex mutex_;  ///< guards shown_
    Wanted shown_;
};

}  // namespace volley::daemon
