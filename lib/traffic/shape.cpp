#include "traffic/shape.h"

#include <algorithm>
#include <cmath>

namespace volley::traffic {
namespace {

constexpr std::uint64_t endless_packets = ~std::uint64_t{0};

std::uint64_t saturated(Uint128 value) {
    return value > endless_packets ? endless_packets : static_cast<std::uint64_t>(value);
}

Uint128 round_packets(const Shape& shape) {
    Uint128 out = 0;
    for (const Leg& leg : shape.legs) out += leg.packets;
    return out;
}

Uint128 raw(Instant instant) {
    return (static_cast<Uint128>(instant.whole) << 64) | instant.fraction;
}

Instant round_span(const Shape& shape) {
    Instant out;
    for (const Leg& leg : shape.legs) out = out + leg.span;
    return out;
}

std::uint64_t packets_before(const Leg& leg, Instant ticks) {
    if (ticks == Instant{}) return 0;
    if (leg.packets == 0) return 0;
    if (leg.ramp) {
        const double at = static_cast<double>(ticks.whole) + static_cast<double>(ticks.fraction) * 0x1p-64;
        return std::min(leg.packets, static_cast<std::uint64_t>(std::ceil(leg.packets_by(at))));
    }
    if (leg.interval.num == 0) return leg.packets;
    // The first whole tick that is not before `ticks`: dues are compared before they are rounded down.
    const std::uint64_t fraction =
        static_cast<std::uint64_t>((static_cast<Uint128>(ticks.fraction) * leg.interval.den) >> 64);
    const Uint128 left = static_cast<Uint128>(ticks.whole) * leg.interval.den + fraction;
    return left == 0 ? 1 : std::min(leg.packets, saturated((left - 1) / leg.interval.num + 1));
}

}  // namespace

Instant instant_of(Uint128 num, std::uint64_t den) noexcept {
    return {static_cast<Tsc>(num / den), static_cast<std::uint64_t>(((num % den) << 64) / den)};
}

Instant instant_of(Ticks ticks, std::uint64_t den) noexcept {
    return {ticks.whole, static_cast<std::uint64_t>((static_cast<Uint128>(ticks.fraction) << 64) / den)};
}

Ticks ticks_over(Instant instant, std::uint64_t den) noexcept {
    return {instant.whole, static_cast<std::uint64_t>((static_cast<Uint128>(instant.fraction) * den) >> 64)};
}

double Leg::time_of(double offset) const noexcept {
    if (!ramp) return offset * approximate(interval);
    if (offset <= 0) return 0;
    // The root of from*t + slope*t^2/2 = offset in the form that does not cancel.
    return 2 * offset / (from + std::sqrt(std::max(0.0, from * from + 2 * slope * offset)));
}

double Leg::packets_by(double ticks) const noexcept {
    if (ramp) return from * ticks + slope * ticks * ticks / 2;
    return interval.num == 0 ? static_cast<double>(packets) : ticks / approximate(interval);
}

double Leg::interval_at(double offset) const noexcept {
    if (!ramp) return approximate(interval);
    return time_of(offset + 1) - time_of(offset);
}

std::uint64_t total_packets(const Shape& shape) {
    const Uint128 round = round_packets(shape);
    if (round >= endless_packets || (shape.rounds == 0 && round != 0)) return shape.packets;
    return std::min(shape.packets, saturated(round * shape.rounds));
}

std::uint64_t packets_before(const Shape& shape, Instant ticks) {
    const Uint128 period = raw(round_span(shape));
    const Uint128 per_round = round_packets(shape);
    Uint128 packets = 0;
    Uint128 left = raw(ticks);
    if (shape.rounds != 1 && period != 0) {
        Uint128 whole = left / period;
        if (shape.rounds != 0 && whole >= shape.rounds)
            return std::min(shape.packets, saturated(per_round * shape.rounds));
        packets = whole * per_round;
        left -= whole * period;
    }
    for (const Leg& leg : shape.legs) {
        const Instant within{static_cast<Tsc>(left >> 64), static_cast<std::uint64_t>(left)};
        packets += packets_before(leg, within);
        if (leg.packets == endless_packets || left <= raw(leg.span)) break;
        left -= raw(leg.span);
    }
    return std::min(shape.packets, saturated(packets));
}

}  // namespace volley::traffic
