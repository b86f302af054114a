#pragma once

#include "config/decoder.h"
#include "packet/model.h"

namespace volley::config {

/// Names inside a packet: variables that fields follow, and fields that programs nest in. Only for a packet
/// that decoded without problems.
void check_references(Decoder& decoder, const At& at, const packet::PacketModel& packet);

}  // namespace volley::config
