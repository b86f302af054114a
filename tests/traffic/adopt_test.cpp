#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "model.h"
#include "traffic/lane_schedule.h"

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
using Bursts = std::vector<TemplateBurst>;

std::unique_ptr<LaneSchedule> lane_of(std::vector<LaneStream> streams, const LaneSchedule* previous, Tsc now,
                                      Tsc end = forever) {
    if (previous != nullptr) {
        for (std::uint32_t i = 0; i < streams.size(); ++i) streams[i].previous = i;
    }
    auto lane = std::make_unique<LaneSchedule>(std::move(streams), end, hz);
    lane->adopt(previous, now);
    return lane;
}

Bursts of_stream(const Bursts& bursts, std::uint32_t slot) {
    Bursts out;
    for (const TemplateBurst& burst : bursts) {
        if (burst.stream == slot) out.push_back(burst);
    }
    return out;
}

std::uint64_t packets_in_all(const Bursts& bursts) {
    std::uint64_t out = 0;
    for (const TemplateBurst& burst : bursts) out += burst.count;
    return out;
}

TEST(adopt, a_hundred_generations_at_other_times_in_every_lane_lose_and_repeat_nothing) {
    std::mt19937_64 random(23);
    constexpr std::uint32_t lanes = 3;
    constexpr std::uint32_t streams = 6;
    constexpr std::uint64_t count = 40'003;
    std::vector<std::unique_ptr<LaneSchedule>> lane(lanes);
    std::vector<Tsc> now(lanes, 0);
    Bursts sent;
    const auto take = [&](std::uint32_t l, Tsc until) {
        TemplateBurst out[64];
        for (; now[l] < until; now[l] = std::min(until, now[l] + hz / 20'000)) {
            const std::uint32_t n = lane[l]->fill(now[l], now[l] + hz / 5000, 64, 2, out);
            sent.insert(sent.end(), out, out + n);
        }
    };
    for (int generation = 0; generation <= 100; ++generation) {
        std::vector<LaneStream> specs;
        for (std::uint32_t s = 0; s < streams; ++s) {
            LaneStream spec = stream(s, {1 + random() % 200'000, 1 + random() % 3}, 1 + 5 * s, lanes);
            if (random() % 3 == 0) spec.pps = {50'000, 1};
            spec.max = random() % 8 == 0;
            spec.paused = random() % 8 == 0;
            spec.count = count;
            if (generation == 100) spec = stream(s, {2'000'000, 1}, 1 + 5 * s, lanes);
            spec.count = count;
            specs.push_back(spec);
        }
        const Tsc change = static_cast<Tsc>(generation) * hz / 500;
        for (std::uint32_t l = 0; l < lanes; ++l) {
            std::vector<LaneStream> own = specs;
            for (LaneStream& spec : own) spec.first = (l + lanes - spec.slot.value % lanes) % lanes;
            if (generation > 0) take(l, change + random() % (hz / 1000));
            lane[l] = lane_of(own, lane[l].get(), now[l]);
        }
    }
    for (std::uint32_t l = 0; l < lanes; ++l) {
        while (!lane[l]->finished(now[l])) take(l, now[l] + hz / 1000);
    }
    for (std::uint32_t s = 0; s < streams; ++s) {
        EXPECT_TRUE(hold_each_index_once(of_stream(sent, s), count)) << s;
    }
}

TEST(adopt, untouched_streams_keep_their_dues_to_the_tick) {
    const std::vector<LaneStream> before{stream(0, {1'000'003, 7}, 3), stream(1, {999, 1}, 2),
                                         stream(2, {77'777, 1}, 8)};
    std::vector<LaneStream> after = before;
    after[1].pps = {12'345, 1};
    auto undisturbed = lane_of(before, nullptr, 0);
    const Bursts expected = attended(*undisturbed, 0, hz / 2);
    auto lane = lane_of(before, nullptr, 0);
    Bursts got;
    std::mt19937_64 random(5);
    for (Tsc now = 0; now < hz / 2;) {
        const Tsc until = std::min<Tsc>(hz / 2, now + random() % (hz / 100));
        const Bursts part = attended(*lane, now, until);
        got.insert(got.end(), part.begin(), part.end());
        lane = lane_of(random() % 2 ? before : after, lane.get(), until);
        now = until + 1;
    }
    for (const std::uint32_t s : {0U, 2U}) {
        const Bursts a = of_stream(expected, s);
        const Bursts b = of_stream(got, s);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            ASSERT_EQ(a[i].due, b[i].due);
            ASSERT_EQ(a[i].first_index, b[i].first_index);
        }
    }
}

TEST(adopt, a_new_rate_acts_within_one_new_lane_interval_and_packets_follow_its_integral) {
    std::mt19937_64 random(9);
    for (const std::uint32_t lanes : {1U, 2U, 5U}) {
        const std::uint32_t burst = 4;
        double due_packets = 0;  // the integral of the rate
        double pps = 1000;
        std::uint64_t packets = 0;
        std::vector<std::unique_ptr<LaneSchedule>> lane(lanes);
        for (std::uint32_t l = 0; l < lanes; ++l)
            lane[l] = lane_of({stream(1, {1000, 1}, burst, lanes, l)}, nullptr, 0);
        Tsc now = 0;
        for (int change = 0; change < 300; ++change) {
            const Tsc span = random() % (hz / 20);
            for (std::uint32_t l = 0; l < lanes; ++l)
                packets += packets_in_all(attended(*lane[l], now, now + span));
            now += span;
            due_packets += pps * static_cast<double>(span) / static_cast<double>(hz);
            ASSERT_NEAR(static_cast<double>(packets), due_packets, burst + 1.0)
                << change << " over " << lanes;
            const Rational rate = reduced(1 + random() % (change % 3 == 0 ? 1'000'000 : 2'000), 1);
            pps = static_cast<double>(rate.num);
            const auto interval = static_cast<Tsc>(static_cast<double>(hz) * burst * lanes / pps) + 1;
            for (std::uint32_t l = 0; l < lanes; ++l) {
                lane[l] = lane_of({stream(1, rate, burst, lanes, l)}, lane[l].get(), now);
                ASSERT_LE(lane[l]->next_due(now), now + interval);
            }
        }
    }
}

// What was emitted ahead would otherwise be stretched, too: 200 us of a fast rate to minutes of a slow one.
TEST(adopt, a_much_lower_rate_sends_within_one_of_its_intervals_behind_what_was_emitted_ahead) {
    LaneSchedule fast({model::stream(0, {1'000'000, 1}, 1)}, ~Tsc{0}, model::hz);
    fast.adopt(nullptr, 0);
    const Tsc now = model::hz / 10;
    model::all_until(fast, now, now + model::hz / 5'000);
    LaneStream spec = model::stream(0, {10, 1}, 1);
    spec.previous = 0;
    LaneSchedule slow({spec}, ~Tsc{0}, model::hz);
    slow.adopt(&fast, now);
    EXPECT_GE(slow.next_due(now), now + model::hz / 5'000);
    EXPECT_LE(slow.next_due(now), now + model::hz / 5'000 + model::hz / 10);
}

TEST(adopt, equal_streams_stay_apart_when_all_their_rates_change) {
    std::vector<LaneStream> slow;
    std::vector<LaneStream> fast;
    for (std::uint32_t s = 0; s < 100; ++s) {
        slow.push_back(stream(s, {1, 1}, 1));
        slow.back().phase = s * hz / 100;
        fast.push_back(slow.back());
        fast.back().pps = {1000, 1};
    }
    auto lane = lane_of(slow, nullptr, 0);
    attended(*lane, 0, hz / 3);
    auto next = lane_of(fast, lane.get(), hz / 3);
    const Bursts sent = all_until(*next, hz / 3, hz / 3 + hz / 1000);
    EXPECT_NEAR(static_cast<double>(sent.size()), 100, 1);
    for (std::size_t i = 1; i < sent.size(); ++i) {
        EXPECT_NEAR(static_cast<double>(sent[i].due - sent[i - 1].due), hz / 100'000.0, 3);
    }
}

TEST(adopt, a_paused_stream_resumes_on_its_grid_at_its_index_without_a_burst) {
    LaneStream running = stream(0, {1000, 1}, 1);
    LaneStream paused = running;
    paused.paused = true;
    auto lane = lane_of({running}, nullptr, 0);
    EXPECT_EQ(attended(*lane, 0, hz / 10).size(), 101U);
    lane = lane_of({paused}, lane.get(), hz / 10);
    EXPECT_TRUE(attended(*lane, hz / 10, hz).empty());
    EXPECT_FALSE(lane->finished(hz));
    lane = lane_of({paused}, lane.get(), hz / 2);
    lane = lane_of({running}, lane.get(), hz + 1);
    const Bursts sent = attended(*lane, hz + 1, hz + hz / 10);
    ASSERT_EQ(sent.size(), 100U);
    EXPECT_EQ(sent[0].first_index, 101U);
    EXPECT_EQ(sent[0].due, hz + hz / 1000);
}

TEST(adopt, even_a_short_pause_is_not_made_up_for) {
    LaneStream running = stream(0, {1000, 1}, 1);
    LaneStream paused = running;
    paused.paused = true;
    auto lane = lane_of({running}, nullptr, 0);
    attended(*lane, 0, hz / 10);
    lane = lane_of({paused}, lane.get(), hz / 10);
    lane = lane_of({running}, lane.get(), hz / 10 + hz / 20);
    EXPECT_EQ(all_until(*lane, hz / 10 + hz / 20, hz / 10 + hz / 20).size(), 1U);
    lane->take_slips([](StreamSlot, std::uint64_t, std::uint64_t) { ADD_FAILURE() << "a pause is no slip"; });
}

TEST(adopt, a_stream_added_live_starts_on_its_grid_and_a_removed_one_ends) {
    auto lane = lane_of({stream(0, {1000, 1}, 1)}, nullptr, 0);
    attended(*lane, 0, hz / 10);
    LaneStream added = stream(1, {500, 1}, 1);
    added.start = hz / 10;
    added.phase = 1000;
    lane = lane_of({}, lane.get(), hz / 10);
    EXPECT_TRUE(lane->finished(hz / 10));
    auto next = std::make_unique<LaneSchedule>(std::vector{added}, forever, hz);
    next->adopt(lane.get(), hz / 10 + 1);
    const Bursts sent = attended(*next, hz / 10 + 1, hz / 5);
    ASSERT_EQ(sent.size(), 50U);
    EXPECT_EQ(sent[0].stream, 1U);
    EXPECT_EQ(sent[0].first_index, 0U);
    EXPECT_EQ(sent[0].due, hz / 10 + 1000);
}

TEST(adopt, a_duration_lasts_as_long_when_the_rate_changes_within_it) {
    const auto lasting = [](std::uint64_t pps) {
        LaneStream spec = stream(0, {pps, 1}, 1);
        spec.duration = {1'000'000'000};
        spec.duration_packets = pps;
        return spec;
    };
    auto lane = lane_of({lasting(1000)}, nullptr, 0);
    EXPECT_EQ(attended(*lane, 0, hz / 2).size(), 501U);
    lane = lane_of({lasting(4000)}, lane.get(), hz / 2);
    const Bursts sent = attended(*lane, hz / 2, 2 * hz);
    EXPECT_NEAR(static_cast<double>(sent.size()), 2000, 4);
    EXPECT_NEAR(static_cast<double>(sent.back().due), hz, hz / 1000.0);
    EXPECT_TRUE(lane->finished(2 * hz));
}

TEST(adopt, the_run_still_ends_exactly_where_the_integral_of_the_rate_does) {
    auto lane = lane_of({stream(0, {1000, 1}, 8)}, nullptr, 0, hz);
    std::uint64_t packets = packets_in_all(attended(*lane, 0, hz / 4));
    lane = lane_of({stream(0, {3000, 1}, 8)}, lane.get(), hz / 4, hz);
    packets += packets_in_all(attended(*lane, hz / 4, hz));
    EXPECT_NEAR(static_cast<double>(packets), 250 + 2250, 1);
    EXPECT_TRUE(lane->finished(hz));
}

TEST(adopt, an_end_that_moves_is_followed) {
    auto lane = lane_of({stream(0, {1000, 1}, 8)}, nullptr, 0, hz);
    std::uint64_t packets = packets_in_all(attended(*lane, 0, hz / 4));
    lane = lane_of({stream(0, {1000, 1}, 8)}, lane.get(), hz / 4, hz / 2);
    packets += packets_in_all(attended(*lane, hz / 4, hz));
    EXPECT_EQ(packets, 500U);
    lane = lane_of({stream(0, {1000, 1}, 8)}, lane.get(), hz, 2 * hz);
    const Bursts more = attended(*lane, hz, 2 * hz);
    ASSERT_FALSE(more.empty());
    EXPECT_EQ(more[0].first_index, 500U);
}

TEST(adopt, a_count_that_grows_is_sent_and_one_that_shrinks_ends_the_stream) {
    LaneStream spec = stream(0, {1000, 1}, 1);
    spec.count = 100;
    auto lane = lane_of({spec}, nullptr, 0);
    EXPECT_EQ(attended(*lane, 0, hz).size(), 100U);
    EXPECT_TRUE(lane->finished(hz));
    spec.count = 150;
    lane = lane_of({spec}, lane.get(), hz);
    const Bursts more = attended(*lane, hz, 2 * hz);
    ASSERT_EQ(more.size(), 50U);
    EXPECT_EQ(more[0].first_index, 100U);
    spec.count = 120;
    lane = lane_of({spec}, lane.get(), 2 * hz);
    EXPECT_TRUE(lane->finished(2 * hz));
}

TEST(adopt, a_burst_that_a_count_cut_is_completed_when_the_count_grows) {
    for (const bool max : {false, true}) {
        std::vector<std::unique_ptr<LaneSchedule>> lane(3);
        Bursts sent;
        Tsc now = 0;
        for (const std::uint64_t count : {7U, 33U, 34U, 40U, 100U, 1000U}) {
            for (std::uint32_t l = 0; l < 3; ++l) {
                LaneStream spec = stream(2, {100'000, 1}, 32, 3, l);
                spec.max = max;
                spec.count = count;
                lane[l] = lane_of({spec}, lane[l].get(), now);
                TemplateBurst out[4];
                for (Tsc t = now; !lane[l]->finished(t); t += hz / 1000) {
                    const std::uint32_t n = lane[l]->fill(t, t, 4, 4, out);
                    sent.insert(sent.end(), out, out + n);
                    ASSERT_LT(t, now + hz);
                }
            }
            now += hz;
            ASSERT_TRUE(hold_each_index_once(sent, count)) << count;
        }
    }
}

TEST(adopt, a_stream_goes_on_at_its_index_between_max_and_a_rate) {
    LaneStream paced = stream(0, {1000, 1}, 4);
    LaneStream max = max_stream(0, 4);
    auto lane = lane_of({paced}, nullptr, 0);
    EXPECT_EQ(attended(*lane, 0, hz / 100 - 1).size(), 3U);
    lane = lane_of({max}, lane.get(), hz / 100);
    TemplateBurst out[4];
    ASSERT_EQ(lane->fill(hz / 100, hz / 100, 4, 4, out), 4U);
    EXPECT_EQ(out[0].first_index, 12U);
    lane = lane_of({paced}, lane.get(), hz / 50);
    const Bursts sent = attended(*lane, hz / 50, hz / 50 + hz / 100 - 1);
    ASSERT_EQ(sent.size(), 3U);
    EXPECT_EQ(sent[0].first_index, 28U);
    EXPECT_EQ(sent[0].due, hz / 50);
}

TEST(adopt, weights_hold_over_adoptions_after_every_burst) {
    std::vector<std::uint64_t> packets(3, 0);
    std::unique_ptr<LaneSchedule> lane;
    for (Tsc now = 0; now < 24'000; ++now) {
        lane = lane_of({max_stream(0, 8, 3), max_stream(1, 8, 2), max_stream(2, 8, 1)}, lane.get(), now);
        TemplateBurst out[1];
        ASSERT_EQ(lane->fill(now, now, 1, 1, out), 1U);
        packets[out[0].stream] += out[0].count;
    }
    EXPECT_NEAR(static_cast<double>(packets[0]), 96'000, 16);
    EXPECT_NEAR(static_cast<double>(packets[1]), 64'000, 16);
    EXPECT_NEAR(static_cast<double>(packets[2]), 32'000, 16);
}

TEST(adopt, a_start_that_is_moved_before_it_is_reached_is_followed) {
    LaneStream spec = stream(0, {1000, 1}, 1);
    spec.start = hz;
    auto lane = lane_of({spec}, nullptr, 0);
    spec.start = hz / 2;
    lane = lane_of({spec}, lane.get(), hz / 4);
    EXPECT_EQ(lane->next_due(hz / 4), hz / 2);
    spec.pps = {10, 1};
    lane = lane_of({spec}, lane.get(), hz / 3);
    EXPECT_EQ(lane->next_due(hz / 3), hz / 2);
}

TEST(adopt, slips_that_nobody_took_go_along) {
    const std::vector<LaneStream> streams{stream(0, {1000, 1}, 1), stream(1, {10, 1}, 1)};
    auto lane = lane_of(streams, nullptr, 0);
    all_until(*lane, hz, hz);
    lane = lane_of(streams, lane.get(), hz);
    std::vector<std::uint64_t> packets(2, 0);
    lane->take_slips([&](StreamSlot slot, std::uint64_t, std::uint64_t n) { packets[slot.value] = n; });
    EXPECT_EQ(packets[0], 1000U);
    EXPECT_EQ(packets[1], 10U);
}

}  // namespace
}  // namespace volley::traffic
