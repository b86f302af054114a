#pragma once

#include <span>
#include <string>
#include <vector>

#include "import/capture.h"
#include "packet/model.h"

namespace volley::imports {

/// Every rewrite gives one value, the same for all packets.
bool all_literal(std::span<const packet::LayerField> rewrites);

/// Writes literal rewrites into every frame that has the layer, and the checksums that cover what changed: a
/// checksum of a whole packet is computed anew, that of a fragment's datagram follows by the difference (RFC
/// 1624), and one that says "none" stays. Returns for each rewrite how many frames have the field.
std::vector<std::uint64_t> rewrite(Capture& capture, std::span<const packet::LayerField> rewrites);

/// One frame as a model of a raw header with the rewrites as programs and the checksums that follow them.
/// Checksums of fragments' datagrams stay as they are. `found[r]` counts up where rewrite r has its field.
packet::PacketModel model_of(std::span<const std::uint8_t> frame,
                             std::span<const packet::LayerField> rewrites, std::span<std::uint64_t> found);

/// The layers of the first frame, for the message that a rewrite fits none: "eth, ipv4, udp".
std::string layers_of(const Capture& capture);

}  // namespace volley::imports
