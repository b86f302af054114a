#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace volley::port::ixgbe {

/// The transmit functions of DPDK's ixgbe driver, from fastest to slowest.
enum class TxPath : std::uint8_t { vector, simple, full };

std::string_view name_of(TxPath path);

/// What the driver decides by (ixgbe_rxtx.c of DPDK 22.11: ixgbe_dev_tx_queue_setup, ixgbe_set_tx_function).
struct TxRules {
    std::uint32_t descriptors = 1024;
    std::uint32_t rs_thresh = 32;    ///< descriptors between two that ask for a write-back
    std::uint32_t free_thresh = 32;  ///< free descriptors under which sent mbufs are freed
    bool offload = false;            ///< any TX offload bit, whichever
    bool simd = true;                ///< vectors of 128 bits or more are allowed
};

/// The EAL lets drivers use vectors of 128 bits (--force-max-simd-bitwidth may forbid it).
bool vectors_allowed();

/// Why the driver would refuse the queue, each with the numbers and the key to change; empty: it takes it.
std::vector<std::string> problems(const TxRules& rules);

/// The function that the driver will choose. The fast ones need no offload and rs_thresh exactly 32: less is
/// the full path, more is refused.
TxPath predicted(const TxRules& rules);

/// Packets that one tail write carries within one tx_burst call: both fast paths write the tail once a chunk
/// of rs_thresh, the full path once a call, for which this is 0.
std::uint32_t packets_per_tail_write(TxPath path);

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
