#include "traffic/stream_table.h"

namespace volley::traffic {

StreamSlot StreamTable::slot(std::string_view name) {
    if (const auto found = by_name_.find(name); found != by_name_.end()) return {found->second};
    const auto value = size();
    rows_.push_back({std::string(name), 0});
    by_name_.emplace(rows_.back().name, value);
    return {value};
}

}  // namespace volley::traffic
