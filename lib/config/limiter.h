#pragma once

#include <cstdint>

namespace volley::config {

/// What a NIC's rate limiter makes of a rate. An 82599's counts frames with FCS, without preamble and gap,
/// and is set in whole megabits per second.
struct Limiter {
    std::uint64_t asked_bps = 0;  ///< L2
    std::uint32_t mbps = 1;       ///< the nearest whole, at least 1

    [[nodiscard]] std::uint64_t set_bps() const noexcept { return std::uint64_t{mbps} * 1'000'000; }
    /// Of what is set against what was asked, in millionths.
    [[nodiscard]] double error_ppm() const noexcept {
        return asked_bps == 0
                   ? 0
                   : (static_cast<double>(set_bps()) / static_cast<double>(asked_bps) - 1) * 1'000'000;
    }
};

/// asked_bps: of one queue.
inline Limiter limiter_for(std::uint64_t asked_bps) noexcept {
    const std::uint64_t whole = (asked_bps + 500'000) / 1'000'000;
    return {asked_bps, whole == 0 ? 1U : static_cast<std::uint32_t>(whole > 65'535 ? 65'535 : whole)};
}

/// The lowest setting on a link of that speed: the chip divides the link by a factor whose whole part has 10
/// bits (82599 datasheet, RTTBCNRC). 10 Mb/s at 10 Gb/s, where 9.77 is the limit.
inline std::uint32_t least_limit_mbps(std::uint64_t link_bps) noexcept {
    return static_cast<std::uint32_t>(link_bps / 1'000'000 / 1024) + 1;
}

}  // namespace volley::config
