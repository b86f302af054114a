#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/address.h"
#include "config/model.h"

namespace volley::config {

/// What "eth.dst" says for it.
inline constexpr std::string_view resolve_word = "resolve";

/// A packet's destination MAC address is asked for on the link: `"eth": {"dst": "resolve"}`.
bool asks_for_next_hop(const packet::PacketModel& packet);

/// Whose MAC address packets of that kind need that leave by the port: their destination's where it is one
/// and lies in a network of the port's addresses, else the gateway's. Nothing, and why, when that cannot be
/// told.
std::optional<Address> next_hop(const Port& port, const packet::PacketModel& packet, std::string& why);

/// Writes the MAC address that was found out into the packet.
void set_next_hop(packet::PacketModel& packet, std::uint64_t mac);

/// Whether one of the port's addresses can ask for it: it lies in its network, or is link-local of its kind.
bool is_neighbour(const Port& port, const Address& address);

/// "10.0.0.254".
std::string to_text(const Address& address);

}  // namespace volley::config
