#include <gtest/gtest.h>

#include <map>
#include <set>

#include "models.h"
#include "packet/prf.h"

namespace volley::packet {
namespace {

using enum HeaderKind;

/// What a program puts into a field of 16, 32, 48 or 128 bits, packet by packet.
class Values {
  public:
    explicit Values(const Program& program, HeaderKind kind = tcp, const char* field = "seq")
        : field_(find_field(kind, field)) {
        auto model = packet({header(eth)});
        if (kind != eth) model.headers.push_back(header(kind == tcp ? ipv4 : kind));
        if (kind == tcp) model.headers.push_back(header(tcp));
        model.headers.back().fields.push_back({field_, program});
        frame_ = built(model);
        at_ = (kind == eth ? 0U : kind == tcp ? 34U : 14U) + field_->bit_offset / 8U;
    }

    Value operator()(std::uint64_t index) const {
        const auto bytes = bytes_of(*frame_, index);
        Value value = 0;
        for (std::size_t i = 0; i < field_->bit_width / 8U; ++i) value = value << 8 | bytes[at_ + i];
        return value;
    }
    std::uint64_t small(std::uint64_t index) const { return static_cast<std::uint64_t>((*this)(index)); }

  private:
    const FieldInfo* field_;
    std::unique_ptr<const PacketTemplate> frame_;
    std::size_t at_;
};

TEST(Increment, wraps_behind_the_last_value_that_its_steps_reach) {
    const Values values(increment(10, 21, 5));
    for (std::uint64_t i = 0; i < 9; ++i) EXPECT_EQ(values.small(i), 10 + i % 3 * 5);
}

TEST(Increment, holds_each_value_for_every_packets) {
    for (const std::uint64_t every : {2U, 3U, 63U, 64U, 65U, 1000U}) {
        const Values values(increment(1, 700, 1, every));
        for (const std::uint64_t i : {std::uint64_t{0}, every - 1, every, 700 * every - 1, 700 * every}) {
            EXPECT_EQ(values.small(i), i / every % 700 + 1) << every << " " << i;
        }
    }
}

TEST(Increment, is_exact_at_indices_of_32_and_63_bits) {
    const Values values(increment(5, 1000003 + 4));
    for (const std::uint64_t i : {(std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 32,
                                  (std::uint64_t{1} << 63) - 1, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
        EXPECT_EQ(values.small(i), 5 + i % 1000003) << i;
    }
}

TEST(Increment, covers_the_whole_of_32_bits) {
    const Values values(increment(0, 0xffffffff));
    EXPECT_EQ(values.small(0xffffffff), 0xffffffffU);
    EXPECT_EQ(values.small(std::uint64_t{1} << 32), 0U);
}

TEST(Decrement, starts_at_its_largest_value) {
    const Values values(decrement(20, 11, 4));
    for (std::uint64_t i = 0; i < 9; ++i) EXPECT_EQ(values.small(i), 20 - i % 3 * 4);
}

TEST(List, repeats_in_its_order) {
    const Values values(list({7, 3, 9, 3}, 2));
    const std::uint64_t expected[] = {7, 7, 3, 3, 9, 9, 3, 3, 7};
    for (std::uint64_t i = 0; i < 9; ++i) EXPECT_EQ(values.small(i), expected[i]);
}

TEST(MacRange, carries_through_all_six_bytes) {
    const Values values(increment(0x00fffffffffe, 0x010000000003), eth, "dst");
    EXPECT_TRUE(values(1) == 0x00ffffffffff);
    EXPECT_TRUE(values(2) == 0x010000000000);
    EXPECT_TRUE(values(6) == 0x00fffffffffe);
}

TEST(Ipv6Range, carries_through_all_bytes) {
    const Value top = Value{0x20010db8ffffffff} << 64 | 0xffffffffffffffff;
    const Values values(increment(top, top + 1000), ipv6, "src");
    EXPECT_TRUE(values(0) == top);
    EXPECT_TRUE(values(1) == Value{0x20010db900000000} << 64);
    EXPECT_TRUE(values(1001) == top);
    const Values whole(increment(0, ~Value{0}, Value{1} << 100), ipv6, "dst");
    EXPECT_TRUE(whole(3) == Value{3} << 100);
    EXPECT_TRUE(whole(std::uint64_t{1} << 28) == 0);
}

TEST(Transforms, add_then_shift_then_mask) {
    auto program = increment(1, 255);
    program.add = 1;
    program.shift = 4;
    program.mask = 0xff0;
    const Values values(program, ipv4, "src");
    EXPECT_EQ(values.small(0), 0xc6120021U);  // 2 << 4, beside the default's other bits
    EXPECT_EQ(values.small(254), 0xc6120001U);
    program.shift = -3;
    program.mask.reset();
    EXPECT_EQ(Values(program).small(254), 256U >> 3);
}

TEST(Transforms, take_a_negative_addend_as_its_complement) {
    auto program = increment(10, 20);
    program.add = Value{0} - 10;
    EXPECT_EQ(Values(program).small(0), 0U);
    EXPECT_EQ(Values(program).small(10), 10U);
}

TEST(RandomDraws, are_uniform_over_their_range) {
    for (const Value last : {Value{6}, Value{999}, Value{0xffffffff}}) {
        const Values values(random_of(3, 3 + std::min<Value>(last, 0xfffffffc)));
        std::map<std::uint64_t, int> share;
        for (std::uint64_t i = 0; i < 7000; ++i) {
            const Value value = values(i) - 3;
            ASSERT_TRUE(value <= last);
            ++share[static_cast<std::uint64_t>(value * 7 / (last + 1))];
        }
        ASSERT_EQ(share.size(), 7U);
        for (const auto& [part, count] : share) EXPECT_NEAR(count, 1000, 150) << part;
    }
}

TEST(RandomDraws, reach_over_the_whole_of_wide_fields) {
    const Values values(random_of(0, ~Value{0}), ipv6, "src");
    Value all = 0;
    Value common = ~Value{0};
    for (std::uint64_t i = 0; i < 200; ++i) {
        all |= values(i);
        common &= values(i);
    }
    EXPECT_TRUE(all == ~Value{0});
    EXPECT_TRUE(common == 0);
}

/// A remainder instead of a rejection would give the first third twice its share.
TEST(RandomDraws, are_uniform_over_a_wide_range_that_is_no_power_of_two) {
    const Values values(random_of(0, (Value{3} << 40) - 1), eth, "dst");
    std::map<std::uint64_t, int> share;
    for (std::uint64_t i = 0; i < 3000; ++i) ++share[values.small(i) >> 40];
    ASSERT_EQ(share.size(), 3U);
    for (const auto& [third, count] : share) EXPECT_NEAR(count, 1000, 120) << third;
}

TEST(RandomDraws, differ_by_seed_and_are_the_same_in_every_release) {
    EXPECT_NE(Values(random_of(0, 0xffffffff, 1)).small(0), Values(random_of(0, 0xffffffff, 2)).small(0));
    EXPECT_EQ(draw(1, 0), 0x5692161d100b05e5U);
    EXPECT_EQ(Values(random_of(0, 0xffffffff, 7)).small(1000), 954459058U);
}

TEST(RandomDraws, hold_for_every_packets) {
    auto program = random_of(0, 0xffffffff);
    program.every = 5;
    const Values values(program);
    EXPECT_EQ(values.small(10), values.small(14));
    EXPECT_NE(values.small(14), values.small(15));
}

TEST(Permuted, gives_every_value_once_before_any_comes_again) {
    for (const Value last : {Value{0}, Value{1}, Value{6}, Value{999}, Value{70000}}) {
        auto program = random_of(100, 100 + last);
        program.permute = true;
        const Values values(program);
        std::set<std::uint64_t> seen;
        const auto count = static_cast<std::uint64_t>(last) + 1;
        for (std::uint64_t i = 0; i < count; ++i) seen.insert(values.small(i));
        EXPECT_EQ(seen.size(), count);
        EXPECT_EQ(*seen.begin(), 100U);
        EXPECT_EQ(*seen.rbegin(), 100 + count - 1);
        EXPECT_EQ(values.small(0), values.small(count));
        if (count > 100) {
            EXPECT_NE(values.small(0), 100U);
        }
    }
}

TEST(Permuted, takes_only_the_members_of_a_set) {
    auto program = random_of(0, 0xffffffff);
    program.permute = true;
    program.distinct = 10;
    const Values values(program);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 10; ++i) seen.insert(values.small(i));
    EXPECT_EQ(seen.size(), 10U);
    for (std::uint64_t i = 10; i < 30; ++i) EXPECT_FALSE(seen.insert(values.small(i)).second);
}

TEST(Permuted, large_sets_are_exact_too) {
    auto program = random_of(0, 0xffffffff);
    program.distinct = 100000;
    const Values values(program);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 50000; ++i) seen.insert(values.small(i));
    EXPECT_LT(seen.size(), 50000U);  // birthday: some come twice
    EXPECT_GT(seen.size(), 35000U);
}

TEST(Nested, advances_once_per_whole_cycle_even_of_a_nested_one) {
    auto model = packet({header(eth), header(ipv4, {{"src", increment(1, 3)}, {"dst", increment(1, 4)}}),
                         header(tcp, {{"seq", increment(0, 9)}})});
    model.headers[1].fields[1].program.nest = "ipv4.src";
    model.headers[2].fields[0].program.nest = "ipv4.dst";
    model.headers[2].fields[0].program.every = 2;
    const auto frame = built(model);
    for (std::uint64_t i = 0; i < 500; ++i) {
        const auto bytes = bytes_of(*frame, i);
        EXPECT_EQ(bytes[29], i % 3 + 1);
        EXPECT_EQ(bytes[33], i / 3 % 4 + 1);
        EXPECT_EQ(bytes[41], i / 24 % 10);
    }
}

TEST(Nested, within_more_than_64_bits_of_packets_never_advances) {
    auto model =
        packet({header(eth), header(ipv6, {{"src", increment(0, ~Value{0})}, {"dst", increment(7, 9)}})});
    model.headers[1].fields[1].program.nest = "ipv6.src";
    EXPECT_EQ(bytes_of(*built(model), ~std::uint64_t{0})[53], 7);
}

}  // namespace
}  // namespace volley::packet
