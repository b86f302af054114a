#include "traffic/rates.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include "base/int128.h"

namespace volley::traffic {
namespace {

Rational narrowed(Uint128 num, Uint128 den) {
    Uint128 a = num;
    Uint128 b = den;
    while (b != 0) {
        const Uint128 rest = a % b;
        a = b;
        b = rest;
    }
    num /= a;
    den /= a;
    while (num >> 64 != 0 || den >> 64 != 0) {
        num >>= 1;
        den >>= 1;
    }
    return reduced(static_cast<std::uint64_t>(num),
                   std::max<std::uint64_t>(static_cast<std::uint64_t>(den), 1));
}

}  // namespace

Rational sum(Rational a, Rational b) {
    while (a.num >> 63 != 0 || b.num >> 63 != 0) {  // so that two products of 127 bits add up within 128
        a = {a.num >> 1, std::max<std::uint64_t>(a.den >> 1, 1)};
        b = {b.num >> 1, std::max<std::uint64_t>(b.den >> 1, 1)};
    }
    return narrowed(static_cast<Uint128>(a.num) * b.den + static_cast<Uint128>(b.num) * a.den,
                    static_cast<Uint128>(a.den) * b.den);
}

Rational product(Rational a, Rational b) {
    if (a.num == 0 || b.num == 0) return {0, 1};
    return narrowed(static_cast<Uint128>(a.num) * b.num, static_cast<Uint128>(a.den) * b.den);
}

std::optional<Rational> decimal(double value) {
    std::array<char, 64> text;
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc{}) return std::nullopt;
    std::string why;
    const auto rate =
        parse_rate(std::string(text.data(), end) + "pps", why);  // the one parser of exact decimals
    return rate ? std::optional(rate->value) : std::nullopt;
}

std::vector<Granted> grant(std::span<const Demand> demands, const std::optional<Rate>& port_rate,
                           std::uint64_t link_bps, Rational multiplier) {
    std::uint64_t weights = 0;
    Rational weighted_bytes{0, 1};
    for (const Demand& demand : demands) {
        if (demand.rate) continue;
        weights += demand.weight;
        weighted_bytes = sum(weighted_bytes, product(demand.mean_l2_bytes, {demand.weight, 1}));
    }
    std::optional<Rational> shared;
    if (port_rate && weights != 0) {
        shared = packets_per_second(*port_rate, product(weighted_bytes, {1, weights}), link_bps);
    }
    std::vector<Granted> out;
    out.reserve(demands.size());
    for (const Demand& demand : demands) {
        const std::optional<Rate>& rate = demand.rate ? demand.rate : port_rate;
        Granted granted;
        if (rate && rate->kind == Rate::Kind::max) {
            granted.max = true;
        } else if (demand.rate) {
            granted.pps = packets_per_second(*demand.rate, demand.mean_l2_bytes, link_bps);
        } else if (shared) {
            granted.pps = product(*shared, reduced(demand.weight, weights));
        }
        if (granted.pps && demand.scale) granted.pps = product(*granted.pps, multiplier);
        out.push_back(granted);
    }
    return out;
}

double l1_bps(Rational pps, Rational mean_l2_bytes) {
    const double bytes = static_cast<double>(mean_l2_bytes.num) / static_cast<double>(mean_l2_bytes.den);
    return static_cast<double>(pps.num) / static_cast<double>(pps.den) * (bytes + l1_overhead_bytes) * 8;
}

std::uint32_t automatic_burst(bool max, Rational pps, std::uint64_t count) {
    constexpr std::uint64_t most = 32;
    constexpr std::uint64_t bursts_per_second = 10'000;
    const std::uint64_t by_rate = max ? most : pps.num / pps.den / bursts_per_second;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(std::min(by_rate, count), 1, most));
}

}  // namespace volley::traffic
