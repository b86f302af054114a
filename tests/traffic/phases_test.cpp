#include "traffic/phases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace volley::traffic {
namespace {

constexpr std::uint64_t hz = 2'300'000'000;

PhaseSeat seat(Rational pps, std::uint32_t burst = 1) {
    return {interval_of(pps, hz), burst, 0, 0, false, false, 0};
}

std::vector<Tsc> sorted_phases(const std::vector<PhaseSeat>& seats) {
    std::vector<Tsc> out;
    for (const PhaseSeat& seat : seats) out.push_back(seat.phase);
    std::sort(out.begin(), out.end());
    return out;
}

TEST(phases, a_stream_alone_has_none) {
    std::vector<PhaseSeat> seats{seat({1000, 1})};
    assign_phases(seats);
    EXPECT_EQ(seats[0].phase, 0U);
}

TEST(phases, equal_streams_are_staggered_evenly_over_one_burst_interval) {
    std::vector<PhaseSeat> seats(7, seat({1000, 1}, 4));
    assign_phases(seats);
    for (std::size_t i = 0; i < 7; ++i) {
        EXPECT_NEAR(static_cast<double>(seats[i].phase),
                    static_cast<double>(hz) * 4 / 1000 * static_cast<double>(i) / 7, 1);
    }
}

TEST(phases, streams_that_join_take_the_widest_gaps_and_nobody_else_moves) {
    std::vector<PhaseSeat> seats(4, seat({1000, 1}));
    assign_phases(seats);
    for (PhaseSeat& running : seats) running.kept = true;
    const std::vector<PhaseSeat> before = seats;
    for (int i = 0; i < 4; ++i) {
        PhaseSeat joining = seat({1000, 1});
        joining.start = 12'345'678;  // joins later: its own start is another zero
        seats.insert(seats.begin(), joining);
    }
    assign_phases(seats);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(seats[i + 4].phase, before[i].phase);
    std::vector<Tsc> positions;
    for (const PhaseSeat& s : seats) {
        EXPECT_LT(s.phase, hz / 1000);
        positions.push_back((s.start + s.phase) % (hz / 1000));
    }
    std::sort(positions.begin(), positions.end());
    for (std::size_t i = 1; i < positions.size(); ++i) {
        EXPECT_NEAR(static_cast<double>(positions[i] - positions[i - 1]), hz / 8000.0, 2);
    }
}

TEST(phases, streams_of_other_rates_neither_start_together_nor_wait_long) {
    std::vector<PhaseSeat> seats;
    for (std::uint64_t i = 0; i < 1000; ++i) seats.push_back(seat({10'000 + i, 100}));
    assign_phases(seats);
    const auto phases = sorted_phases(seats);
    // Over any tenth of the first period no more start than a few times their share.
    for (Tsc from = 0; from < hz / 100; from += hz / 1000) {
        const auto in_tenth = std::count_if(phases.begin(), phases.end(),
                                            [&](Tsc p) { return p >= from && p < from + hz / 1000; });
        EXPECT_LE(in_tenth, 300);
    }
    std::vector<PhaseSeat> two{seat({1000, 1}), seat({1, 10})};
    assign_phases(two);
    EXPECT_GT(two[1].phase, 0U);
    EXPECT_LT(two[1].phase, hz / 100);
}

TEST(phases, a_phase_is_below_its_burst_interval) {
    std::vector<PhaseSeat> seats;
    for (std::uint64_t i = 1; i < 500; ++i)
        seats.push_back(seat(reduced(i * i, 1 + i % 7), static_cast<std::uint32_t>(1 + i % 32)));
    assign_phases(seats);
    for (const PhaseSeat& s : seats) EXPECT_LT(s.phase, span_of(s.interval, s.burst).whole + 1);
}

}  // namespace
}  // namespace volley::traffic
