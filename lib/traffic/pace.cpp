#include "traffic/pace.h"

namespace volley::traffic {
namespace {

constexpr std::uint64_t saturated(Uint128 value) {
    return value > ~std::uint64_t{0} ? ~std::uint64_t{0} : static_cast<std::uint64_t>(value);
}

constexpr Uint128 common_divisor(Uint128 a, Uint128 b) {
    while (b != 0) {
        const Uint128 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

}  // namespace

Interval interval_of(Rational pps, std::uint64_t tsc_hz) noexcept {
    Uint128 num = static_cast<Uint128>(tsc_hz) * pps.den;
    Uint128 den = pps.num;
    const Uint128 common = common_divisor(num, den);
    num /= common;
    den /= common;
    if (den >> 63 != 0) {
        num >>= 1;
        den >>= 1;
    }
    return {num, static_cast<std::uint64_t>(den)};
}

Ticks span_of(Interval interval, std::uint64_t packets) noexcept {
    const Uint128 whole = interval.num / interval.den;
    if (whole > longest_step) return {packets == 0 ? 0 : ~std::uint64_t{0}, 0};
    const Uint128 rest = interval.num % interval.den * packets;
    return {saturated(whole * packets + rest / interval.den),
            static_cast<std::uint64_t>(rest % interval.den)};
}

std::uint64_t packets_before(Ticks next, Tsc end, Interval interval) noexcept {
    if (next.whole >= end) return 0;
    if (interval.num == 0) return ~std::uint64_t{0};
    // Ticks below 2^64 times a den below 2^63 fit.
    const Uint128 left = static_cast<Uint128>(end - next.whole) * interval.den - next.fraction;
    return saturated((left - 1) / interval.num + 1);
}

std::uint64_t steps_until(Ticks at, Tsc now, Interval interval, std::uint64_t packets) noexcept {
    if (at.whole >= now || interval.num == 0) return 0;
    const Uint128 left = static_cast<Uint128>(now - at.whole) * interval.den - at.fraction;
    return saturated((left - 1) / (interval.num * packets) + 1);
}

Ticks after_steps(Ticks at, std::uint64_t steps, Interval interval, std::uint64_t packets) noexcept {
    const Uint128 total = interval.num * packets * steps + at.fraction;
    return {at.whole + static_cast<std::uint64_t>(total / interval.den),
            static_cast<std::uint64_t>(total % interval.den)};
}

std::uint64_t packets_in(Duration duration, Rational pps) noexcept {
    const Uint128 num = static_cast<Uint128>(duration.ns) * pps.num;
    const Uint128 den = static_cast<Uint128>(pps.den) * 1'000'000'000;
    return num == 0 ? 0 : saturated((num - 1) / den + 1);
}

double approximate(Interval interval) noexcept {
    return static_cast<double>(interval.num) / static_cast<double>(interval.den);
}

}  // namespace volley::traffic
