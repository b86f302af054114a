#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/int128.h"
#include "base/units.h"

namespace volley::config {

/// Bits per second on the wire (L1: with FCS, preamble and gap) in fixed point, rounded down, so that rates
/// that fill a link exactly never come out above it, and an excess of a millionth of a bit per second is
/// seen. Saturates.
class WireRate {
  public:
    WireRate() = default;
    /// num / den bits per second. den is not 0.
    WireRate(Uint128 num, Uint128 den);

    [[nodiscard]] WireRate scaled(double factor) const;
    /// num / den of it.
    [[nodiscard]] WireRate part(Uint128 num, Uint128 den) const;
    /// Rounded down; saturates.
    [[nodiscard]] std::uint64_t bps() const;
    [[nodiscard]] bool fits(std::uint64_t link_bps) const;
    /// "7.62Gbps", to ten digits.
    [[nodiscard]] std::string text() const;
    friend WireRate operator+(WireRate a, WireRate b);
    friend bool operator<(WireRate a, WireRate b) { return a.value_ < b.value_; }

  private:
    Uint128 value_ = 0;  ///< in units of 2^-20 bit/s
};

/// What a rate puts on the wire for frames of that mean size (with FCS); nothing for max.
std::optional<WireRate> wire_rate(const Rate& rate, Rational mean_l2_bytes, std::uint64_t link_bps);

/// The streams of one port that share its rate by weight, where weights are shares of packets.
class SharedRate {
  public:
    void add(Rational mean_l2_bytes, std::uint32_t weight);
    /// What one of them puts on the wire of the port's rate; nothing for max.
    [[nodiscard]] std::optional<WireRate> share(const Rate& rate, Rational mean_l2_bytes,
                                                std::uint32_t weight, std::uint64_t link_bps) const;

  private:
    Uint128 num_ = 0;  ///< sum of weight * mean size, as num_ / den_
    Uint128 den_ = 1;
    std::uint64_t weights_ = 0;
};

}  // namespace volley::config
