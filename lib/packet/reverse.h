#pragma once

#include <string_view>

#include "packet/model.h"

namespace volley::packet {

/// The packet of the opposite direction: every src and dst exchanged, and sender and target of arp, defaults
/// of IP addresses, ports and inner MAC addresses included, also where a mask leaves bits of them. What is
/// drawn is drawn as on the way there, packet by packet. MAC addresses that are not given in the first header
/// stay the port's own and the default.
PacketModel reversed(PacketModel model);

/// Gives the field `filled` in the bits that nothing in the header gives: all, or what masks leave.
void give_rest(HeaderModel& header, std::string_view name, Value filled);

}  // namespace volley::packet
