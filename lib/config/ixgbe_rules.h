#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace volley::config::ixgbe {

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

/// What is wrong with one key of a port's tx.
struct TxProblem {
    std::string_view key;  ///< "rs_thresh"
    std::string text;      ///< with the numbers and what would be right
};

/// Why the driver would refuse the queue; empty: it takes it.
std::vector<TxProblem> problems(const TxRules& rules);

/// The function that the driver will choose. The fast ones need no offload and rs_thresh exactly 32: less is
/// the full path, more is refused.
TxPath predicted(const TxRules& rules);

/// Why rules give the full path, for whoever wants a fast one; empty when they do not.
std::string why_full(const TxRules& rules);

/// Packets that one tail write carries within one tx_burst call: both fast paths write the tail once a chunk
/// of rs_thresh, the full path once a call, for which this is 0.
std::uint32_t packets_per_tail_write(TxPath path);

/// Whether the device text names an 82599 or one of its relatives: a soft 82599, or a PCI address where
/// `sysfs` shows such a device or none at all, for the file may be for another machine.
bool may_be_ixgbe(std::string_view device, const std::string& sysfs = "/sys");

}  // namespace volley::config::ixgbe
