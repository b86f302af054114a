#include "config/wire_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace volley::config {
namespace {

constexpr unsigned fraction_bits = 20;
constexpr Uint128 saturated = Uint128{1} << 120U;

// a * b / c, rounded down, for products that may not fit: then the last bits of the larger factor are given
// up.
Uint128 mul_div_wide(Uint128 a, Uint128 b, Uint128 c) {
    if (a == 0 || b == 0) return 0;
    unsigned given_up = 0;
    while (a > ~Uint128{0} / b) {
        (a > b ? a : b) >>= 1U;
        ++given_up;
    }
    const Uint128 quotient = a * b / c;
    return given_up >= 120 || quotient > (saturated >> given_up) ? saturated : quotient << given_up;
}

Uint128 gcd(Uint128 a, Uint128 b) {
    while (b != 0) a = std::exchange(b, a % b);
    return a;
}

// bytes / frames is the mean frame size with FCS.
std::optional<WireRate> wire_rate_of(const Rate& rate, Uint128 bytes, Uint128 frames,
                                     std::uint64_t link_bps) {
    const Uint128 l1_bytes = bytes + l1_overhead_bytes * frames;
    const Uint128 num = rate.value.num;
    const Uint128 den = rate.value.den;
    switch (rate.kind) {
        case Rate::Kind::max:
            return std::nullopt;
        case Rate::Kind::packets:
            return WireRate(mul_div_wide(num, l1_bytes * 8, 1), den * frames);
        case Rate::Kind::bits_l2:
            return WireRate(mul_div_wide(num, l1_bytes, 1), den * bytes);
        case Rate::Kind::bits_l1:
            return WireRate(num, den);
        case Rate::Kind::percent:
            return WireRate(num * link_bps, den * 100);
    }
    return std::nullopt;
}

}  // namespace

WireRate::WireRate(Uint128 num, Uint128 den) : value_(mul_div_wide(num, Uint128{1} << fraction_bits, den)) {}

std::uint64_t WireRate::bps() const {
    const Uint128 whole = value_ >> fraction_bits;
    return whole > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(whole);
}

WireRate WireRate::scaled(double factor) const {
    constexpr int bits = 40;
    if (factor == 1.0) return *this;
    return part(static_cast<std::uint64_t>(std::floor(std::ldexp(factor, bits))), Uint128{1} << bits);
}

WireRate WireRate::part(Uint128 num, Uint128 den) const {
    WireRate out;
    out.value_ = mul_div_wide(value_, num, den);
    return out;
}

bool WireRate::fits(std::uint64_t link_bps) const {
    return value_ <= Uint128{link_bps} << fraction_bits;
}

std::string WireRate::text() const {
    constexpr std::array<const char*, 5> units{"bps", "kbps", "Mbps", "Gbps", "Tbps"};
    auto value = static_cast<double>(value_) / static_cast<double>(1U << fraction_bits);
    std::size_t unit = 0;
    for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
    std::array<char, 64> out{};
    std::snprintf(out.data(), out.size(), "%.10g%s", value, units[unit]);
    return out.data();
}

WireRate operator+(WireRate a, WireRate b) {
    WireRate sum;
    sum.value_ = std::min(a.value_ + b.value_, saturated);
    return sum;
}

std::optional<WireRate> wire_rate(const Rate& rate, Rational mean, std::uint64_t link_bps) {
    return wire_rate_of(rate, mean.num, mean.den, link_bps);
}

void SharedRate::add(Rational mean, std::uint32_t weight) {
    num_ = num_ * mean.den + Uint128{mean.num} * weight * den_;
    den_ *= mean.den;
    weights_ += weight;
    const Uint128 common = gcd(num_, den_);
    num_ /= common;
    den_ /= common;
    while (den_ >> 40U != 0) {  // sizes of many odd cycles; the last bits are below 1e-9 of a byte
        num_ >>= 1U;
        den_ >>= 1U;
    }
}

// All streams together put on the wire what the rate does with frames of their mean size; one of them has the
// part of it that its packets take, preamble and gap included.
std::optional<WireRate> SharedRate::share(const Rate& rate, Rational mean, std::uint32_t weight,
                                          std::uint64_t link_bps) const {
    const auto whole = wire_rate_of(rate, num_, den_ * weights_, link_bps);
    if (!whole) return std::nullopt;
    const Uint128 own = (Uint128{mean.num} + Uint128{l1_overhead_bytes} * mean.den) * weight;
    const Uint128 all = num_ + Uint128{l1_overhead_bytes} * weights_ * den_;
    return whole->part(own * den_, all * mean.den);
}

}  // namespace volley::config
