#pragma once

#include <mutex>
#include <optional>
#include <string_view>

#include "config/ixgbe_rules.h"

namespace volley::port::ixgbe {

using config::ixgbe::name_of;
using config::ixgbe::packets_per_tail_write;
using config::ixgbe::predicted;
using config::ixgbe::problems;
using config::ixgbe::TxPath;
using config::ixgbe::TxRules;
using config::ixgbe::why_full;

/// The EAL lets drivers use vectors of 128 bits (--force-max-simd-bitwidth may forbid it).
bool vectors_allowed();

/// Hears the driver say which transmit function it chose: DPDK 22.11 has no other way to ask ixgbe. While it
/// lives the driver's debug lines are on; one at a time.
class TxPathListener {
  public:
    TxPathListener();
    ~TxPathListener();
    TxPathListener(const TxPathListener&) = delete;
    TxPathListener& operator=(const TxPathListener&) = delete;

    /// What was said last; nothing when the driver was silent.
    [[nodiscard]] std::optional<TxPath> heard() const;

  private:
    void hear(std::string_view line);

    mutable std::mutex mutex_;
    std::optional<TxPath> path_;
    int level_before_;
};

}  // namespace volley::port::ixgbe
