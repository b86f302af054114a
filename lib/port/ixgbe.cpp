#include "port/ixgbe.h"

#include <rte_log.h>

#include "dpdk/log.h"

// rte_vect.h of DPDK 22.11 declares it without C linkage.
extern "C" std::uint16_t rte_vect_get_max_simd_bitwidth();

namespace volley::port::ixgbe {
namespace {

constexpr const char* log_type = "pmd.net.ixgbe.init";

}  // namespace

bool vectors_allowed() {
    return rte_vect_get_max_simd_bitwidth() >= 128;
}

TxPathListener::TxPathListener() : level_before_(-1) {
    const int type = rte_log_register(log_type);
    level_before_ = type < 0 ? -1 : rte_log_get_level(static_cast<std::uint32_t>(type));
    rte_log_set_level_pattern(log_type, RTE_LOG_DEBUG);
    dpdk::set_log_listener([this](std::string_view line) { hear(line); });
}

TxPathListener::~TxPathListener() {
    dpdk::set_log_listener(nullptr);
    if (level_before_ >= 0) rte_log_set_level_pattern(log_type, static_cast<std::uint32_t>(level_before_));
}

// ixgbe_set_tx_function says "Using simple tx code path", after which "Vector tx enabled." may follow, or
// "Using full-featured tx code path".
void TxPathListener::hear(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (line.find("Using full-featured tx code path") != std::string_view::npos) path_ = TxPath::full;
    if (line.find("Using simple tx code path") != std::string_view::npos) path_ = TxPath::simple;
    if (line.find("Vector tx enabled") != std::string_view::npos) path_ = TxPath::vector;
}

std::optional<TxPath> TxPathListener::heard() const {
    const std::lock_guard lock(mutex_);
    return path_;
}

}  // namespace volley::port::ixgbe
