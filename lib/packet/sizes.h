#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "packet/model.h"
#include "packet/sequence.h"

namespace volley::packet {

/// The lengths that packets take, without FCS, and which packet takes which.
struct Sizes {
    std::vector<std::uint16_t> lengths;  ///< by variant, ascending; one entry when all packets are alike
    std::vector<std::uint16_t> taken;    ///< those that some packet has
    Sequence variant;                    ///< variant of packet i, before subtracting `variant_base`
    Value variant_base = 0;
    Rational mean_l2_bytes;  ///< with FCS
};

/// Works out the sizes of a packet whose headers take `headers` bytes and whose given payload takes
/// `payload`. `program` is the resolved size program, if the model has one. Problems are appended.
Sizes resolve_sizes(const PacketModel& model, const Sequence* program, std::size_t headers,
                    std::size_t payload, std::vector<Problem>& problems);

/// The order in which weighted sizes are sent: one cycle, as indices into `sizes`, each as often as its
/// weight (in lowest terms) and spread as evenly as the weights allow. Empty when the cycle is longer than
/// 65536.
std::vector<std::uint16_t> interleaved(std::span<const WeightedSize> sizes);

/// The IMIX genome of that order (RFC 6985): a letter a packet, and for sizes that have none capital letters,
/// which follow in brackets: "aaAaab [A=570]".
std::string genome(std::span<const WeightedSize> sizes);

/// Named mixes: simple, trex, tolly, rpr. Sizes with FCS. Empty for an unknown name.
std::vector<WeightedSize> named_mix(std::string_view name);
std::span<const std::string_view> mix_names();

}  // namespace volley::packet
