#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/int128.h"

namespace volley {

/// An exact non-negative fraction in lowest terms; den is never 0.
struct Rational {
    std::uint64_t num = 0;
    std::uint64_t den = 1;
    bool operator==(const Rational&) const = default;
};

/// num/den in lowest terms. den must not be 0.
Rational reduced(std::uint64_t num, std::uint64_t den);

/// A rate as the operator wrote it. What it means in packets per second depends on frame size and link speed.
struct Rate {
    enum class Kind : std::uint8_t {
        max,      ///< as fast as the port takes packets; value unused
        packets,  ///< packets per second
        bits_l2,  ///< bits per second of frames with FCS
        bits_l1,  ///< bits per second with FCS, preamble, SFD and inter-frame gap (L2 + 20 bytes a frame)
        percent,  ///< per cent of the link's L1 line rate; value is per cent (50 is "50%")
    };
    Kind kind = Kind::max;
    Rational value;
    bool operator==(const Rate&) const = default;
};

/// A span of time in whole nanoseconds.
struct Duration {
    std::uint64_t ns = 0;
    constexpr auto operator<=>(const Duration&) const = default;
};

/// Overheads of Ethernet on the wire, IEEE 802.3: FCS 4; preamble 7 + SFD 1 + inter-frame gap 12.
inline constexpr std::uint32_t fcs_bytes = 4;
inline constexpr std::uint32_t l1_overhead_bytes = 20;

/// Parses "10Gbps", "10Gbps@L1", "50%", "1.2Mpps", "max". SI prefixes k, M, G, T are decimal and
/// case-sensitive. On failure returns nothing and sets `why` to what is wrong and what would be right.
std::optional<Rate> parse_rate(std::string_view text, std::string& why);

/// Parses "0us", "10ms", "1.5s", "2m", "1h": unit one of ns, us, ms, s, m, h. A fraction below 1 ns is
/// refused.
std::optional<Duration> parse_duration(std::string_view text, std::string& why);

/// Parses a date and time by RFC 3339, such as "2026-07-01T12:00:00Z" or with ".5+02:00", into ns of Unix
/// time (from 1970).
std::optional<std::uint64_t> parse_time(std::string_view text, std::string& why);

/// Parses a link speed such as "10Gbps" or "100Mbps" into bits per second.
std::optional<std::uint64_t> parse_speed(std::string_view text, std::string& why);

/// The shortest text that parses back to the same value.
std::string to_text(const Rate& rate);
std::string to_text(Duration duration);
std::string time_text(std::uint64_t unix_ns);
std::string speed_text(std::uint64_t bits_per_second);

/// Exact packets per second of a rate for frames whose mean size is l2_bytes (with FCS; a fraction for mixed
/// sizes) on a link of link_bps. Nothing for max, and for per cent when link_bps is 0 (unknown).
std::optional<Rational> packets_per_second(const Rate& rate, Rational l2_bytes, std::uint64_t link_bps);

/// a + b, or the largest number where that is more: no instant lies beyond "never".
constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
    return a > ~b ? ~std::uint64_t{0} : a + b;
}

/// a*b/c rounded down; the product may need 128 bits, the quotient must fit 64.
constexpr std::uint64_t mul_div(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return static_cast<std::uint64_t>(static_cast<Uint128>(a) * b / c);
}

}  // namespace volley
