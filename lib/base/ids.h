#pragma once

#include <compare>
#include <cstdint>

namespace volley {

/// An identity that cannot be swapped for another: PortId and QueueId are both small numbers, never the same
/// type.
template <class Tag, class T>
struct Id {
    T value{};
    constexpr auto operator<=>(const Id&) const = default;
};

using PortId = Id<struct PortIdTag, std::uint16_t>;    ///< DPDK's ethdev number
using QueueId = Id<struct QueueIdTag, std::uint16_t>;  ///< TX or RX queue of one port
using LcoreId = Id<struct LcoreIdTag, unsigned>;       ///< EAL lcore, not a CPU number
using StreamSlot =
    Id<struct StreamSlotTag, std::uint32_t>;  ///< row of the stream table; stable by stream name

}  // namespace volley
