#pragma once

#include "packet/model.h"

namespace volley::packet {

/// The packet of the opposite direction: every src and dst exchanged, and sender and target of arp, defaults
/// of IP addresses and ports included. MAC addresses that are not given stay the port's own and the default.
PacketModel reversed(PacketModel model);

}  // namespace volley::packet
