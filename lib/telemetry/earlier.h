#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "telemetry/totals.h"

namespace volley::telemetry {

/// What tells one row of a Totals array from another, whatever its place.
using RowKey = std::pair<std::string_view, std::uint32_t>;

inline RowKey key_of(const PortTotals& row) {
    return {row.name, 0};
}
inline RowKey key_of(const QueueTotals& row) {
    return {row.port, row.queue};
}
inline RowKey key_of(const WorkerTotals& row) {
    return {row.name, 0};
}
inline RowKey key_of(const StreamTotals& row) {
    return {row.name, 0};
}

/// Finds the same row in an earlier reading. Rows rarely move, so the same index is tried first and the
/// search tree is built only after a reload has moved them. A row that was not there had counted nothing:
/// that is a row of zeros.
template <class Row>
class Earlier {
  public:
    explicit Earlier(const std::vector<Row>& rows) : rows_(rows) {}

    const Row& find(std::size_t index, const Row& now) {
        if (index < rows_.size() && key_of(rows_[index]) == key_of(now)) return rows_[index];
        if (tree_.empty()) {
            for (const Row& row : rows_) tree_.emplace(key_of(row), &row);
        }
        const auto found = tree_.find(key_of(now));
        return found == tree_.end() ? none_ : *found->second;
    }

  private:
    const std::vector<Row>& rows_;
    std::map<RowKey, const Row*> tree_;
    const Row none_{};
};

}  // namespace volley::telemetry
