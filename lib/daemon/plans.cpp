#include "daemon/plans.h"

#include <algorithm>

namespace volley::daemon {

void Plans::adopted(const Road& road) {
    if (current_) retired_.push_back({std::move(current_), road.emitted_before()});
    current_ = std::move(offered_);
    free_idle(road);
}

void Plans::free_idle(const Road& road) {
    std::erase_if(retired_, [&](const Retired& retired) { return road.finished(retired.emitted); });
}

std::optional<std::string> Plans::held_by(const Road& road) const {
    if (retired_.size() < most_retired) return std::nullopt;
    std::string laggard;
    if (road.finished(retired_.front().emitted, &laggard)) return std::nullopt;
    return laggard;
}

}  // namespace volley::daemon
