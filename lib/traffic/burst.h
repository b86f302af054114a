#pragma once

#include <cstdint>

#include "base/tsc.h"
#include "packet/template.h"

namespace volley::traffic {

/// What the hand-off ring carries, by value: packets first_index .. first_index+count-1 of one stream.
struct TemplateBurst {
    const packet::PacketTemplate* packet;  ///< owned by the Plan; outlives every burst emitted from it
    std::uint64_t first_index;
    Tsc due;               ///< not to be submitted before this tick
    std::uint32_t count;   ///< 1 to packet::max_burst
    std::uint32_t stream;  ///< StreamSlot: the row of the stream table that counts it
};
static_assert(sizeof(TemplateBurst) == 32, "two ring elements fill a cache line");

}  // namespace volley::traffic
