#include "packet/sizes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models.h"

namespace volley::packet {
namespace {

using enum HeaderKind;

PacketModel weighted(std::vector<WeightedSize> sizes) {
    auto model = packet({header(eth), header(ipv4), header(udp)});
    model.frame_size = SizeModel{{}, std::move(sizes)};
    return model;
}

TEST(WeightedSizes, are_spread_evenly_over_a_cycle) {
    EXPECT_EQ(genome(named_mix("simple")), "aAaaAagaAaAa [A=570]");
    EXPECT_EQ(genome(std::vector<WeightedSize>{{64, 14}, {570, 8}, {1518, 2}}), "aAaaAagaAaAa [A=570]");
    EXPECT_EQ(genome(std::vector<WeightedSize>{{64, 1}, {128, 1}, {300, 1}, {400, 1}}), "abAB [A=300 B=400]");
    EXPECT_EQ(genome(std::vector<WeightedSize>{{9000, 5}}), "i");
    std::vector<WeightedSize> many;
    for (std::uint32_t i = 0; i < 28; ++i) many.push_back({600 + i, 1});
    EXPECT_EQ(genome(many).substr(0, 37), "ABCDEFGHIJKLMNOPQRSTUVWXYZ(626)(627) ")
        << "no letter stands for two";
}

TEST(WeightedSizes, come_exactly_as_often_as_their_weights) {
    for (const auto name : mix_names()) {
        const auto mix = named_mix(name);
        const auto order = interleaved(mix);
        std::uint64_t total = 0;
        for (const auto& entry : mix) total += entry.weight;
        ASSERT_EQ(total % order.size(), 0U);
        for (std::size_t s = 0; s < mix.size(); ++s) {
            const auto times = static_cast<std::uint64_t>(std::count(order.begin(), order.end(), s));
            EXPECT_EQ(times * total, mix[s].weight * order.size()) << name;
        }
        EXPECT_NE(built(weighted(mix)), nullptr);
    }
    EXPECT_TRUE(named_mix("none").empty());
}

TEST(WeightedSizes, have_an_exact_mean) {
    EXPECT_EQ(built(weighted(named_mix("simple")))->mean_l2_bytes(), reduced(7 * 64 + 4 * 570 + 1518, 12));
}

TEST(WeightedSizes, of_one_length_are_fixed) {
    const auto frame = built(weighted({{64, 3}, {64, 1}}));
    EXPECT_EQ(frame->fixed_length(), 60);
    EXPECT_TRUE(frame->constant());
}

TEST(SizePrograms, step_hold_and_wrap_like_any_program) {
    const auto frame = built(sized(packet({header(eth)}), increment(64, 1518, 100, 2)));
    EXPECT_EQ(frame->fixed_length(), 0);
    EXPECT_EQ(frame->longest(), 64 + 14 * 100 - 4);
    EXPECT_EQ(frame->mean_l2_bytes(), (Rational{764, 1}));
    for (const std::uint64_t i : {0U, 1U, 2U, 29U, 30U}) {
        EXPECT_EQ(bytes_of(*frame, i).size(), 60 + i / 2 % 15 * 100) << i;
    }
}

TEST(SizePrograms, of_random_draws_have_the_mean_of_their_range) {
    EXPECT_EQ(built(sized(packet({header(eth)}), random_of(64, 9000)))->mean_l2_bytes(), (Rational{4532, 1}));
}

TEST(SizePrograms, may_follow_a_variable) {
    auto model = sized(packet({header(eth), header(ipv4, {{"id", variable("n")}})}), variable("n"));
    model.variables.emplace_back("n", increment(0, 99));
    model.frame_size->program->add = 100;
    const auto frame = built(model);
    for (std::uint64_t i = 0; i < 200; ++i) {
        const auto bytes = bytes_of(*frame, i);
        EXPECT_EQ(bytes.size(), 96 + bytes[19]);
    }
}

}  // namespace
}  // namespace volley::packet
