#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <variant>

#include "packet/template.h"

namespace volley::fuzz {

/// Writes packets of a model that builds, at the indices where things go wrong.
inline void write_packets(const packet::PacketModel& model) {
    const auto built = packet::build(model);
    const auto* const good = std::get_if<0>(&built);
    if (good == nullptr) return;
    static std::array<std::uint8_t, packet::max_frame> frame;
    for (const std::uint64_t index :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{65535}, std::uint64_t{1} << 40}) {
        const std::uint16_t length = (*good)->write(index, frame.data());
        if (length == 0 || length > (*good)->longest()) std::abort();
    }
}

}  // namespace volley::fuzz
