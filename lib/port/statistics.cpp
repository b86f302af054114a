// What a port's device counts, and the rate limiters of its queues.
#include <rte_ethdev.h>

#include <algorithm>
#include <cerrno>

#include "dpdk/error.h"
#include "port/port.h"

namespace volley::port {

void Port::limit_queue(std::uint16_t queue, std::uint32_t mbps) const {
    const int code = rte_eth_set_queue_rate_limit(id_.value, queue, static_cast<std::uint16_t>(mbps));
    if (code == 0) return;
    throw dpdk::Error("limiting queue " + std::to_string(queue) + " of port " + name() + " to " +
                          std::to_string(mbps) + " Mbit/s",
                      code,
                      code == -EINVAL
                          ? "the link is slower than that; ask for less, or use \"pacing\": \"software\""
                          : "this device has no such limiter; use \"pacing\": \"software\"");
}

// The driver counts all queues in the first counter unless told otherwise; the chip has 16.
void Port::map_queue_statistics() noexcept {
    constexpr std::size_t counters = 16;
    const std::size_t queues = settings_.tx ? settings_.tx->lcores.size() : 0;
    for (std::size_t q = 0; q < std::min(queues, counters); ++q) {
        const auto queue = static_cast<std::uint16_t>(q);
        rte_eth_dev_set_tx_queue_stats_mapping(id_.value, queue, static_cast<std::uint8_t>(q));
        rte_eth_dev_set_rx_queue_stats_mapping(id_.value, queue, static_cast<std::uint8_t>(q));
    }
}

void Port::refresh_statistics() {
    rte_eth_stats stats{};
    if (rte_eth_stats_get(id_.value, &stats) != 0) return;
    const std::lock_guard lock(statistics_mutex_);
    statistics_ = {stats.opackets, stats.obytes,  stats.oerrors, stats.ipackets,
                   stats.ibytes,   stats.imissed, stats.ierrors, stats.rx_nombuf};
}

Statistics Port::statistics() const {
    const std::lock_guard lock(statistics_mutex_);
    return statistics_;
}

std::vector<std::pair<std::string, std::uint64_t>> Port::read_xstats() const {
    const int n = rte_eth_xstats_get_names(id_.value, nullptr, 0);
    if (n <= 0) return {};
    std::vector<rte_eth_xstat_name> names(static_cast<std::size_t>(n));
    std::vector<rte_eth_xstat> values(static_cast<std::size_t>(n));
    const auto size = static_cast<unsigned>(n);
    if (rte_eth_xstats_get_names(id_.value, names.data(), size) != n ||
        rte_eth_xstats_get(id_.value, values.data(), size) != n) {
        return {};
    }
    std::vector<std::pair<std::string, std::uint64_t>> out;
    for (const rte_eth_xstat& value : values) {
        if (value.value != 0) out.emplace_back(names[value.id].name, value.value);
    }
    return out;
}

}  // namespace volley::port
