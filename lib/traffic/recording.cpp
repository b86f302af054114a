#include "traffic/recording.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace volley::traffic {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t never = ~std::uint64_t{0};
// Three centuries at original speed, and as many ticks as no clock reaches: later is never.
constexpr Uint128 longest_ns = Uint128{1} << 63;
constexpr Uint128 longest_ticks = Uint128{1} << 61;

}  // namespace

Recording::Recording(const std::vector<std::uint64_t>& times_ns, std::uint64_t speed, std::uint64_t tsc_hz,
                     const std::vector<std::uint8_t>& lanes, std::uint32_t lane_count)
    : packets_(times_ns.size()), speed_(speed) {
    offsets_ns_.reserve(times_ns.size());
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < times_ns.size(); ++i) {
        if (i != 0 && times_ns[i] > times_ns[i - 1]) at += times_ns[i] - times_ns[i - 1];
        offsets_ns_.push_back(at);
    }
    if (offsets_ns_.size() > 1) period_ns_ = at + at / (offsets_ns_.size() - 1);
    set_speed(tsc_hz);
    share(lanes, lane_count);
}

Recording::Recording(std::shared_ptr<const packet::FrameWindow> window, std::uint64_t packets,
                     std::uint64_t period_ns, std::uint64_t speed, std::uint64_t tsc_hz)
    : window_(std::move(window)), first_(1, 0), packets_(packets), period_ns_(period_ns), speed_(speed) {
    set_speed(tsc_hz);
}

void Recording::set_speed(std::uint64_t tsc_hz) noexcept {
    const Uint128 num = static_cast<Uint128>(tsc_hz) * original_speed;
    const Uint128 den = static_cast<Uint128>(second) * speed_;
    const auto common = static_cast<std::uint64_t>(
        std::gcd(static_cast<std::uint64_t>(num), static_cast<std::uint64_t>(den)));
    ticks_ = static_cast<std::uint64_t>(num) / common;
    ns_ = static_cast<std::uint64_t>(den) / common;
}

// Backwards over two loops, so that the last frames of a lane know its first.
void Recording::share(const std::vector<std::uint8_t>& lanes, std::uint32_t lane_count) {
    first_.assign(lane_count, never);
    if (lanes.empty()) {
        first_[0] = 0;
        return;
    }
    const std::uint64_t count = packets();
    steps_.resize(count);
    for (std::uint64_t i = 2 * count; i-- > 0;) {
        std::uint64_t& next = first_[lanes[i % count]];
        if (i < count) steps_[i] = static_cast<std::uint32_t>(next - i);
        next = i;
    }
}

Tsc Recording::ticks_of(Uint128 ns) const noexcept {
    const Uint128 ticks = std::min(ns, longest_ns) * ticks_ / ns_;
    return static_cast<Tsc>(std::min(ticks, longest_ticks));
}

Tsc Recording::due(std::uint64_t index) const noexcept {
    if (window_ != nullptr) return ticks_of(window_->offset_ns(index));
    const std::uint64_t loop = index / packets();
    return ticks_of(static_cast<Uint128>(loop) * period_ns_ + offsets_ns_[index - loop * packets()]);
}

std::uint64_t Recording::packets_before(Tsc ticks) const noexcept {
    if (ticks == 0) return 0;
    if (period_ns_ == 0) return never;
    // A packet is due before `ticks` if and only if its offset is below this.
    const Uint128 bound = (static_cast<Uint128>(ticks) * ns_ + ticks_ - 1) / ticks_;
    const Uint128 loops = bound / period_ns_;
    if (window_ != nullptr) {
        const Uint128 part = (bound - loops * period_ns_) * packets_ / period_ns_;
        return static_cast<std::uint64_t>(std::min<Uint128>(loops * packets_ + part, never));
    }
    const auto rest = static_cast<std::uint64_t>(bound - loops * period_ns_);
    const auto within = std::lower_bound(offsets_ns_.begin(), offsets_ns_.end(), rest) - offsets_ns_.begin();
    const Uint128 packets = loops * offsets_ns_.size() + static_cast<std::uint64_t>(within);
    return packets > never ? never : static_cast<std::uint64_t>(packets);
}

std::uint64_t Recording::first_of(std::uint32_t lane) const noexcept {
    return first_[lane];
}

Tsc Recording::from_speed_of(const Recording& other, Tsc ticks) const noexcept {
    const Uint128 product = static_cast<Uint128>(ticks) * other.speed_ / speed_;
    return static_cast<Tsc>(std::min(product, longest_ticks));
}

}  // namespace volley::traffic
