#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/road.h"
#include "traffic/plan.h"

namespace volley::daemon {

/// The plan in force and those that it replaced, until each is proven idle. A reload is complete when every
/// lane has adopted its plan; the one before is freed later, without a deadline, so a stuck port delays
/// freeing, not the reload. Control alone uses it.
class Plans {
  public:
    static constexpr std::size_t most_retired = 4;

    [[nodiscard]] const traffic::Plan* current() const { return current_.get(); }

    /// A plan that was offered to the lanes: kept until adopted() or for ever, for a lane that hangs may
    /// still take it.
    void hold(std::unique_ptr<traffic::Plan> plan) { offered_ = std::move(plan); }
    /// Every lane works on what was offered last (nothing, when nothing is held): it is in force, and the
    /// plan before it waits until the workers have finished what was emitted from it.
    void adopted(const Road& road);
    /// Frees the retired plans of which no burst is under way.
    void free_idle(const Road& road);
    /// Too many plans are unretired for another reload: the port that holds them, or nothing.
    [[nodiscard]] std::optional<std::string> held_by(const Road& road) const;

  private:
    struct Retired {
        std::unique_ptr<traffic::Plan> plan;
        std::vector<std::uint64_t> emitted;  ///< by lane
    };
    std::unique_ptr<traffic::Plan> offered_;
    std::unique_ptr<traffic::Plan> current_;
    std::vector<Retired> retired_;
};

}  // namespace volley::daemon
