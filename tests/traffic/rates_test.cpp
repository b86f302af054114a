#include "traffic/rates.h"

#include <gtest/gtest.h>

#include "traffic/pace.h"

namespace volley::traffic {
namespace {

constexpr std::uint64_t ten_gigabit = 10'000'000'000;

Rate rate(const char* text) {
    std::string why;
    return parse_rate(text, why).value();
}

TEST(rates, each_unit_gives_exact_packets_per_second) {
    const std::vector<Demand> demands{
        {rate("1.2Mpps"), 1, {64, 1}, true},
        {rate("10Gbps"), 1, {64, 1}, true},
        {rate("10Gbps@L1"), 1, {64, 1}, true},
        {rate("50%"), 1, {1518, 1}, true},
        {rate("max"), 1, {64, 1}, true},
        {rate("1Gbps"), 1, {1087, 3}, true},  // a mean size that is no whole number
    };
    const auto granted = grant(demands, std::nullopt, ten_gigabit, {1, 1});
    EXPECT_EQ(granted[0].pps, (Rational{1'200'000, 1}));
    EXPECT_EQ(granted[1].pps, reduced(10'000'000'000, 512));
    EXPECT_EQ(granted[2].pps, reduced(10'000'000'000, 672));
    EXPECT_EQ(granted[3].pps, reduced(5'000'000'000, 1538 * 8));
    EXPECT_TRUE(granted[4].max);
    EXPECT_FALSE(granted[4].pps);
    EXPECT_EQ(granted[5].pps, reduced(3'000'000'000, 1087 * 8));
}

TEST(rates, a_percentage_of_an_unknown_link_is_not_granted) {
    const std::vector<Demand> demands{{rate("50%"), 1, {64, 1}, true}, {rate("1Gbps"), 1, {64, 1}, true}};
    const auto granted = grant(demands, std::nullopt, 0, {1, 1});
    EXPECT_FALSE(granted[0].pps);
    EXPECT_FALSE(granted[0].max);
    EXPECT_TRUE(granted[1].pps);
}

// S1: the total of an IMIX is given once and split by weight.
TEST(rates, a_port_rate_is_shared_by_weight_in_packets_and_adds_up_in_bits) {
    const std::vector<Demand> demands{{std::nullopt, 7, {64, 1}, true},
                                      {std::nullopt, 4, {594, 1}, true},
                                      {std::nullopt, 1, {1518, 1}, true},
                                      {rate("5pps"), 9, {64, 1}, true}};
    const auto granted = grant(demands, rate("40%"), ten_gigabit, {1, 1});
    ASSERT_TRUE(granted[0].pps && granted[1].pps && granted[2].pps);
    EXPECT_EQ(product(*granted[0].pps, {4, 1}), product(*granted[1].pps, {7, 1}));
    EXPECT_EQ(*granted[0].pps, product(*granted[2].pps, {7, 1}));
    Rational bits{0, 1};
    for (int i = 0; i < 3; ++i) {
        const Rational on_wire = sum(demands[static_cast<std::size_t>(i)].mean_l2_bytes, {20, 1});
        bits = sum(bits, product(product(*granted[static_cast<std::size_t>(i)].pps, on_wire), {8, 1}));
    }
    EXPECT_EQ(bits, (Rational{4'000'000'000, 1}));
    EXPECT_EQ(granted[3].pps, (Rational{5, 1}));
}

TEST(rates, the_multiplier_scales_only_streams_that_say_so) {
    const std::vector<Demand> demands{{rate("1000pps"), 1, {64, 1}, true},
                                      {rate("1000pps"), 1, {64, 1}, false}};
    const auto granted = grant(demands, std::nullopt, 0, decimal(0.1).value());
    EXPECT_EQ(granted[0].pps, (Rational{100, 1}));
    EXPECT_EQ(granted[1].pps, (Rational{1000, 1}));
}

TEST(rates, a_decimal_is_what_was_written_not_its_binary_neighbour) {
    EXPECT_EQ(decimal(0.1), (Rational{1, 10}));
    EXPECT_EQ(decimal(1.0), (Rational{1, 1}));
    EXPECT_EQ(decimal(2.55), (Rational{51, 20}));
    EXPECT_EQ(decimal(0), (Rational{0, 1}));
    EXPECT_FALSE(decimal(-1));
    EXPECT_FALSE(decimal(1e300));
}

TEST(rates, an_automatic_burst_is_at_most_100_us_of_traffic) {
    EXPECT_EQ(automatic_burst(true, {0, 1}, ~std::uint64_t{0}), 32U);
    EXPECT_EQ(automatic_burst(false, {14'880'952, 1}, ~std::uint64_t{0}), 32U);
    EXPECT_EQ(automatic_burst(false, {100'000, 1}, ~std::uint64_t{0}), 10U);
    EXPECT_EQ(automatic_burst(false, {1000, 1}, ~std::uint64_t{0}), 1U);
    EXPECT_EQ(automatic_burst(false, {0, 1}, ~std::uint64_t{0}), 1U);
    EXPECT_EQ(automatic_burst(false, {14'880'952, 1}, 7), 7U);
    EXPECT_EQ(automatic_burst(true, {0, 1}, 1), 1U);
}

TEST(pace, a_duration_holds_the_packets_due_in_it) {
    EXPECT_EQ(packets_in({1'000'000'000}, {1000, 1}), 1000U);
    EXPECT_EQ(packets_in({1'000'000'001}, {1000, 1}), 1001U);
    EXPECT_EQ(packets_in({1'500'000}, {1000, 1}), 2U);
    EXPECT_EQ(packets_in({1}, {1, 1'000'000}), 1U);
    EXPECT_EQ(packets_in({0}, {1000, 1}), 0U);
    EXPECT_EQ(packets_in({1'000'000'000'000'000}, {14'880'952, 1}), 14'880'952'000'000U);
    EXPECT_EQ(packets_in({~std::uint64_t{0}}, {~std::uint64_t{0}, 1}), ~std::uint64_t{0});
}

TEST(pace, extreme_rates_neither_overflow_nor_divide_by_zero) {
    constexpr std::uint64_t hz = 5'000'000'000;
    for (const Rational pps : {Rational{1, ~std::uint64_t{0}}, Rational{~std::uint64_t{0}, 1},
                               Rational{~std::uint64_t{0}, ~std::uint64_t{0} - 1}, Rational{1, 1}}) {
        const Interval interval = interval_of(pps, hz);
        EXPECT_EQ(interval.den >> 63, 0U);
        const Ticks step = span_of(interval, 256 * 255);
        EXPECT_LT(step.fraction, interval.den);
        const Tsc now = 1'000'000'000'000;
        const std::uint64_t steps = steps_until({1000, 0}, now, interval, 256);
        const Ticks moved = after_steps({1000, 0}, steps, interval, 256);
        EXPECT_GE(moved.whole, pps.num == 1 && pps.den > 1 ? 0 : now);
        EXPECT_GE(packets_before({1000, 0}, now, interval), 1U);
        EXPECT_EQ(packets_before({now, 0}, now, interval), 0U);
    }
    EXPECT_EQ(span_of(interval_of({1, ~std::uint64_t{0}}, hz), 1).whole, ~std::uint64_t{0});
}

}  // namespace
}  // namespace volley::traffic
