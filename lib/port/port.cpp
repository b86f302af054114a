#include "port/port.h"

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_version.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "dpdk/error.h"
#include "port/mbuf_pool.h"

namespace volley::port {
namespace {

constexpr std::string_view ixgbe_driver = "net_ixgbe";
constexpr std::string_view af_xdp_driver = "net_af_xdp";

std::string before_comma(const std::string& device) {
    return device.substr(0, device.find(','));
}

std::set<std::uint16_t> present_ports() {
    std::set<std::uint16_t> out;
    for (std::uint64_t id = rte_eth_find_next(0); id < RTE_MAX_ETHPORTS;
         id = rte_eth_find_next(static_cast<std::uint16_t>(id + 1))) {
        out.insert(static_cast<std::uint16_t>(id));
    }
    return out;
}

// The operator's next step when a device of that kind does not come up.
std::string probe_hint(const std::string& device) {
    if (is_pci_address(device)) return "bind the NIC to vfio-pci (dpdk-devbind.py --status shows it)";
    if (device.starts_with("net_af_packet")) {
        return "net_af_packet needs iface=NAME of an existing interface and CAP_NET_RAW";
    }
    if (device.starts_with("net_af_xdp"))
        return "net_af_xdp needs iface=NAME of an existing interface and root";
    if (device.starts_with("net_tap")) return "net_tap needs CAP_NET_ADMIN and /dev/net/tun";
    if (device.starts_with("net_pcap")) {
        return "net_pcap needs tx_pcap=FILE in a writable folder, or iface=NAME of an existing interface";
    }
    return "a device is a PCI address or a virtual one such as \"net_null0\", \"net_ring0\", "
           "\"net_pcap0,tx_pcap=out.pcap\" or \"net_af_packet0,iface=eth1\"";
}

std::string queue_hint(const std::string& driver) {
    if (driver == "net_af_packet")
        return "add qpairs=N to the device's arguments, or take lcores from tx.lcores";
    if (driver == "net_ring") return "a net_ring has as many queues as lcores; take lcores from tx.lcores";
    if (driver == "net_pcap")
        return "repeat tx_pcap=FILE once a queue in the device's arguments, or use one tx lcore";
    if (driver == "net_virtio_user")
        return "add queues=N to the device's arguments, or take lcores from tx.lcores";
    if (driver == "net_vmxnet3") return "vmxnet3 takes 1, 2, 4 or 8 lcores in tx.lcores";
    if (driver == af_xdp_driver)
        return "add queue_count=N to the device's arguments, or take lcores from tx.lcores";
    return "take lcores from tx.lcores";
}

}  // namespace

bool is_pci_address(const std::string& device) {
    static const std::regex address("([0-9a-fA-F]{1,8}:)?[0-9a-fA-F]{1,2}:[0-9a-fA-F]{1,2}\\.[0-7](,.*)?");
    return std::regex_match(device, address);
}

std::vector<std::string> pci_devices(const std::vector<config::Port>& ports) {
    std::vector<std::string> out;
    for (const config::Port& port : ports) {
        if (is_pci_address(port.device)) out.push_back(port.device);
    }
    return out;
}

Port::Port(const config::Port& settings) : settings_(settings) {
    probe();
    rte_eth_dev_info info{};
    int code = rte_eth_dev_info_get(id_.value, &info);
    if (code != 0) throw dpdk::Error("reading what port " + name() + " can do", code);
    driver_ = info.driver_name != nullptr ? info.driver_name : "unknown";
    socket_ = std::max(rte_eth_dev_socket_id(id_.value), 0);  // SOCKET_ID_ANY: any node is as good
    rte_ether_addr address{};
    if (rte_eth_macaddr_get(id_.value, &address) == 0) {
        for (const std::uint8_t byte : address.addr_bytes) mac_ = (mac_ << 8) | byte;
    }
    if (settings_.mac) {
        mac_ = static_cast<std::uint64_t>(*settings_.mac);
        for (std::size_t i = 0; i < 6; ++i)
            address.addr_bytes[i] = static_cast<std::uint8_t>(mac_ >> (40 - 8 * i));
        code = rte_eth_dev_default_mac_addr_set(id_.value, &address);
        if (code != 0 && code != -ENOTSUP) {
            throw dpdk::Error("setting the MAC address of port " + name(), code,
                              "remove \"mac\" from the port");
        }
    }
}

Port::~Port() {
    stop();
    rte_eth_dev_info info{};
    if (probed_here_ && rte_eth_dev_info_get(id_.value, &info) == 0) {
        rte_dev_remove(
            info.device);  // closes the ethdev and takes the virtual device away, so it can come again
    } else {
        rte_eth_dev_close(id_.value);
    }
    for (rte_mempool* const pool : rx_pools_) rte_mempool_free(pool);
}

// A device may be there already (PCI, named to the EAL) or come with this probe; a plugin's vdev may bring an
// ethdev of another name, so the port is what was not there before.
void Port::probe() {
    device_name_ = before_comma(settings_.device);
    std::uint16_t id = 0;
    if (rte_eth_dev_get_port_by_name(device_name_.c_str(), &id) != 0) {
        const std::set<std::uint16_t> before = present_ports();
        const int code = rte_dev_probe(settings_.device.c_str());
        std::vector<std::uint16_t> fresh;
        for (const std::uint16_t candidate : present_ports()) {
            if (!before.contains(candidate)) fresh.push_back(candidate);
        }
        if (code != 0 || fresh.empty()) {
            // Drivers say -1 for whatever went wrong, which is no lack of permission for root.
            const bool unspecific = code == 0 || (code == -1 && geteuid() == 0);
            throw dpdk::Error("probing device \"" + settings_.device + "\" of port " + name(),
                              unspecific ? ENODEV : code, probe_hint(settings_.device));
        }
        id = fresh.front();
        probed_here_ = true;
    }
    id_ = PortId{id};
}

// Thresholds are the ring's own where the operator left ours alone, for every driver has its rules; ixgbe's
// are known.
rte_eth_txconf Port::queue_settings(rte_eth_txconf defaults) const {
    defaults.offloads = tx_offloads_;
    if (!settings_.tx) return defaults;
    const config::TxQueues ours;
    const bool ixgbe_rules = driver_ == ixgbe_driver;
    if (ixgbe_rules || settings_.tx->rs_thresh != ours.rs_thresh) {
        defaults.tx_rs_thresh = static_cast<std::uint16_t>(settings_.tx->rs_thresh);
    }
    if (ixgbe_rules || settings_.tx->free_thresh != ours.free_thresh) {
        defaults.tx_free_thresh = static_cast<std::uint16_t>(settings_.tx->free_thresh);
    }
    if (ixgbe_rules) {
        const auto found = ixgbe::problems(tx_rules());
        std::string text;
        for (const auto& problem : found) text += (text.empty() ? "" : "; ") + problem.text;
        if (!found.empty()) throw dpdk::Error("port " + name() + " (ixgbe)", EINVAL, text);
    }
    return defaults;
}

ixgbe::TxRules Port::tx_rules() const {
    return {settings_.tx->descriptors, settings_.tx->rs_thresh, settings_.tx->free_thresh, tx_offloads_ != 0,
            ixgbe::vectors_allowed()};
}

// The rules say which transmit function the driver takes, the driver says which it took; were they to differ,
// the count of tail writes would be wrong.
void Port::confirm_tx_path(std::optional<ixgbe::TxPath> said) {
    const ixgbe::TxPath rules = ixgbe::predicted(tx_rules());
    tx_path_ = name_of(rules);
    packets_per_tail_write_ = ixgbe::packets_per_tail_write(rules);
    if (said && *said == rules) {
        if (rules != ixgbe::TxPath::full || !settings_.tx->require_fast_path) return;
        throw dpdk::Error("port " + name() + " requires a fast transmit path", EINVAL,
                          ixgbe::why_full(tx_rules()));
    }
    throw dpdk::Error(
        "port " + name() + ": by its rules the ixgbe driver takes its " + tx_path_ +
            " transmit path, but it said " + (said ? std::string(name_of(*said)) : "nothing"),
        EPROTO, "this DPDK (" + std::string(rte_version()) + ") is not the one that Volley knows: 22.11");
}

void Port::set_flow_control() {
    static const std::map<std::string, rte_eth_fc_mode> modes{{"none", RTE_ETH_FC_NONE},
                                                              {"rx", RTE_ETH_FC_RX_PAUSE},
                                                              {"tx", RTE_ETH_FC_TX_PAUSE},
                                                              {"full", RTE_ETH_FC_FULL}};
    rte_eth_fc_conf conf{};
    int code = rte_eth_dev_flow_ctrl_get(id_.value, &conf);
    if (code == 0) {
        conf.mode = modes.at(settings_.flow_control);
        code = rte_eth_dev_flow_ctrl_set(id_.value, &conf);
    }
    if (code != 0 && settings_.flow_control != "none") {
        throw dpdk::Error("setting flow_control \"" + settings_.flow_control + "\" on port " + name(), code,
                          "this device has none; remove \"flow_control\" from the port");
    }
}

// net_tap and net_af_xdp refuse unequal queue counts, vmxnet3 a port without an RX or without a TX queue.
Port::Queues Port::queue_counts(const rte_eth_dev_info& info) const {
    const auto count = [](const auto& queues) {
        return static_cast<std::uint16_t>(queues ? queues->lcores.size() : 0);
    };
    Queues out{count(settings_.tx), count(settings_.rx)};
    if (driver_ == "net_tap" || driver_ == af_xdp_driver) {
        if (out.rx != 0 && out.tx != 0 && out.rx != out.tx) {
            throw dpdk::Error("port " + name() + ": " + driver_ +
                                  " has as many RX as TX queues, but tx.lcores has " +
                                  std::to_string(out.tx) + " and rx.lcores " + std::to_string(out.rx),
                              EINVAL, "give both the same number of lcores");
        }
        out.tx = out.rx = std::max(out.tx, out.rx);
    }
    if (driver_ == "net_vmxnet3")
        out = {std::max<std::uint16_t>(out.tx, 1), std::max<std::uint16_t>(out.rx, 1)};
    const auto check = [&](std::uint16_t wanted, std::uint16_t most, const char* lcores, const char* queues) {
        if (wanted <= most) return;
        throw dpdk::Error("port " + name() + ": " + std::to_string(wanted) + " " + lcores + " lcores, but " +
                              driver_ + " has " + std::to_string(most) + " " + queues + " queues",
                          EINVAL, queue_hint(driver_));
    };
    check(out.tx, info.max_tx_queues, "tx", "TX");
    check(out.rx, info.max_rx_queues, "rx", "RX");
    return out;
}

void Port::configure_queues(std::uint32_t longest_frame, std::uint32_t longest_rx) {
    rte_eth_dev_info info{};
    int code = rte_eth_dev_info_get(id_.value, &info);
    if (code != 0) throw dpdk::Error("reading what port " + name() + " can do", code);
    const Queues queues = queue_counts(info);
    rte_eth_conf conf{};
    constexpr std::uint64_t checksums =
        RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
    if (settings_.tx && settings_.tx->offload) tx_offloads_ = info.tx_offload_capa & checksums;
    conf.txmode.offloads = tx_offloads_;
    if (queues.rx > 1 && info.flow_type_rss_offloads != 0) {
        conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
        conf.rx_adv_conf.rss_conf.rss_hf =
            info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
    }
    conf.intr_conf.rxq = rx_interrupts_ ? 1 : 0;
    code = rte_eth_dev_configure(id_.value, queues.rx, queues.tx, &conf);
    if (code != 0 && rx_interrupts_) {
        rx_interrupts_ = false;
        conf.intr_conf.rxq = 0;
        code = rte_eth_dev_configure(id_.value, queues.rx, queues.tx, &conf);
    }
    if (code != 0) throw dpdk::Error("configuring port " + name(), code, queue_hint(driver_));
    auto rx_descriptors = static_cast<std::uint16_t>(settings_.rx ? settings_.rx->descriptors : 64);
    auto tx_descriptors = static_cast<std::uint16_t>(settings_.tx ? settings_.tx->descriptors : 64);
    code = rte_eth_dev_adjust_nb_rx_tx_desc(id_.value, &rx_descriptors, &tx_descriptors);
    if (code != 0)
        throw dpdk::Error("sizing the rings of port " + name(), code,
                          "change tx.descriptors or rx.descriptors");
    set_up_tx_queues(queues.tx, tx_descriptors, queue_settings(info.default_txconf));
    // A buffer that is sent from has room for the longest frame that a later reload may send, too.
    const std::uint32_t max_frame = settings_.tx ? settings_.tx->max_frame.value_or(0) : 0;
    set_up_rx_queues(queues.rx, rx_descriptors,
                     sends_from_rx_pools() ? std::max({longest_rx, longest_frame, max_frame}) : longest_rx);
}

void Port::set_up_tx_queues(std::uint16_t queues, std::uint16_t descriptors, const rte_eth_txconf& tx) {
    std::optional<ixgbe::TxPathListener> listener;
    if (driver_ == ixgbe_driver) listener.emplace();
    for (std::uint16_t q = 0; q < queues; ++q) {
        const int code =
            rte_eth_tx_queue_setup(id_.value, q, descriptors, static_cast<unsigned>(socket_), &tx);
        if (code != 0) {
            throw dpdk::Error("setting up TX queue " + std::to_string(q) + " of port " + name(), code,
                              queue_hint(driver_));
        }
    }
    if (listener && queues != 0) confirm_tx_path(listener->heard());
}

namespace {

// Bytes of an af_packet device's slots: its argument framesz=N, else the driver's default.
std::uint32_t frame_slot(const std::string& device) {
    static const std::regex argument(",framesz=([0-9]{1,9})(,|$)");
    std::smatch found;
    return std::regex_search(device, found, argument) ? static_cast<std::uint32_t>(std::stoul(found[1]))
                                                      : 2048;
}

}  // namespace

// Data room of a receive buffer that holds any frame whole, so that receivers see no chains. ixgbe uses as
// many whole KiB of it as there are (SRRCTL.BSIZEPACKET) and takes its slower function for chains unless they
// hold the longest frame with CRC and two tags; af_packet refuses buffers smaller than its slots.
std::uint16_t Port::rx_room(std::uint32_t longest) const {
    constexpr std::uint32_t above_frame = 12;
    constexpr std::uint32_t above_mtu = 14 + above_frame;
    const bool ixgbe = driver_ == ixgbe_driver;
    std::uint32_t frame = std::max<std::uint32_t>(
        {longest + (ixgbe ? above_frame : 0), settings_.mtu.value_or(0) + above_mtu, 2048});
    if (driver_ == "net_af_packet") frame = std::max(frame, frame_slot(settings_.device));
    const std::uint32_t step = ixgbe ? 1024 : 128;
    const std::uint32_t room = RTE_PKTMBUF_HEADROOM + (frame + step - 1) / step * step;
    if (room <= UINT16_MAX) return static_cast<std::uint16_t>(room);
    throw dpdk::Error(
        "port " + name() + ": no packet buffer holds slots of " + std::to_string(frame) + " bytes", EINVAL,
        "lower framesz in the device's arguments to 32768");
}

// af_xdp registers a queue's RX pool with the kernel and copies what is sent from any other. Nothing is ever
// taken from the RX queues of a port that only sends, so what a buffer of its pool holds stays as it was
// sent.
bool Port::sends_from_rx_pools() const noexcept {
    return driver_ == af_xdp_driver && settings_.tx && !settings_.rx;
}

// Full rings, bursts in hand, and what each lcore's cache may hold.
rte_mempool* Port::rx_pool(std::uint16_t queue, std::uint16_t queues, std::uint16_t descriptors,
                           std::uint32_t longest) {
    const std::size_t at = sends_from_rx_pools() ? queue : 0;
    if (at < rx_pools_.size()) return rx_pools_[at];
    const unsigned cache = sends_from_rx_pools() ? RTE_MEMPOOL_CACHE_MAX_SIZE : settings_.rx ? 256U : 0U;
    // af_xdp fills a ring of 2048 from it.
    const unsigned least = driver_ == af_xdp_driver ? 8191 : 2047;
    const unsigned count = std::max(queues * (descriptors + 512U + cache * 2U) + 511U, least);
    const std::uint16_t room = rx_room(longest);
    const std::string name = "rx_" + std::to_string(id_.value) + "_" + std::to_string(at);
    rte_mempool* const pool = make_mbuf_pool(name, count, cache, room, socket_);
    if (pool == nullptr) {
        throw dpdk::Error("creating mempool " + name + " of " + std::to_string(count) + " buffers of " +
                              std::to_string(room) + " bytes",
                          rte_errno, "raise eal.memory_mib, or lower rx.descriptors");
    }
    return rx_pools_.emplace_back(pool);
}

void Port::set_up_rx_queues(std::uint16_t queues, std::uint16_t descriptors, std::uint32_t longest) {
    for (std::uint16_t q = 0; q < queues; ++q) {
        const int code = rte_eth_rx_queue_setup(id_.value, q, descriptors, static_cast<unsigned>(socket_),
                                                nullptr, rx_pool(q, queues, descriptors, longest));
        if (code != 0) {
            throw dpdk::Error("setting up RX queue " + std::to_string(q) + " of port " + name(), code,
                              queue_hint(driver_));
        }
    }
}

// An MTU counts the payload of an untagged frame; the device's own overhead says how much more a frame may
// have.
void Port::set_mtu(std::uint32_t longest_frame, const std::string& longest_stream) {
    rte_eth_dev_info info{};
    if (rte_eth_dev_info_get(id_.value, &info) != 0) return;
    const std::uint32_t with_fcs = longest_frame + fcs_bytes;
    const std::uint32_t limit = info.max_rx_pktlen;  // 0 and very large values: the device does not say
    if (limit >= 64 && limit < 65536 && with_fcs > limit && longest_frame > limit) {
        throw dpdk::Error("stream " + longest_stream + " sends frames of " + std::to_string(with_fcs) +
                              " bytes, but port " + name() + " (" + driver_ + ") takes at most " +
                              std::to_string(limit),
                          EMSGSIZE, "lower its frame_size");
    }
    std::uint32_t mtu = settings_.mtu.value_or(0);
    if (mtu == 0 && with_fcs > 1518) mtu = longest_frame - 14;
    if (mtu == 0) return;
    if (info.max_mtu != 0 && mtu > info.max_mtu) {
        const std::string who = settings_.mtu
                                    ? "the configured mtu " + std::to_string(mtu)
                                    : "stream " + longest_stream + " needs an MTU of " + std::to_string(mtu);
        throw dpdk::Error(who + ", but port " + name() + " (" + driver_ + ") takes " +
                              std::to_string(info.min_mtu) + " to " + std::to_string(info.max_mtu),
                          EMSGSIZE, "lower it or the stream's frame_size");
    }
    const int code = rte_eth_dev_set_mtu(id_.value, static_cast<std::uint16_t>(mtu));
    if (code != 0 && code != -ENOTSUP) {
        // Whatever its slots hold: the driver names 1518 bytes as its longest frame.
        throw dpdk::Error(
            "setting MTU " + std::to_string(mtu) + " on port " + name(), code,
            driver_ == "net_af_packet"
                ? "net_af_packet carries frames of 1518 bytes at most, whatever framesz says; use "
                  "net_tap or a NIC for longer ones"
                : "raise the interface's own MTU first, or lower the frame size");
    }
}

// Virtual devices that have no MTU to be set carry what they are told to.
std::uint32_t Port::mtu() const noexcept {
    std::uint16_t set = 0;
    rte_eth_dev_get_mtu(id_.value, &set);
    return std::max<std::uint32_t>(set, settings_.mtu.value_or(0));
}

void Port::set_up_device(std::uint32_t longest_frame, const std::string& longest_stream,
                         std::uint32_t longest_rx) {
    configure_queues(longest_frame, longest_rx);
    map_queue_statistics();
    set_mtu(longest_frame, longest_stream);
}

// No driver says beforehand whether it can raise interrupts for its RX queues: some ignore the wish, some
// refuse to be configured or started with it.
void Port::start(std::uint32_t longest_frame, const std::string& longest_stream, std::uint32_t longest_rx) {
    rx_interrupts_ = settings_.rx && settings_.rx->mode == "adaptive";
    set_up_device(longest_frame, longest_stream, longest_rx);
    int code = rte_eth_dev_start(id_.value);
    if (code != 0 && rx_interrupts_) {
        rx_interrupts_ = false;
        set_up_device(longest_frame, longest_stream, longest_rx);
        code = rte_eth_dev_start(id_.value);
    }
    if (code != 0) throw dpdk::Error("starting port " + name(), code, probe_hint(settings_.device));
    started_ = true;
    if (settings_.promiscuous) rte_eth_promiscuous_enable(id_.value);  // not every virtual device has it
    set_flow_control();
}

void Port::stop() noexcept {
    if (!started_) return;
    started_ = false;
    rte_eth_dev_stop(id_.value);
}

std::string Port::pci_address() const {
    return std::count(device_name_.begin(), device_name_.end(), ':') == 1 ? "0000:" + device_name_
                                                                          : device_name_;
}

Link Port::link() const {
    rte_eth_link link{};
    if (rte_eth_link_get_nowait(id_.value, &link) != 0) return {};
    Link out;
    out.up = link.link_status == RTE_ETH_LINK_UP;
    if (out.up && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN && link.link_speed != RTE_ETH_SPEED_NUM_NONE) {
        out.speed_bps = static_cast<std::uint64_t>(link.link_speed) * 1'000'000;
    }
    return out;
}

void Port::ask_for_link() const noexcept {
    rte_eth_dev_set_link_up(id_.value);
}

}  // namespace volley::port
