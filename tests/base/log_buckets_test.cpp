#include "base/log_buckets.h"

#include <gtest/gtest.h>

namespace volley {
namespace {

TEST(LogBuckets, every_value_lies_in_the_bucket_whose_bounds_hold_it) {
    for (std::uint64_t value = 0; value < (std::uint64_t{1} << 33); value = value * 9 / 8 + 1) {
        const std::size_t i = LatenessBuckets::index(value);
        ASSERT_LE(value, LatenessBuckets::upper(i));
        if (i > 0) {
            ASSERT_GT(value, LatenessBuckets::upper(i - 1));
        }
    }
}

TEST(LogBuckets, every_upper_bound_is_the_last_value_of_its_bucket) {
    for (std::size_t i = 0; i + 1 < LatenessBuckets::size; ++i) {
        ASSERT_EQ(LatenessBuckets::index(LatenessBuckets::upper(i)), i);
        ASSERT_EQ(LatenessBuckets::index(LatenessBuckets::upper(i) + 1), i + 1);
    }
}

TEST(LogBuckets, every_lower_bound_follows_the_upper_one_of_the_bucket_before) {
    EXPECT_EQ(LatencyBuckets::lower(0), 0U);
    for (std::size_t i = 1; i < LatencyBuckets::size; ++i) {
        ASSERT_EQ(LatencyBuckets::lower(i), LatencyBuckets::upper(i - 1) + 1);
    }
}

TEST(LogBuckets, a_bucket_is_never_wider_than_its_promised_part_of_the_value) {
    for (std::size_t i = 5; i + 1 < LatenessBuckets::size; ++i) {
        const std::uint64_t width = LatenessBuckets::upper(i) - LatenessBuckets::upper(i - 1);
        ASSERT_LE(width * 4, LatenessBuckets::upper(i - 1) + 1);
    }
}

TEST(LogBuckets, the_largest_values_share_the_last_bucket) {
    EXPECT_EQ(LatenessBuckets::index(~std::uint64_t{0}), LatenessBuckets::size - 1);
    EXPECT_EQ(LatenessBuckets::size, 132U);
}

}  // namespace
}  // namespace volley
