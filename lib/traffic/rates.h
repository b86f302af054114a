#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"

namespace volley::traffic {

/// Sum and product in lowest terms. Exact while the result fits 64 bits; beyond, the last bits go (a part in
/// 2^62).
Rational sum(Rational a, Rational b);
Rational product(Rational a, Rational b);

/// The decimal that the operator wrote: 0.1 is 1/10. Nothing for negative values and those without a decimal
/// of 19 digits.
std::optional<Rational> decimal(double value);

/// What one stream of a port asks for.
struct Demand {
    std::optional<Rate> rate;  ///< none: a share of the port's
    std::uint32_t weight = 1;
    Rational mean_l2_bytes;
    bool scale = true;  ///< the multiplier applies
};

/// What it gets. With neither value the rate needs a link speed that is not known, or there is no rate at
/// all.
struct Granted {
    bool max = false;
    std::optional<Rational> pps;
};

/// Packets per second of each stream of one port. A port's rate is shared by the streams that have none of
/// their own: weights are shares of packets, so 7:4:1 of three sizes is the usual IMIX, whatever unit the
/// total is given in.
std::vector<Granted> grant(std::span<const Demand> demands, const std::optional<Rate>& port_rate,
                           std::uint64_t link_bps, Rational multiplier);

/// Bits per second on the wire (L1), for comparisons and messages.
double l1_bps(Rational pps, Rational mean_l2_bytes);

/// Packets per burst: at most 100 us of traffic at the stream's rate and at most 32, so that a burst
/// amortises the call without showing as one; slow streams send packet by packet.
std::uint32_t automatic_burst(bool max, Rational pps, std::uint64_t count);

}  // namespace volley::traffic
