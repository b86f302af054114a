#include "base/tsc.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/tsc_drift.h"

namespace volley {
namespace {

TEST(Tsc, is_checked_against_the_clock_it_was_measured_by_over_a_growing_span) {
    tsc_hz();
    const TscDrift first = tsc_drift();
    const TscDrift second = tsc_drift();
    EXPECT_GE(first.span_ns, 50'000'000U);
    EXPECT_GT(second.span_ns, first.span_ns);
    // A steady counter: what is left is the width of the readings over the span.
    EXPECT_LT(std::abs(second.ppm), 1000);
}

}  // namespace
}  // namespace volley
