#include "port/ixgbe.h"

#include <rte_log.h>

#include "dpdk/log.h"

// rte_vect.h of DPDK 22.11 declares it without C linkage.
extern "C" std::uint16_t rte_vect_get_max_simd_bitwidth();

namespace volley::port::ixgbe {
namespace {

constexpr std::uint32_t fast_rs_thresh = 32;  // DEFAULT_TX_RS_THRESH
constexpr std::uint32_t least_descriptors = 32;
constexpr std::uint32_t most_descriptors = 4096;
constexpr std::uint32_t descriptor_multiple = 8;  // 128 bytes of 16-byte descriptors
constexpr const char* log_type = "pmd.net.ixgbe.init";

std::string number(std::uint32_t value) {
    return std::to_string(value);
}

}  // namespace

std::string_view name_of(TxPath path) {
    switch (path) {
        case TxPath::vector:
            return "vector";
        case TxPath::simple:
            return "simple";
        case TxPath::full:
            return "full";
    }
    return "unknown";
}

bool vectors_allowed() {
    return rte_vect_get_max_simd_bitwidth() >= 128;
}

std::vector<std::string> problems(const TxRules& rules) {
    std::vector<std::string> out;
    const std::uint32_t n = rules.descriptors;
    if (n < least_descriptors || n > most_descriptors || n % descriptor_multiple != 0) {
        out.push_back("tx.descriptors is " + number(n) + "; ixgbe takes multiples of 8 from 32 to 4096");
        return out;  // what follows compares with it
    }
    if (rules.rs_thresh == 0 || rules.rs_thresh > fast_rs_thresh) {
        out.push_back("tx.rs_thresh is " + number(rules.rs_thresh) +
                      "; ixgbe takes 1 to 32, and only 32 gives the fast path");
        return out;
    }
    if (rules.rs_thresh > rules.free_thresh) {
        out.push_back("tx.rs_thresh " + number(rules.rs_thresh) + " is above tx.free_thresh " +
                      number(rules.free_thresh) + "; raise tx.free_thresh to " + number(rules.rs_thresh) +
                      " or more");
    }
    if (rules.free_thresh + 3 >= n) {
        out.push_back("tx.free_thresh " + number(rules.free_thresh) + " is too large for " + number(n) +
                      " descriptors; it must be below " + number(n - 3));
    }
    if (rules.rs_thresh + rules.free_thresh > n) {
        out.push_back("tx.rs_thresh " + number(rules.rs_thresh) + " + tx.free_thresh " +
                      number(rules.free_thresh) + " is more than tx.descriptors " + number(n) +
                      "; raise tx.descriptors");
    }
    if (n % rules.rs_thresh != 0) {
        out.push_back("tx.descriptors " + number(n) + " is no multiple of tx.rs_thresh " +
                      number(rules.rs_thresh));
    }
    return out;
}

TxPath predicted(const TxRules& rules) {
    if (rules.offload || rules.rs_thresh < fast_rs_thresh) return TxPath::full;
    return rules.simd ? TxPath::vector : TxPath::simple;
}

std::uint32_t packets_per_tail_write(TxPath path) {
    return path == TxPath::full ? 0 : fast_rs_thresh;
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
