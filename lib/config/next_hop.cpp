#include "config/next_hop.h"

#include <arpa/inet.h>

#include <algorithm>

#include "config/print.h"
#include "packet/defaults.h"

namespace volley::config {
namespace {

using packet::HeaderKind;
using packet::HeaderModel;
using packet::Value;

// The only value of a field; nothing where it varies.
std::optional<Value> constant_of(const HeaderModel& header, std::string_view name) {
    for (const auto& value : header.fields) {
        if (value.field->name != name) continue;
        return value.program.constant() ? std::optional(value.program.from) : std::nullopt;
    }
    return packet::default_of(header.kind, name);
}

Address address_of(Value value, std::uint8_t length) {
    Address out;
    out.length = length;
    out.prefix = static_cast<std::uint8_t>(length * 8);
    for (std::size_t i = length; i-- > 0; value >>= 8) out.bytes[i] = static_cast<std::uint8_t>(value);
    return out;
}

bool same_network(const Address& own, const Address& other) {
    if (own.length != other.length) return false;
    for (unsigned bit = 0; bit < own.prefix; ++bit) {
        if (((own.bytes[bit / 8] ^ other.bytes[bit / 8]) >> (7 - bit % 8) & 1) != 0) return false;
    }
    return true;
}

bool is_link_local(const Address& address) {
    return address.length == 16 && address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

bool is_group(const Address& address) {
    if (address.length == 16) return address.bytes[0] == 0xff;
    return address.bytes[0] >> 4 == 0xe ||
           std::all_of(address.bytes.begin(), address.bytes.begin() + 4, [](auto b) { return b == 0xff; });
}

// The tags must be those behind which the port's addresses live, or the answer is of another network.
bool right_tags(const Port& port, const packet::PacketModel& packet, std::size_t tags, std::string& why) {
    const auto id = tags == 1 ? constant_of(packet.headers[1], "id") : std::nullopt;
    if (!port.vlan && tags == 0) return true;
    if (port.vlan && id && *id == *port.vlan) return true;
    why = port.vlan
              ? "the port's addresses are in VLAN " + std::to_string(*port.vlan) +
                    ", so packets that are to be resolved carry that tag and no other"
              : "the port's addresses are untagged, so packets that are to be resolved are untagged; give "
                "the port its \"vlan\"";
    return false;
}

}  // namespace

std::string to_text(const Address& address) {
    std::array<char, INET6_ADDRSTRLEN> out{};
    inet_ntop(address.length == 4 ? AF_INET : AF_INET6, address.bytes.data(), out.data(), out.size());
    return out.data();
}

bool is_neighbour(const Port& port, const Address& address) {
    return std::any_of(port.addresses.begin(), port.addresses.end(), [&](const std::string& text) {
        const auto own = parse_address(text);
        return own && own->length == address.length &&
               (same_network(*own, address) || is_link_local(address));
    });
}

bool asks_for_next_hop(const packet::PacketModel& packet) {
    return !packet.headers.empty() && packet.headers.front().resolve;
}

void set_next_hop(packet::PacketModel& packet, std::uint64_t mac) {
    HeaderModel& eth = packet.headers.front();
    std::erase_if(eth.fields, [](const auto& value) { return value.field->name == "dst"; });
    packet::Program program;
    program.from = mac;
    eth.fields.push_back({packet::find_field(HeaderKind::eth, "dst"), program});
}

std::optional<Address> next_hop(const Port& port, const packet::PacketModel& packet, std::string& why) {
    std::size_t at = 1;
    while (at < packet.headers.size() && packet.headers[at].kind == HeaderKind::vlan) ++at;
    if (at == packet.headers.size() ||
        (packet.headers[at].kind != HeaderKind::ipv4 && packet.headers[at].kind != HeaderKind::ipv6)) {
        why = "\"resolve\" needs an IP header behind eth and vlan: its destination says whom to ask for";
        return std::nullopt;
    }
    if (!right_tags(port, packet, at - 1, why)) return std::nullopt;
    const HeaderModel& ip = packet.headers[at];
    const std::uint8_t length = ip.kind == HeaderKind::ipv4 ? 4 : 16;
    const std::string family = length == 4 ? "IPv4" : "IPv6";
    const auto value = constant_of(ip, "dst");
    if (value) {
        const Address destination = address_of(*value, length);
        if (is_group(destination)) {
            why = "the MAC address of a group follows from it; leave \"dst\" out instead of resolving it";
            return std::nullopt;
        }
        if (is_neighbour(port, destination)) return destination;
    }
    const auto gateway = port.gateway ? parse_address(*port.gateway) : std::nullopt;
    if (gateway && gateway->length == length) return gateway;
    why = (value ? to_text(address_of(*value, length)) + " lies in no network of the addresses of port "
                 : "the destinations vary, and not all need be in the network of port ") +
          quote(port.name) + "; give the port an " + family + " \"gateway\"" +
          (value ? ", or an address of that network" : "");
    return std::nullopt;
}

}  // namespace volley::config
