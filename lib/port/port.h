#pragma once

#include <rte_ethdev.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "config/model.h"
#include "port/ixgbe.h"
#include "port/link_watch.h"

namespace volley::port {

/// One reading of the port's counters, absolute since the port was started by the device's own account.
struct Statistics {
    std::uint64_t tx_packets = 0;
    std::uint64_t tx_bytes = 0;
    std::uint64_t tx_errors = 0;
    std::uint64_t rx_packets = 0;
    std::uint64_t rx_bytes = 0;
    std::uint64_t rx_missed = 0;
    std::uint64_t rx_errors = 0;
    std::uint64_t rx_no_mbuf = 0;
};

/// An Ethernet port of DPDK from probe to close: found by its device text, configured with one TX and one RX
/// queue a worker, started, stopped and closed in that order. Control owns it; the data path knows only its
/// PortId.
class Port {
  public:
    /// Probes the device ("0000:03:00.0", or a vdev such as "net_null0,copy=0"), which may already be there.
    /// Throws dpdk::Error with the next step.
    explicit Port(const config::Port& settings);
    ~Port();
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    /// Configures queues and starts the port. longest_frame: of all templates that it sends or is to receive,
    /// without FCS; longest_stream names its stream for the message when the device cannot carry it.
    /// longest_rx: the least that its receive buffers hold. Throws dpdk::Error.
    void start(std::uint32_t longest_frame, const std::string& longest_stream, std::uint32_t longest_rx = 0);
    /// Stops the port; the PMD gives back the mbufs that it holds. Safe when not started.
    void stop() noexcept;

    [[nodiscard]] PortId id() const noexcept { return id_; }
    [[nodiscard]] const std::string& name() const noexcept { return settings_.name; }
    [[nodiscard]] const config::Port& settings() const noexcept { return settings_; }
    [[nodiscard]] const std::string& driver() const noexcept { return driver_; }
    /// Which transmit function the driver uses, where that is known; "default" otherwise.
    [[nodiscard]] const std::string& tx_path() const noexcept { return tx_path_; }
    /// "0000:03:00.0", with its domain; of a port that is a PCI device.
    [[nodiscard]] std::string pci_address() const;
    [[nodiscard]] int socket() const noexcept { return socket_; }
    /// Packets that one tail write can carry in one tx_burst call; 0: the whole call is one.
    [[nodiscard]] std::uint32_t packets_per_tail_write() const noexcept { return packets_per_tail_write_; }
    /// Checksums that the device computes (RTE_ETH_TX_OFFLOAD_*): none unless tx.offload asks for those it
    /// can.
    [[nodiscard]] std::uint64_t tx_offloads() const noexcept { return tx_offloads_; }
    /// After start(): the pool whose buffers the device sends without copying them first; nullptr where any
    /// pool is as good. It outlives the port's being stopped, not the port.
    [[nodiscard]] rte_mempool* tx_pool(QueueId queue) const noexcept {
        return sends_from_rx_pools() ? rx_pools_[queue.value] : nullptr;
    }
    [[nodiscard]] std::uint64_t mac() const noexcept { return mac_; }
    /// After start(): bytes that an untagged frame carries.
    [[nodiscard]] std::uint32_t mtu() const noexcept;
    /// The device was set up to raise an interrupt when a packet comes to an RX queue, as far as one can say
    /// before asking for it. Only receivers of mode "adaptive" want that.
    [[nodiscard]] bool rx_interrupts() const noexcept { return rx_interrupts_; }

    /// Control alone: some drivers do more than read registers for it.
    [[nodiscard]] Link link() const;
    /// Control: asks the device to bring its link up; many have nothing to do for it.
    void ask_for_link() const noexcept;
    /// Control: holds a queue to so many Mb/s of frames with FCS (0: no more), which the device forgets when
    /// it is started and reckons from the link's speed: to be set again when that has come up. Throws
    /// dpdk::Error.
    void limit_queue(std::uint16_t queue, std::uint32_t mbps) const;
    /// The stats lcore alone, and who starts the port before it: the device's registers are read to clear,
    /// and stick at their top unless that is done often (an 82599's byte counters after 55 s at 10 Gb/s).
    void refresh_statistics();
    /// Any thread: what was read last.
    [[nodiscard]] Statistics statistics() const;
    /// As refresh_statistics(): non-zero extended statistics by name.
    [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> read_xstats() const;

  private:
    void probe();
    struct Queues {
        std::uint16_t tx = 0;
        std::uint16_t rx = 0;
    };
    [[nodiscard]] Queues queue_counts(const rte_eth_dev_info& info) const;
    void set_up_device(std::uint32_t longest_frame, const std::string& longest_stream,
                       std::uint32_t longest_rx);
    [[nodiscard]] std::uint16_t rx_room(std::uint32_t longest) const;
    void configure_queues(std::uint32_t longest_frame, std::uint32_t longest_rx);
    [[nodiscard]] bool sends_from_rx_pools() const noexcept;
    void set_up_tx_queues(std::uint16_t queues, std::uint16_t descriptors, const rte_eth_txconf& tx);
    void set_up_rx_queues(std::uint16_t queues, std::uint16_t descriptors, std::uint32_t longest);
    [[nodiscard]] rte_mempool* rx_pool(std::uint16_t queue, std::uint16_t queues, std::uint16_t descriptors,
                                       std::uint32_t longest);
    [[nodiscard]] rte_eth_txconf queue_settings(rte_eth_txconf defaults) const;
    [[nodiscard]] ixgbe::TxRules tx_rules() const;
    void confirm_tx_path(std::optional<ixgbe::TxPath> said);
    void set_flow_control();
    void map_queue_statistics() noexcept;
    void set_mtu(std::uint32_t longest_frame, const std::string& longest_stream);

    config::Port settings_;
    PortId id_{};
    std::string driver_;
    std::string tx_path_ = "default";
    std::string device_name_;
    int socket_ = 0;
    std::uint64_t mac_ = 0;
    std::uint32_t packets_per_tail_write_ = 0;
    std::uint64_t tx_offloads_ = 0;
    bool probed_here_ = false;  ///< not by the EAL at its start: this object takes it away again
    bool started_ = false;
    bool rx_interrupts_ = false;
    std::vector<rte_mempool*> rx_pools_;   ///< one for all queues, or one each
    mutable std::mutex statistics_mutex_;  ///< guards statistics_
    Statistics statistics_;
};

/// PCI addresses among the configured devices, as the EAL's -a wants them.
std::vector<std::string> pci_devices(const std::vector<config::Port>& ports);
/// True for "0000:03:00.0" and "03:00.0", with or without device arguments after a comma.
bool is_pci_address(const std::string& device);

}  // namespace volley::port
