#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"

namespace volley::traffic {

/// Stream name -> slot, for the life of the process: the row by which counters are kept outlives every plan,
/// and a stream that comes back finds its row again. Control only; others read names from the plan. Rows
/// never move or go.
class StreamTable {
  public:
    /// The slot of `name`, made if it is new.
    StreamSlot slot(std::string_view name);
    [[nodiscard]] const std::string& name(StreamSlot slot) const { return rows_[slot.value].name; }
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(rows_.size()); }

    /// A number for a life of the stream that begins at index 0: no two lives of a slot share one.
    std::uint32_t next_epoch(StreamSlot slot) { return rows_[slot.value].lives++; }

  private:
    struct Row {
        std::string name;
        std::uint32_t lives = 0;
    };
    std::deque<Row> rows_;  ///< a deque: the keys below point into it
    std::unordered_map<std::string_view, std::uint32_t> by_name_;
};

}  // namespace volley::traffic
