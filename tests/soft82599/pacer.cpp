#include "soft82599/pacer.h"

#include <algorithm>

namespace volley::soft82599 {
namespace {

constexpr std::uint64_t l1_overhead = 24;  ///< FCS 4, preamble and SFD 8, inter-frame gap 12
constexpr std::uint32_t factor_mask = 0x00FF'FFFF;
constexpr unsigned factor_fraction_bits = 14;

}  // namespace

void Pacer::set_limiter(unsigned queue, std::uint32_t rttbcnrc) noexcept {
    Limiter& limiter = limiters_[queue];
    limiter.setting = rttbcnrc;
    limiter.free = now_;
    limiter.fraction = 0;
}

Pacer::Picoseconds Pacer::start(unsigned queue) const noexcept {
    const Limiter& limiter = limiters_[queue];
    return std::max({wire_free_, limiter.free, limiter.since, pause_end_});
}

Pacer::Picoseconds Pacer::end(Picoseconds start, std::uint64_t bytes) const noexcept {
    return start + (bytes + l1_overhead) * byte_ps_;
}

void Pacer::sent(unsigned queue, Picoseconds start, std::uint64_t bytes) noexcept {
    wire_free_ = end(start, bytes);
    Limiter& limiter = limiters_[queue];
    if ((limiter.setting & reg::rttbcnrc_enable) == 0) return;
    const std::uint64_t scaled =
        (bytes + limiter_overhead_) * byte_ps_ * (limiter.setting & factor_mask) + limiter.fraction;
    const Picoseconds window = std::uint64_t{window_kilobytes_} * 1024 * byte_ps_;
    const Picoseconds earliest = std::max(limiter.free, start - std::min(start, window));
    limiter.free = earliest + (scaled >> factor_fraction_bits);
    limiter.fraction = scaled & ((1U << factor_fraction_bits) - 1);
}

}  // namespace volley::soft82599
