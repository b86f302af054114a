#pragma once

#include <cstdint>
#include <vector>

#include "import/capture.h"

namespace volley::imports {

/// Spreads the frames of a capture over `lanes` (1 to 255) so that those of one flow share a lane: both
/// directions of a five-tuple of the outermost IP header. Two hosts that exchange fragments, which have no
/// ports, are one flow; so are two MAC addresses that exchange something else than IP. The same frames give
/// the same lanes.
std::vector<std::uint8_t> flow_lanes(const Capture& capture, std::uint32_t lanes);

}  // namespace volley::imports
