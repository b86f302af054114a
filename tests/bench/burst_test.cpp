#include <gtest/gtest.h>

#include "volley-bench/burst_fit.h"

namespace volley::bench {
namespace {

TEST(BurstFit, finds_what_a_packet_and_a_tail_write_cost_in_the_posting_s_figures) {
    const std::vector<double> bursts{1, 2, 3, 4, 8, 128};
    std::vector<double> costs;
    for (const double mpps : {4.9, 6.6, 7.9, 8.7, 10.3, 12.4}) costs.push_back(1000 / mpps);
    const Fit fit = fit_burst(bursts, costs);
    EXPECT_NEAR(fit.a, 82, 3);
    EXPECT_NEAR(fit.d, 123, 5);
}

TEST(BurstFit, is_exact_for_exact_figures_and_tells_nothing_of_one) {
    const Fit fit = fit_burst({1, 4}, {100, 40});
    EXPECT_NEAR(fit.a, 20, 1e-9);
    EXPECT_NEAR(fit.d, 80, 1e-9);
    EXPECT_EQ(fit_burst({8}, {50}).a, 50);
    EXPECT_EQ(fit_burst({8}, {50}).d, 0);
    EXPECT_EQ(fit_burst({}, {}).a, 0);
}

}  // namespace
}  // namespace volley::bench
