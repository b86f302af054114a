#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "packet/plan.h"
#include "packet/sequence.h"

namespace volley::packet {

Divider divider(std::uint64_t divisor);

/// How a sequence's value becomes the 32-bit word of a column.
struct Placement {
    Value minus = 0;    ///< taken off first
    unsigned left = 0;  ///< then shifted left
    Value mask = 0;     ///< before that shift: the bits that are written
};

/// Storage that a plan points into; addresses stay as it grows.
struct PlanStorage {
    std::deque<std::vector<std::uint32_t>> tables;
    std::deque<Sequence> sequences;
};

/// The fastest column that gives `sequence` at every index.
Column make_column(const Sequence& sequence, const Placement& placement, PlanStorage& storage);

}  // namespace volley::packet
