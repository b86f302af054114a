#include <algorithm>
#include <array>
#include <cctype>

#include "config/address.h"
#include "config/lcores.h"
#include "config/literal.h"
#include "config/print.h"
#include "config/tables.h"

namespace volley::config {
namespace {

constexpr Duration one_second{1'000'000'000};
constexpr std::array<std::string_view, 2> idle_choices{"poll", "adaptive"};
constexpr std::array<std::string_view, 4> flow_control_choices{"none", "rx", "tx", "full"};

// "0000:03:00.0" or "03:00.0", domain:bus:device.function.
bool pci_address(std::string_view text) {
    const auto hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
    std::string shape;
    for (const char c : text) {
        if (!hex(c)) {
            shape.push_back(c);
        } else if (shape.empty() || shape.back() != 'x') {
            shape.push_back('x');
        }
    }
    return (shape == "x:x:x.x" || shape == "x:x.x") && text.size() >= 7 && text.size() <= 12;
}

void decode_device(Decoder& decoder, const At& at, Port& out) {
    std::optional<std::string> device;
    decoder.text(at, "a PCI address or a virtual device such as \"net_null0\"", device);
    if (!device) return;
    const std::string_view head = std::string_view(*device).substr(0, device->find(','));
    const bool pci = pci_address(head);
    const bool word = std::all_of(head.begin(), head.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
    });
    if (pci || (word && std::isalpha(static_cast<unsigned char>(head.empty() ? '0' : head[0])) != 0)) {
        out.device = *device;
    } else {
        decoder.wrong(at,
                      quote(head) +
                          " is neither a PCI address such as \"0000:03:00.0\" nor a virtual device such as "
                          "\"net_null0\" or \"net_af_packet0,iface=eth1\"");
    }
}

void decode_mac(Decoder& decoder, const At& at, Port& out) {
    std::string why;
    const auto mac = parse_literal(packet::FieldType::mac, at.node, why);
    if (!mac) {
        decoder.wrong(at, why);
    } else if (((*mac >> 40U) & 1U) != 0 || *mac == 0) {
        decoder.wrong(at, "a port's own address is neither zero nor multicast: its first byte is even");
    } else {
        out.mac = *mac;
    }
}

void decode_tx(Decoder& decoder, const At& at, Port& out) {
    out.tx.emplace();
    decode_object(decoder, at, tx_table(), *out.tx);
}

void decode_addresses(Decoder& decoder, const At& at, Port& out) {
    const auto* array = at.node.array();
    if (array == nullptr) {
        decoder.mismatch(at, "an array of addresses such as [\"10.0.0.1/24\"]");
        return;
    }
    for (std::size_t i = 0; i < array->size(); ++i) {
        const At item{(*array)[i], child_pointer(at.pointer, i)};
        const auto* text = item.node.text();
        if (text == nullptr || text->find('/') == std::string::npos || !parse_address(*text)) {
            decoder.mismatch(item,
                             "an address with its network's prefix, such as \"10.0.0.1/24\" or "
                             "\"2001:db8::1/64\",");
        } else {
            out.addresses.push_back(*text);
        }
    }
}

void decode_gateway(Decoder& decoder, const At& at, Port& out) {
    const auto* text = at.node.text();
    if (text == nullptr || text->find('/') != std::string::npos || !parse_address(*text)) {
        decoder.mismatch(at, "an address such as \"10.0.0.254\" or \"fe80::1\"");
    } else {
        out.gateway = *text;
    }
}

constexpr std::array<std::string_view, 2> rx_modes{"poll", "adaptive"};

void decode_rx(Decoder& decoder, const At& at, Port& out) {
    out.rx.emplace();
    decode_object(decoder, at, rx_table(), *out.rx);
}

const std::array<Row<RxQueues>, 3> rx_rows{{
    {{"lcores", "array of lcores", "required", "", Effect::restart,
      "the port's receivers: queue i is read by the i-th lcore; one that sends too serves both in turn"},
     [](Decoder& d, const At& at, RxQueues& r) { d.integers(at, 0, most_lcores - 1, r.lcores); },
     [](const RxQueues& r) { return to_node(r.lcores); }},
    {{"descriptors", "integer 1..65535", "1024", "", Effect::restart,
      "size of each RX ring; the device has its own bounds and steps, ixgbe 32 to 4096 by 8"},
     [](Decoder& d, const At& at, RxQueues& r) { d.integer(at, 1, 65'535, r.descriptors); },
     [](const RxQueues& r) { return to_node(r.descriptors); }},
    {{"mode", "\"poll\" or \"adaptive\"", "\"poll\"", "", Effect::restart,
      "adaptive: an lcore that only receives sleeps when it has found nothing for a while"},
     [](Decoder& d, const At& at, RxQueues& r) { d.choice(at, rx_modes, r.mode); },
     [](const RxQueues& r) { return to_node(r.mode); }},
}};

const std::array<Row<TxQueues>, 10> tx_rows{{
    {{"lcores", "array of lcores", "required", "", Effect::restart,
      "the port's workers: queue i is driven by the i-th lcore"},
     [](Decoder& d, const At& at, TxQueues& t) { d.integers(at, 0, most_lcores - 1, t.lcores); },
     [](const TxQueues& t) { return to_node(t.lcores); }},
    {{"descriptors", "integer 1..65535", "1024", "", Effect::restart,
      "size of each TX ring; the device has its own bounds and steps, ixgbe 64 to 4096 by 8"},
     [](Decoder& d, const At& at, TxQueues& t) { d.integer(at, 1, 65'535, t.descriptors); },
     [](const TxQueues& t) { return to_node(t.descriptors); }},
    {{"rs_thresh", "integer 0..65535", "32", "descriptors", Effect::restart,
      "descriptors between two write-backs that are asked for (tx_rs_thresh)"},
     [](Decoder& d, const At& at, TxQueues& t) { d.integer(at, 0, 65'535, t.rs_thresh); },
     [](const TxQueues& t) { return to_node(t.rs_thresh); }},
    {{"free_thresh", "integer 0..65535", "32", "descriptors", Effect::restart,
      "free descriptors below which sent packets are freed (tx_free_thresh)"},
     [](Decoder& d, const At& at, TxQueues& t) { d.integer(at, 0, 65'535, t.free_thresh); },
     [](const TxQueues& t) { return to_node(t.free_thresh); }},
    {{"flush_threshold", "integer 1..256", "32", "packets", Effect::restart,
      "packets gathered for one tail write; 1 submits each burst on its own"},
     [](Decoder& d, const At& at, TxQueues& t) { d.integer(at, 1, 256, t.flush_threshold); },
     [](const TxQueues& t) { return to_node(t.flush_threshold); }},
    {{"flush_timeout", "duration", "\"0s\"", "", Effect::restart,
      "the longest that a due packet waits for others to share its tail write; at most 1s"},
     [](Decoder& d, const At& at, TxQueues& t) { d.duration(at, Duration{0}, one_second, t.flush_timeout); },
     [](const TxQueues& t) { return to_node(t.flush_timeout); }},
    {{"max_frame", "integer 64..9728", "null", "bytes with FCS", Effect::restart,
      "largest frame that a reload may bring; null: the largest of the streams at start"},
     [](Decoder& d, const At& at, TxQueues& t) { d.integer(at, 64, largest_frame, t.max_frame); },
     [](const TxQueues& t) { return to_node(t.max_frame); }},
    {{"require_fast_path", "boolean", "false", "", Effect::restart,
      "refuse to start where ixgbe would take its full transmit path; other drivers have no such choice"},
     [](Decoder& d, const At& at, TxQueues& t) { d.read(at, t.require_fast_path); },
     [](const TxQueues& t) { return to_node(t.require_fast_path); }},
    {{"offload", "boolean", "false", "", Effect::restart,
      "let the device compute IPv4, UDP and TCP checksums where it can, for comparison: the bytes are the "
      "same, and ixgbe takes its full path"},
     [](Decoder& d, const At& at, TxQueues& t) { d.read(at, t.offload); },
     [](const TxQueues& t) { return to_node(t.offload); }},
    {{"idle", "\"poll\" or \"adaptive\"", "\"poll\"", "", Effect::restart,
      "adaptive: workers, and the dispatcher where all ports say so, sleep until something falls due; a live "
      "change then acts up to 1 ms later"},
     [](Decoder& d, const At& at, TxQueues& t) { d.choice(at, idle_choices, t.idle); },
     [](const TxQueues& t) { return to_node(t.idle); }},
}};

const std::array<Row<Port>, 14> port_rows{{
    {{"name", "name", "required", "", Effect::restart, "how streams, telemetry and commands call the port"},
     [](Decoder& d, const At& at, Port& p) { d.name(at, p.name); },
     [](const Port& p) { return to_node(p.name); }},
    {{"device", "text", "required", "", Effect::restart,
      "PCI address, or virtual device with its arguments such as \"net_af_packet0,iface=eth1\""},
     decode_device,
     [](const Port& p) { return to_node(p.device); }},
    {{"speed", "speed", "null", "", Effect::restart,
      "link speed that is demanded at start, such as \"10Gbps\""},
     [](Decoder& d, const At& at, Port& p) { d.speed(at, p.speed_bps); },
     [](const Port& p) { return p.speed_bps ? to_node(speed_text(*p.speed_bps)) : Node{}; }},
    {{"mtu", "integer 68..9710", "null", "bytes", Effect::restart,
      "largest payload of a frame; null: enough for the longest frame of the streams"},
     [](Decoder& d, const At& at, Port& p) { d.integer(at, 68, largest_frame - 18, p.mtu); },
     [](const Port& p) { return to_node(p.mtu); }},
    {{"mac", "MAC address", "null", "", Effect::restart, "the port's own address; null: the device's"},
     decode_mac,
     [](const Port& p) { return p.mac ? literal_node(packet::FieldType::mac, *p.mac) : Node{}; }},
    {{"promiscuous", "boolean", "true", "", Effect::restart, "receive frames for every address"},
     [](Decoder& d, const At& at, Port& p) { d.read(at, p.promiscuous); },
     [](const Port& p) { return to_node(p.promiscuous); }},
    {{"flow_control", "\"none\", \"rx\", \"tx\" or \"full\"", "\"none\"", "", Effect::restart,
      "Ethernet pause frames: obeyed (rx), sent (tx), both or neither"},
     [](Decoder& d, const At& at, Port& p) { d.choice(at, flow_control_choices, p.flow_control); },
     [](const Port& p) { return to_node(p.flow_control); }},
    {{"rate", "rate", "null", "", Effect::live,
      "total of the port's streams without a rate of their own, by weight"},
     [](Decoder& d, const At& at, Port& p) { d.rate(at, p.rate); },
     [](const Port& p) { return to_node(p.rate); }},
    {{"oversubscribe", "boolean", "false", "", Effect::live, "allow a sum of rates above `speed`"},
     [](Decoder& d, const At& at, Port& p) { d.read(at, p.oversubscribe); },
     [](const Port& p) { return to_node(p.oversubscribe); }},
    {{"addresses", "array of addresses", "[]", "", Effect::restart,
      "the port's own, such as \"10.0.0.1/24\": it answers ARP, neighbour solicitations and echo requests "
      "for them"},
     decode_addresses,
     [](const Port& p) { return to_node(p.addresses); }},
    {{"gateway", "address", "null", "", Effect::restart,
      "next hop, in a network of `addresses`, for packets whose eth.dst is \"resolve\" and whose destination "
      "is in none of these or varies"},
     decode_gateway,
     [](const Port& p) { return to_node(p.gateway); }},
    {{"vlan", "integer 1..4094", "null", "", Effect::restart,
      "tag that the port's own addresses live behind"},
     [](Decoder& d, const At& at, Port& p) {
         if (const auto id = d.integer(at, 1, 4'094)) p.vlan = static_cast<std::uint16_t>(*id);
     },
     [](const Port& p) { return p.vlan ? to_node(std::uint32_t{*p.vlan}) : Node{}; }},
    {{"tx", "object", "null", "", Effect::restart, "the port's transmit queues; null: it sends nothing"},
     decode_tx,
     [](const Port& p) { return p.tx ? encode_object(tx_table(), *p.tx) : Node{}; }},
    {{"rx", "object", "null", "", Effect::restart,
      "the port's receive queues; null: it receives nothing. A port without tx is a monitor"},
     decode_rx,
     [](const Port& p) { return p.rx ? encode_object(rx_table(), *p.rx) : Node{}; }},
}};

}  // namespace

const Table<TxQueues>& tx_table() {
    static const Table<TxQueues> table{"ports[].tx", tx_rows};
    return table;
}

const Table<RxQueues>& rx_table() {
    static const Table<RxQueues> table{"ports[].rx", rx_rows};
    return table;
}

const Table<Port>& port_table() {
    static const Table<Port> table{"ports[]", port_rows};
    return table;
}

void decode_ports(Decoder& decoder, const At& at, Model& out) {
    const auto* array = at.node.array();
    if (array == nullptr || array->empty()) {
        decoder.mismatch(at, "an array of at least one port");
        return;
    }
    for (std::size_t i = 0; i < array->size(); ++i) {
        Port& port = out.ports.emplace_back();
        port.pointer = child_pointer(at.pointer, i);
        decode_object(decoder, {(*array)[i], port.pointer}, port_table(), port);
    }
}

Node encode_ports(const Model& model) {
    Node::Array items;
    for (const Port& port : model.ports) items.push_back(encode_object(port_table(), port));
    return {std::move(items), {}};
}

}  // namespace volley::config
