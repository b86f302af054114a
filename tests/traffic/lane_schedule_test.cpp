#include "traffic/lane_schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "model.h"

namespace volley::traffic {
namespace {

using model::all_until;
using model::attended;
using model::due_of_packet;
using model::hold_each_index_once;
using model::hz;
using model::max_stream;
using model::stream;

constexpr Tsc forever = ~Tsc{0};

LaneSchedule started(std::vector<LaneStream> streams, Tsc end = forever, Tsc now = 0) {
    LaneSchedule lane(std::move(streams), end, hz);
    lane.adopt(nullptr, now);
    return lane;
}

class ExactDues : public testing::TestWithParam<std::tuple<Rational, std::uint32_t, std::uint32_t>> {};

TEST_P(ExactDues, every_burst_of_every_lane_falls_due_at_the_floor_of_the_closed_formula) {
    const auto [pps, burst, lanes] = GetParam();
    constexpr Tsc start = 987'654'321;
    constexpr std::uint32_t slot = 5;
    const std::uint32_t bursts = 1'000'000 / lanes;
    for (std::uint32_t l = 0; l < lanes; ++l) {
        LaneStream spec = stream(slot, pps, burst, lanes, l);
        spec.start = start;
        spec.phase = 77;
        LaneSchedule lane = started({spec});
        std::uint64_t ordinal = (l + lanes - slot % lanes) % lanes;
        TemplateBurst out[256];
        for (std::uint32_t done = 0; done < bursts;) {
            const std::uint32_t n = lane.fill(lane.next_due(0), forever, 256, 0, out);
            ASSERT_EQ(n, 256U);
            for (std::uint32_t i = 0; i < n; ++i, ++done, ordinal += lanes) {
                ASSERT_EQ(out[i].first_index, ordinal * burst);
                ASSERT_EQ(out[i].count, burst);
                ASSERT_EQ(out[i].stream, slot);
                ASSERT_EQ(out[i].due, due_of_packet(start + 77, Uint128{ordinal} * burst, pps)) << ordinal;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(rates, ExactDues,
                         testing::Combine(testing::Values(Rational{1, 1}, Rational{3, 7}, Rational{20'000, 1},
                                                          Rational{1'000'003, 1}, Rational{14'880'952, 1},
                                                          Rational{1'250'000'000, 84},
                                                          Rational{9'999'999'999'999, 1'000'003},
                                                          Rational{18'446'744'073'709, 1'000'000}),
                                          testing::Values(1U, 7U, 32U, 256U),
                                          testing::Values(1U, 2U, 3U, 8U)));

TEST(lane_schedule, ten_million_bursts_are_due_where_the_formula_puts_them) {
    const Rational pps{1'250'000'000, 67};
    LaneSchedule lane = started({stream(0, pps, 32)});
    TemplateBurst out[256];
    std::uint64_t ordinal = 0;
    while (ordinal < 10'000'000) {
        const std::uint32_t n = lane.fill(lane.next_due(0), forever, 256, 0, out);
        for (std::uint32_t i = 0; i < n; ++i, ++ordinal) {
            ASSERT_EQ(out[i].due, due_of_packet(0, Uint128{ordinal} * 32, pps));
        }
    }
}

TEST(lane_schedule, many_streams_in_one_lane_are_each_due_where_their_formula_puts_them) {
    std::vector<LaneStream> specs;
    std::mt19937_64 random(1);
    for (std::uint32_t s = 0; s < 200; ++s) {
        specs.push_back(stream(s, reduced(1 + random() % 100'000, 1 + random() % 11), 1 + s % 32));
        specs.back().phase = random() % 100'000;
    }
    LaneSchedule lane = started(specs);
    std::vector<std::uint64_t> next(specs.size(), 0);
    TemplateBurst out[256];
    for (int done = 0; done < 1'000'000; done += 256) {
        ASSERT_EQ(lane.fill(lane.next_due(0), forever, 256, 0, out), 256U);
        for (const TemplateBurst& burst : out) {
            const LaneStream& spec = specs[burst.stream];
            ASSERT_EQ(burst.first_index, next[burst.stream]);
            ASSERT_EQ(burst.due, due_of_packet(spec.phase, burst.first_index, spec.pps));
            next[burst.stream] += burst.count;
        }
    }
}

// B26, B27: where others' 64-bit products of packets, bits or nanoseconds overflow, ours go on exactly.
TEST(lane_schedule, six_billion_packets_and_a_million_seconds_leave_no_drift) {
    for (const Rational pps : {Rational{20'000'000'000, 672}, Rational{20'000, 1}, Rational{333'333, 1000}}) {
        LaneStream spec = stream(0, pps, 256);
        spec.count = endless;
        LaneSchedule lane = started({spec});
        TemplateBurst out[256];
        std::uint64_t packets = 0;
        // 10^15 ns or 6e9 packets, whichever is first: asked in big portions, checked at every portion's end.
        const Tsc last = 1'000'000 * hz;
        for (;;) {
            const std::uint32_t n = lane.fill(lane.next_due(0), forever, 256, 0, out);
            ASSERT_EQ(n, 256U);
            packets += 256 * 256;
            const TemplateBurst& burst = out[255];
            ASSERT_EQ(burst.first_index, packets - 256);
            ASSERT_EQ(burst.due, due_of_packet(0, burst.first_index, pps));
            if (packets >= 6'100'000'000 || burst.due > last) break;
        }
    }
}

TEST(lane_schedule, counts_are_exact_over_any_number_of_lanes) {
    for (const std::uint64_t count : {1U, 7U, 31U, 32U, 33U, 1'000'003U}) {
        for (const std::uint32_t lanes : {1U, 2U, 3U, 8U}) {
            for (const std::uint32_t slot : {0U, 1U, 6U}) {
                std::vector<TemplateBurst> sent;
                for (std::uint32_t l = 0; l < lanes; ++l) {
                    LaneStream spec = stream(slot, {1'000'000, 1}, 32, lanes, l);
                    spec.count = count;
                    LaneSchedule lane = started({spec});
                    const auto part = all_until(lane, 0, forever);
                    EXPECT_TRUE(lane.finished(0));
                    EXPECT_EQ(lane.next_due(0), forever);
                    sent.insert(sent.end(), part.begin(), part.end());
                }
                EXPECT_TRUE(hold_each_index_once(sent, count)) << count << " over " << lanes;
            }
        }
    }
}

TEST(lane_schedule, a_count_of_zero_sends_nothing_and_is_finished) {
    LaneStream spec = stream(0, {1000, 1}, 32);
    spec.count = 0;
    LaneSchedule lane = started({spec});
    EXPECT_TRUE(lane.finished(0));
    EXPECT_TRUE(all_until(lane, 0, forever).empty());
}

std::vector<LaneStream> mixed_streams() {
    std::vector<LaneStream> out;
    std::mt19937_64 random(7);
    for (std::uint32_t i = 0; i < 100; ++i) {
        LaneStream spec = stream(i, {1 + random() % 1'000'000, 1 + random() % 9}, 1 + i % 40);
        spec.phase = random() % 1000;
        spec.start = random() % 10'000'000;
        if (i % 5 == 0) spec.count = random() % 500;
        out.push_back(spec);
    }
    return out;
}

TEST(lane_schedule, the_sequence_is_the_same_however_it_is_portioned) {
    const Tsc end = hz / 11;
    LaneSchedule whole = started(mixed_streams());
    const std::vector<TemplateBurst> expected = all_until(whole, 0, end);
    ASSERT_GT(expected.size(), 10'000U);
    for (std::size_t i = 1; i < expected.size(); ++i) ASSERT_LE(expected[i - 1].due, expected[i].due);
    std::mt19937_64 random(11);
    LaneSchedule portioned = started(mixed_streams());
    std::vector<TemplateBurst> got;
    TemplateBurst out[64];
    for (Tsc until = 0; until < end;) {
        until = std::min<Tsc>(end, until + random() % 20'000);
        const auto room = static_cast<std::uint32_t>(random() % 65);
        const std::uint32_t n = portioned.fill(until, until, room, 0, out);
        for (std::uint32_t i = 0; i < n; ++i) ASSERT_LE(out[i].due, until);
        got.insert(got.end(), out, out + n);
        if (n < room) continue;
        until -= std::min<Tsc>(until, 10'000);
    }
    const auto rest = all_until(portioned, end, end);
    got.insert(got.end(), rest.begin(), rest.end());
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].due, expected[i].due);
        ASSERT_EQ(got[i].stream, expected[i].stream);
        ASSERT_EQ(got[i].first_index, expected[i].first_index);
        ASSERT_EQ(got[i].count, expected[i].count);
    }
}

// B25: the clock of a stream with a start delay begins at its start.
TEST(lane_schedule, a_delayed_stream_begins_at_its_start_without_a_burst) {
    LaneStream spec = stream(0, {1000, 1}, 1);
    spec.start = 5 * hz;
    LaneSchedule lane = started({spec});
    EXPECT_TRUE(all_until(lane, 5 * hz - 1, 5 * hz - 1).empty());
    EXPECT_EQ(lane.next_due(0), 5 * hz);
    EXPECT_EQ(attended(lane, 5 * hz, 6 * hz - 1).size(), 1000U);
}

TEST(lane_schedule, a_stream_adopted_late_begins_on_its_own_grid_without_a_burst) {
    LaneStream spec = stream(0, {1000, 1}, 1, 3, 1);
    spec.phase = 500;
    LaneSchedule lane = started({spec}, forever, 10 * hz + 1);
    const auto sent = all_until(lane, 10 * hz + 1, 10 * hz + hz / 10);
    ASSERT_GE(sent.size(), 33U);
    EXPECT_EQ(sent[0].first_index, 1U);
    EXPECT_GT(sent[0].due, 10 * hz);
    EXPECT_LE(sent[0].due, 10 * hz + 3 * hz / 1000 + 500);
    EXPECT_EQ((sent[0].due - 500) % (hz / 1000), 0U);
    EXPECT_EQ((sent[0].due - 500) / (hz / 1000) % 3, 1U);
}

TEST(lane_schedule, a_lane_that_adopts_its_first_plan_late_but_within_the_limit_sends_all_it_owes) {
    LaneSchedule lane = started({stream(0, {1000, 1}, 1)}, forever, hz / 20 + 1);
    const auto sent = all_until(lane, hz / 20 + 1, hz / 10 - 1);
    ASSERT_EQ(sent.size(), 100U);
    EXPECT_EQ(sent[0].first_index, 0U);
    EXPECT_EQ(sent[0].due, 0U);
}

// A time of day before the plan's zero: nothing is owed up to zero, and all that fell due since.
TEST(lane_schedule, a_stream_of_a_past_time_of_day_owes_what_fell_due_since_the_plans_zero) {
    const Tsc zero = 10 * hz + hz / 2000;
    for (const bool groups : {false, true}) {
        LaneStream spec = stream(0, {1000, 1}, 1);
        spec.start = hz;
        spec.fixed_start = true;
        Shape shape;
        shape.legs.push_back({1, {}, false, 0, 0, {hz / 1000, 0}, false});
        shape.rounds = 0;
        if (groups) spec.shape = &shape;
        LaneSchedule lane({spec}, forever, hz, zero);
        lane.adopt(nullptr, zero + hz / 20);
        const auto sent = all_until(lane, zero + hz / 20, zero + hz / 10);
        ASSERT_EQ(sent.size(), 100U) << groups;
        for (std::uint64_t i = 0; i < sent.size(); ++i) {
            EXPECT_EQ(sent[i].first_index, i);
            EXPECT_EQ(sent[i].due, 10 * hz + (i + 1) * (hz / 1000));
        }
    }
}

TEST(lane_schedule, a_lane_that_stalls_within_the_limit_sends_all_it_owes) {
    std::vector<TemplateBurst> sent;
    for (std::uint32_t l = 0; l < 3; ++l) {
        LaneSchedule lane = started({stream(0, {1'000'000, 1}, 32, 3, l)});
        for (Tsc now = 0; now <= hz / 5; now += hz / 10'000) {
            if (l == 1 && now > hz / 10 && now < hz / 10 + hz / 100) continue;  // off for 10 ms
            const auto part = all_until(lane, now, now);
            sent.insert(sent.end(), part.begin(), part.end());
        }
        lane.take_slips([](StreamSlot, std::uint64_t, std::uint64_t) { ADD_FAILURE() << "slipped"; });
    }
    EXPECT_TRUE(hold_each_index_once(sent, 200'000 / 32 * 32 + 32));
}

TEST(lane_schedule, a_lane_off_for_a_second_slips_alone_and_loses_no_ordinal) {
    constexpr std::uint64_t count = 3'000'001;
    std::vector<TemplateBurst> sent;
    std::uint64_t slips = 0;
    std::uint64_t given_up = 0;
    for (std::uint32_t l = 0; l < 3; ++l) {
        LaneStream spec = stream(4, {1'000'000, 1}, 32, 3, l);
        spec.count = count;
        LaneSchedule lane = started({spec});
        std::size_t before = 0;
        for (Tsc now = 0; !lane.finished(now); now += hz / 1000) {
            if (l == 1 && now > hz && now < 2 * hz) continue;
            const auto part = all_until(lane, now, now);
            if (l != 1 && now == 2 * hz) before = part.size();
            for (const TemplateBurst& burst : part) {
                // On its own grid always, before the slip and after.
                ASSERT_EQ(burst.due % (hz * 32 / 1'000'000), 0U);
                ASSERT_GE(burst.due + hz / 10, now);
            }
            sent.insert(sent.end(), part.begin(), part.end());
        }
        EXPECT_EQ(before > 0, l != 1);
        lane.take_slips([&](StreamSlot slot, std::uint64_t n, std::uint64_t packets) {
            EXPECT_EQ(slot.value, 4U);
            slips += n;
            given_up += packets;
        });
        lane.take_slips([](StreamSlot, std::uint64_t, std::uint64_t) { ADD_FAILURE() << "told twice"; });
    }
    EXPECT_EQ(slips, 1U);
    EXPECT_NEAR(static_cast<double>(given_up), 1e6 / 3, 1e4);
    EXPECT_TRUE(hold_each_index_once(sent, count));
}

TEST(lane_schedule, the_end_cuts_exactly_and_no_burst_falls_due_at_it) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 2000; ++round) {
        const Rational pps = reduced(1 + random() % 2'000'000, 1 + random() % 13);
        const auto burst = static_cast<std::uint32_t>(1 + random() % 64);
        const auto lanes = static_cast<std::uint32_t>(1 + random() % 4);
        const Tsc start = 1000 + random() % hz;
        const Tsc span = random() % (hz / 50) + 1;
        const auto interval = static_cast<Tsc>(Uint128{burst} * hz * pps.den / pps.num);
        const Tsc phase = interval == 0 ? 0 : random() % interval;
        std::uint64_t packets = 0;
        std::vector<TemplateBurst> sent;
        for (std::uint32_t l = 0; l < lanes; ++l) {
            LaneStream spec = stream(9, pps, burst, lanes, l);
            spec.start = start;
            spec.phase = phase;
            LaneSchedule lane = started({spec}, start + span);
            const auto part = attended(lane, start, start + span);
            sent.insert(sent.end(), part.begin(), part.end());
            EXPECT_EQ(lane.next_due(start), forever);
            EXPECT_TRUE(lane.finished(start + span));
        }
        for (const TemplateBurst& burst_sent : sent) {
            packets += burst_sent.count;
            ASSERT_LT(burst_sent.due, start + span);
        }
        const std::uint64_t expected = model::ceil_div(Uint128{span} * pps.num, Uint128{hz} * pps.den);
        ASSERT_EQ(packets, expected) << pps.num << '/' << pps.den << " burst " << burst << " lanes " << lanes;
        ASSERT_TRUE(hold_each_index_once(sent, expected));
    }
}

TEST(lane_schedule, a_stall_costs_packets_of_a_run_that_ends_but_the_lane_finishes) {
    LaneSchedule lane = started({stream(0, {1000, 1}, 1)}, hz);
    EXPECT_EQ(all_until(lane, hz / 2, hz / 2).size(), 1U);
    EXPECT_EQ(attended(lane, hz / 2, hz).size(), 499U);
    EXPECT_TRUE(lane.finished(hz));
    std::uint64_t lost = 0;
    lane.take_slips([&](StreamSlot, std::uint64_t, std::uint64_t packets) { lost = packets; });
    EXPECT_EQ(lost, 500U);
}

TEST(lane_schedule, a_lane_that_wakes_long_after_the_end_sends_nothing_more) {
    LaneSchedule lane = started({stream(0, {1000, 1}, 1)}, hz);
    EXPECT_FALSE(lane.finished(2 * hz));
    EXPECT_TRUE(all_until(lane, 2 * hz, 2 * hz).empty());
    EXPECT_TRUE(lane.finished(2 * hz));
}

std::map<std::uint32_t, std::uint64_t> packets_by_stream(const std::vector<TemplateBurst>& bursts) {
    std::map<std::uint32_t, std::uint64_t> out;
    for (const TemplateBurst& burst : bursts) out[burst.stream] += burst.count;
    return out;
}

std::vector<TemplateBurst> filled(LaneSchedule& lane, Tsc now, Tsc until, std::uint32_t room,
                                  std::uint32_t max_room) {
    std::vector<TemplateBurst> out(room);
    out.resize(lane.fill(now, until, room, max_room, out.data()));
    return out;
}

TEST(lane_schedule, streams_at_max_share_by_weight) {
    LaneSchedule lane = started({max_stream(0, 32, 7), max_stream(1, 32, 4), max_stream(2, 8, 1)});
    EXPECT_TRUE(lane.has_max());
    std::vector<TemplateBurst> sent;
    for (Tsc now = 0; now < 12'000; ++now) {
        for (const TemplateBurst& burst : filled(lane, now, now, 16, 16)) {
            EXPECT_EQ(burst.due, now);
            sent.push_back(burst);
        }
    }
    const auto packets = packets_by_stream(sent);
    const double total = static_cast<double>(packets.at(0) + packets.at(1) + packets.at(2));
    EXPECT_NEAR(static_cast<double>(packets.at(0)), total * 7 / 12, 64);
    EXPECT_NEAR(static_cast<double>(packets.at(1)), total * 4 / 12, 64);
    EXPECT_NEAR(static_cast<double>(packets.at(2)), total * 1 / 12, 64);
    EXPECT_FALSE(lane.finished(12'000));
}

TEST(lane_schedule, max_fills_at_most_its_room_and_paced_bursts_go_first_but_never_early) {
    LaneSchedule lane = started({max_stream(0, 32), stream(1, {1000, 1}, 1)});
    const auto first = filled(lane, 0, hz / 5000, 8, 4);
    ASSERT_EQ(first.size(), 5U);
    EXPECT_EQ(first[0].stream, 1U);
    for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(first[i].stream, 0U);
    EXPECT_EQ(packets_by_stream(filled(lane, hz / 1000 - 1, hz / 1000, 8, 8)).count(1), 0U);
    EXPECT_EQ(filled(lane, hz / 1000, hz / 1000, 8, 8)[0].stream, 1U);
}

TEST(lane_schedule, a_counted_stream_at_max_is_exact_and_leaves_the_rest_to_the_others) {
    LaneStream counted = max_stream(0, 32);
    counted.count = 1'000'003;
    LaneStream late = max_stream(1, 32);
    late.start = 1'000'000;
    LaneSchedule lane = started({counted, late}, 2'000'000);
    std::vector<TemplateBurst> sent;
    for (Tsc now = 0; now < 2'000'100; now += 10) {
        for (const TemplateBurst& burst : filled(lane, now, now + 500'000, 1, 1)) {
            ASSERT_TRUE(burst.stream == 0 || now >= 1'000'000);
            ASSERT_LT(now, Tsc{2'000'000});
            ASSERT_FALSE(lane.finished(now));
            sent.push_back(burst);
        }
    }
    EXPECT_EQ(packets_by_stream(sent)[0], 1'000'003U);
    EXPECT_EQ(packets_by_stream(sent)[1], 100'000 * 32U);
    EXPECT_TRUE(lane.finished(2'000'000));
    EXPECT_EQ(lane.next_due(2'000'000), forever);
}

TEST(lane_schedule, a_paused_stream_sends_nothing_and_holds_the_lane_open_until_the_end) {
    LaneStream paused = stream(0, {1000, 1}, 1);
    paused.paused = true;
    LaneSchedule lane = started({paused, stream(1, {0, 1}, 1)}, hz);
    EXPECT_TRUE(all_until(lane, hz / 2, hz / 2).empty());
    EXPECT_FALSE(lane.finished(hz / 2));
    EXPECT_EQ(lane.next_due(hz / 2), hz);
    EXPECT_TRUE(lane.finished(hz));
    EXPECT_EQ(lane.next_due(hz), forever);
}

}  // namespace
}  // namespace volley::traffic
