#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "model.h"
#include "traffic/lane_schedule.h"
#include "traffic/shape.h"

namespace volley::traffic {
namespace {

using model::attended;
using model::ceil_div;
using model::hold_each_index_once;
using model::hz;
using model::max_stream;
using model::stream;

constexpr Tsc forever = ~Tsc{0};
using Bursts = std::vector<TemplateBurst>;
using Lane = std::unique_ptr<LaneSchedule>;

Leg packets_at(std::uint64_t packets, Rational pps) {
    Leg leg;
    leg.packets = packets;
    leg.interval = interval_of(pps, hz);
    leg.span = instant_of(span_of(leg.interval, packets), leg.interval.den);
    return leg;
}

/// `packets` at pps, then nothing for gap ticks.
Leg group(std::uint64_t packets, Rational pps, Tsc gap) {
    Leg leg = packets_at(packets, pps);
    leg.span = leg.span + Instant{gap, 0};
    return leg;
}

Leg step(Rational pps, Duration span) {
    Leg leg;
    leg.timed = true;
    leg.span = {ticks_of(span, hz), 0};
    leg.packets = pps.num == 0 ? 0 : packets_in(span, pps);
    if (pps.num != 0) leg.interval = interval_of(pps, hz);
    return leg;
}

Leg ramp(double from_pps, double to_pps, Duration span) {
    Leg leg;
    leg.ramp = leg.timed = true;
    leg.span = {ticks_of(span, hz), 0};
    const auto ticks = static_cast<double>(leg.span.whole);
    leg.from = from_pps / static_cast<double>(hz);
    leg.slope = (to_pps - from_pps) / static_cast<double>(hz) / ticks;
    leg.packets =
        static_cast<std::uint64_t>(std::ceil((from_pps + to_pps) / 2 * static_cast<double>(span.ns) / 1e9));
    return leg;
}

LaneStream shaped(std::uint32_t slot, const Shape& shape, std::uint32_t burst, std::uint32_t lanes = 1,
                  std::uint32_t lane = 0) {
    LaneStream out = stream(slot, {0, 1}, burst, lanes, lane);
    out.shape = &shape;
    out.route_kept = true;
    return out;
}

Lane lane_of(std::vector<LaneStream> streams, const LaneSchedule* previous = nullptr, Tsc now = 0,
             Tsc end = forever) {
    if (previous != nullptr) {
        for (std::uint32_t i = 0; i < streams.size(); ++i) streams[i].previous = i;
    }
    auto lane = std::make_unique<LaneSchedule>(streams, end, hz);
    lane->adopt(previous, now);
    return lane;
}

/// All bursts of a lane whose last packet comes before `to`.
Bursts run(LaneSchedule& lane, Tsc to) {
    Bursts out;
    TemplateBurst portion[64];
    for (;;) {
        const Tsc now = lane.next_due(0);
        if (now > to) return out;
        const std::uint32_t n = lane.fill(now, now, 64, 64, portion);
        out.insert(out.end(), portion, portion + n);
    }
}

Bursts of_stream(const Bursts& bursts, std::uint32_t slot) {
    Bursts out;
    for (const TemplateBurst& burst : bursts) {
        if (burst.stream == slot) out.push_back(burst);
    }
    return out;
}

void expect_near(Tsc got, Tsc wanted) {
    EXPECT_LE(got, wanted + 1);
    EXPECT_GE(got + 1, wanted);
}

TEST(routes, groups_with_gaps_are_due_where_the_formula_puts_them_in_every_lane) {
    constexpr std::uint64_t packets = 100;
    constexpr Tsc gap = hz / 1000;
    const Rational pps{7'000'000, 3};
    const Shape shape{{group(packets, pps, gap)}, 10};
    for (const std::uint32_t lanes : {1U, 2U, 3U, 8U}) {
        Bursts sent;
        for (std::uint32_t l = 0; l < lanes; ++l) {
            auto lane = lane_of({shaped(3, shape, 32, lanes, l)});
            const Bursts part = run(*lane, 10 * hz);
            sent.insert(sent.end(), part.begin(), part.end());
            EXPECT_TRUE(lane->finished(10 * hz));
        }
        EXPECT_TRUE(hold_each_index_once(sent, 10 * packets)) << lanes;
        for (const TemplateBurst& burst : sent) {
            const std::uint64_t round = burst.first_index / packets;
            EXPECT_EQ((burst.first_index + burst.count - 1) / packets, round);  // none straddles a gap
            const Uint128 in_ticks = (Uint128{burst.first_index} * hz * pps.den) / pps.num;
            expect_near(burst.due, round * gap + static_cast<Tsc>(in_ticks));
        }
    }
}

TEST(routes, packets_of_a_group_at_max_are_due_at_once) {
    Leg leg;
    leg.packets = 100;
    leg.span = {hz / 1000, 0};
    const Shape shape{{leg}, 0};
    auto lane = lane_of({shaped(0, shape, 32)});
    const Bursts sent = attended(*lane, 0, hz / 10 - 1);
    EXPECT_TRUE(hold_each_index_once(sent, 100 * 100));
    for (const TemplateBurst& burst : sent) EXPECT_EQ(burst.due, burst.first_index / 100 * (hz / 1000));
}

TEST(routes, steps_send_exactly_what_is_due_in_each) {
    const struct {
        Rational pps;
        Duration span;
    } steps[] = {{{100'003, 3}, {7'000'000}},
                 {{0, 1}, {2'000'000}},
                 {{1'000'000, 1}, {3'000'001}},
                 {{5, 1}, {250'000'000}}};
    Shape shape;
    for (const auto& s : steps) shape.legs.push_back(step(s.pps, s.span));
    shape.rounds = 3;
    for (const std::uint32_t lanes : {1U, 3U}) {
        Bursts sent;
        for (std::uint32_t l = 0; l < lanes; ++l) {
            auto lane = lane_of({shaped(1, shape, 7, lanes, l)});
            const Bursts part = run(*lane, 10 * hz);
            sent.insert(sent.end(), part.begin(), part.end());
        }
        std::uint64_t base = 0;
        Tsc begin = 0;
        for (std::uint64_t round = 0; round < shape.rounds; ++round) {
            for (const auto& s : steps) {
                const std::uint64_t packets =
                    ceil_div(Uint128{s.span.ns} * s.pps.num, Uint128{s.pps.den} * 1'000'000'000);
                for (const TemplateBurst& burst : sent) {
                    if (burst.first_index < base || burst.first_index >= base + packets) continue;
                    const Uint128 offset = Uint128{burst.first_index - base} * hz * s.pps.den;
                    expect_near(burst.due, begin + static_cast<Tsc>(offset / s.pps.num));
                    EXPECT_LE(burst.first_index + burst.count, base + packets);
                }
                base += packets;
                begin += ticks_of(s.span, hz);
            }
        }
        EXPECT_TRUE(hold_each_index_once(sent, base));
        EXPECT_EQ(total_packets(shape), base);
    }
}

TEST(routes, a_ramp_follows_the_integral_of_its_rate_and_then_holds) {
    constexpr double top = 1'000'000;
    const Duration span{100'000'000};
    for (const bool up : {true, false}) {
        Shape shape;
        shape.legs.push_back(up ? ramp(0, top, span) : ramp(top, 10, span));
        Leg hold = packets_at(1, {up ? 1'000'000U : 10U, 1});
        hold.packets = endless;
        shape.legs.push_back(hold);
        Bursts sent;
        for (std::uint32_t l = 0; l < 2; ++l) {
            auto lane = lane_of({shaped(0, shape, 8, 2, l)});
            const Bursts part = run(*lane, hz / 10 + hz / 100 - 1);
            sent.insert(sent.end(), part.begin(), part.end());
        }
        const double ramped = std::ceil(up ? top / 2 * 0.1 : (top + 10) / 2 * 0.1);
        for (const TemplateBurst& burst : sent) {
            const auto k = static_cast<long double>(burst.first_index);
            if (k >= ramped) continue;
            // rate(t) = a + b t: the packets by t are a t + b t^2 / 2
            const long double a = up ? 0 : top;
            const long double b = (up ? top : 10 - top) / 0.1L;
            const long double t = (-a + std::sqrt(a * a + 2 * b * k)) / b;
            EXPECT_NEAR(static_cast<double>(burst.due), static_cast<double>(t * hz),
                        2 + 1e-9 * static_cast<double>(hz));
        }
        std::uint64_t total = 0;
        for (const TemplateBurst& burst : sent) total += burst.count;
        EXPECT_NEAR(static_cast<double>(total), ramped + (up ? 10'000 : 1), 8);
    }
}

// S9: two packets at 10 pps, then five bursts of four at 1000 pps with a gap of 1 s: 22 packets.
TEST(routes, a_stream_begins_where_the_one_before_ends) {
    const Shape first{{packets_at(2, {10, 1})}, 1};
    const Shape second{{group(4, {1000, 1}, hz)}, 5};
    LaneStream a = shaped(0, first, 1);
    LaneStream b = shaped(1, second, 4);
    a.next = 1;
    b.follows = true;
    b.head = 0;
    auto lane = lane_of({a, b});
    const Bursts sent = run(*lane, 100 * hz);
    EXPECT_TRUE(hold_each_index_once(of_stream(sent, 0), 2));
    EXPECT_TRUE(hold_each_index_once(of_stream(sent, 1), 20));
    ASSERT_EQ(sent.size(), 7U);
    expect_near(sent[0].due, 0);
    expect_near(sent[1].due, hz / 10);
    for (std::uint64_t g = 0; g < 5; ++g) expect_near(sent[2 + g].due, hz / 5 + g * (hz + hz / 250));
    EXPECT_TRUE(lane->finished(100 * hz));
}

struct Chain {
    Shape a{{packets_at(10, {1'000'000, 7})}, 1};
    Shape b{{group(33, {3'000'000, 1}, 50'000)}, 2};
    Shape c{{packets_at(1, {777, 1})}, 1};
    std::uint64_t loops = 1;

    [[nodiscard]] std::vector<LaneStream> of(std::uint32_t lanes, std::uint32_t l) const {
        LaneStream first = shaped(0, a, 4, lanes, l);
        LaneStream second = shaped(1, b, 32, lanes, l);
        LaneStream third = shaped(2, c, 1, lanes, l);
        first.next = 1;
        first.loops = loops;
        second.next = 2;
        second.head = third.head = 0;
        second.follows = third.follows = true;
        return {first, second, third};
    }
};

TEST(routes, chains_loop_exactly_over_any_number_of_lanes_and_do_not_drift) {
    Chain chain;
    chain.loops = 5000;
    // One loop takes 10 packets, two groups (a gap between them only), and one packet.
    const long double hz_exact = hz;
    const long double period =
        10 * hz_exact * 7 / 1'000'000 + (66 * hz_exact / 3'000'000 + 50'000) + hz_exact / 777;
    Bursts one_lane;
    for (const std::uint32_t lanes : {1U, 2U, 3U, 8U}) {
        Bursts sent;
        for (std::uint32_t l = 0; l < lanes; ++l) {
            auto lane = lane_of(chain.of(lanes, l));
            const Bursts part = run(*lane, 1000 * hz);
            EXPECT_TRUE(lane->finished(1000 * hz));
            sent.insert(sent.end(), part.begin(), part.end());
        }
        EXPECT_TRUE(hold_each_index_once(of_stream(sent, 0), 50'000)) << lanes;
        EXPECT_TRUE(hold_each_index_once(of_stream(sent, 1), 66 * 5000)) << lanes;
        EXPECT_TRUE(hold_each_index_once(of_stream(sent, 2), 5000)) << lanes;
        for (const TemplateBurst& burst : of_stream(sent, 2)) {
            const long double end = static_cast<long double>(burst.first_index + 1) * period - hz_exact / 777;
            ASSERT_NEAR(static_cast<double>(static_cast<long double>(burst.due) - end), -0.5, 1.6)
                << burst.first_index;
        }
    }
}

TEST(routes, an_endless_loop_goes_on_until_the_end_of_the_run) {
    Chain chain;
    chain.loops = 0;
    auto lane = lane_of(chain.of(1, 0), nullptr, 0, hz);
    const Bursts sent = attended(*lane, 0, hz);
    EXPECT_TRUE(lane->finished(hz));
    EXPECT_GT(sent.size(), 1000U);
    for (const TemplateBurst& burst : sent) EXPECT_LT(burst.due, hz);
}

TEST(routes, reloads_that_change_nothing_are_not_seen) {
    Chain chain;
    chain.loops = 50;
    auto undisturbed = lane_of(chain.of(2, 1));
    const Bursts expected = run(*undisturbed, 1000 * hz);
    std::mt19937_64 random(4);
    auto lane = lane_of(chain.of(2, 1));
    Bursts got;
    for (Tsc now = 0; !lane->finished(now);) {
        const Tsc until = now + random() % (hz / 200);
        const Bursts part = attended(*lane, now, until);
        got.insert(got.end(), part.begin(), part.end());
        lane = lane_of(chain.of(2, 1), lane.get(), until);
        now = until + 1;
    }
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].due, expected[i].due);
        ASSERT_EQ(got[i].first_index, expected[i].first_index);
    }
}

TEST(routes, chains_whose_rates_change_lose_and_repeat_nothing) {
    std::mt19937_64 random(6);
    constexpr std::uint32_t lanes = 3;
    constexpr std::uint64_t loops = 200;
    std::vector<Lane> lane(lanes);
    std::vector<std::unique_ptr<Chain>> chains;  // the shapes outlive the schedules that read them
    Bursts sent;
    Tsc now = 0;
    for (int generation = 0; generation <= 100; ++generation) {
        auto& chain = chains.emplace_back(std::make_unique<Chain>());
        chain->loops = loops;
        chain->a = {{packets_at(10, {1 + random() % 1'000'000, 3})}, 1};
        chain->b = {{group(33, {100'000 + random() % 1'000'000, 1}, random() % 100'000)}, 2};
        for (std::uint32_t l = 0; l < lanes; ++l) {
            auto streams = chain->of(lanes, l);
            if (generation != 100 && random() % 4 == 0) streams[random() % 3].paused = true;
            lane[l] = lane_of(streams, lane[l].get(), now);
            const Tsc until = generation == 100 ? now + 20 * hz : now + hz / 500;
            const Bursts part = attended(*lane[l], now, until);
            sent.insert(sent.end(), part.begin(), part.end());
            EXPECT_TRUE(generation != 100 || lane[l]->finished(until));
        }
        now += hz / 500;
    }
    EXPECT_TRUE(hold_each_index_once(of_stream(sent, 0), 10 * loops));
    EXPECT_TRUE(hold_each_index_once(of_stream(sent, 1), 66 * loops));
    EXPECT_TRUE(hold_each_index_once(of_stream(sent, 2), loops));
}

TEST(routes, a_lane_that_stalls_in_a_chain_slips_alone_and_loses_nothing) {
    Chain chain;
    chain.loops = 300;
    Bursts sent;
    for (std::uint32_t l = 0; l < 2; ++l) {
        auto lane = lane_of(chain.of(2, l));
        for (Tsc now = 0; !lane->finished(now); now += hz / 2000) {
            if (l == 1 && now > hz / 10 && now < hz / 2) continue;
            const Bursts part = model::all_until(*lane, now, now);
            for (const TemplateBurst& burst : part) ASSERT_GE(burst.due + hz / 10, now);
            sent.insert(sent.end(), part.begin(), part.end());
        }
        std::uint64_t slips = 0;
        lane->take_slips([&](StreamSlot, std::uint64_t n, std::uint64_t) { slips += n; });
        EXPECT_EQ(slips, l);
    }
    EXPECT_TRUE(hold_each_index_once(of_stream(sent, 0), 3000));
    EXPECT_TRUE(hold_each_index_once(of_stream(sent, 1), 66 * 300));
    EXPECT_TRUE(hold_each_index_once(of_stream(sent, 2), 300));
}

TEST(routes, a_stream_at_max_takes_its_turn_in_a_chain) {
    Leg counted;
    counted.packets = 100;
    const Shape burst_shape{{counted}, 1};
    const Shape pause{{packets_at(1, {100, 1})}, 1};
    LaneStream a = max_stream(0, 32);
    a.shape = &burst_shape;
    a.next = 1;
    a.loops = 3;
    LaneStream b = shaped(1, pause, 1);
    b.follows = true;
    b.head = 0;
    auto lane = lane_of({a, b});
    Bursts sent;
    TemplateBurst out[8];
    for (Tsc now = 0; now < hz / 10; now += 1000) {
        const std::uint32_t n = lane->fill(now, now, 8, 8, out);
        sent.insert(sent.end(), out, out + n);
    }
    EXPECT_TRUE(lane->finished(hz / 10));
    EXPECT_TRUE(hold_each_index_once(of_stream(sent, 0), 300));
    EXPECT_TRUE(hold_each_index_once(of_stream(sent, 1), 3));
}

TEST(routes, a_count_cuts_a_shape_and_the_end_of_the_run_cuts_it_exactly) {
    Shape shape{{group(10, {10'000, 1}, hz / 100)}, 0, 25};
    auto lane = lane_of({shaped(0, shape, 4)});
    EXPECT_TRUE(hold_each_index_once(run(*lane, 100 * hz), 25));
    EXPECT_TRUE(lane->finished(100 * hz));
    shape.packets = endless;
    for (Tsc end = 1; end < hz / 10; end += hz / 777) {
        auto cut = lane_of({shaped(0, shape, 4)}, nullptr, 0, end);
        const Bursts sent = attended(*cut, 0, end);
        ASSERT_TRUE(hold_each_index_once(sent, packets_before(shape, {end, 0}))) << end;
        ASSERT_TRUE(cut->finished(end));
        const std::uint64_t within = end % (hz / 1000 + hz / 100);
        ASSERT_EQ(
            packets_before(shape, {end, 0}),
            end / (hz / 1000 + hz / 100) * 10 + std::min<std::uint64_t>(10, ceil_div(within, hz / 10'000)));
    }
}

TEST(departures, poisson_gaps_are_the_same_in_every_lane_and_of_the_right_mean) {
    LaneStream spec = stream(2, {100'000, 1}, 2);
    spec.departure = Departure::poisson;
    spec.seed = 42;
    auto alone = lane_of({spec});
    const Bursts expected = run(*alone, 20 * hz);
    const double bursts = 20.0 * 100'000 / 2;
    EXPECT_NEAR(static_cast<double>(expected.size()), bursts, 4 * std::sqrt(bursts));
    double short_gaps = 0;
    for (std::size_t i = 1; i < expected.size(); ++i) {
        ASSERT_EQ(expected[i].first_index, 2 * i);
        if (static_cast<double>(expected[i].due - expected[i - 1].due) < hz / 50'000.0) ++short_gaps;
    }
    EXPECT_NEAR(short_gaps / bursts, 1 - std::exp(-1.0), 0.01);  // below the mean: 1 - 1/e of an exponential
    Bursts sent;
    for (std::uint32_t l = 0; l < 3; ++l) {
        LaneStream own = stream(2, {100'000, 1}, 2, 3, l);
        own.departure = Departure::poisson;
        own.seed = 42;
        auto lane = lane_of({own});
        const Bursts part = run(*lane, hz);
        sent.insert(sent.end(), part.begin(), part.end());
    }
    for (const TemplateBurst& burst : sent) ASSERT_EQ(burst.due, expected[burst.first_index / 2].due);
}

TEST(departures, a_run_cuts_poisson_departures_at_its_end) {
    LaneStream spec = stream(0, {100'000, 1}, 1);
    spec.departure = Departure::poisson;
    auto lane = lane_of({spec}, nullptr, 0, hz / 10);
    const Bursts sent = attended(*lane, 0, hz / 10);
    EXPECT_NEAR(static_cast<double>(sent.size()), 10'000, 500);
    for (const TemplateBurst& burst : sent) EXPECT_LT(burst.due, hz / 10);
    EXPECT_TRUE(lane->finished(hz / 10));
}

TEST(departures, jitter_delays_each_burst_within_its_bound_and_keeps_the_rate) {
    for (const Tsc most : {Tsc{1000}, hz / 1000, hz / 10}) {
        LaneStream spec = stream(0, {10'000, 1}, 1);
        spec.departure = Departure::jitter;
        spec.jitter = most;
        spec.seed = 7;
        auto lane = lane_of({spec});
        const Bursts sent = run(*lane, 2 * hz);
        Tsc before = 0;
        double sum = 0;
        for (std::size_t i = 0; i < sent.size(); ++i) {
            const Tsc place = i * hz / 10'000;
            ASSERT_EQ(sent[i].first_index, i);
            ASSERT_GE(sent[i].due, std::max(place, before));
            ASSERT_LT(sent[i].due, place + most);
            before = sent[i].due;
            sum += static_cast<double>(sent[i].due - place);
        }
        EXPECT_TRUE(most != 1000 || std::abs(sum / static_cast<double>(sent.size()) - 500) < 10);
        EXPECT_GE(sent.size(), 20'000U - 1001);
    }
}

TEST(departures, random_streams_carry_on_over_reloads_and_rate_changes) {
    std::mt19937_64 random(8);
    for (const Departure departure : {Departure::poisson, Departure::jitter}) {
        std::vector<Lane> lane(2);
        Bursts sent;
        Tsc now = 0;
        for (int generation = 0; generation <= 100; ++generation) {
            const Rational pps = random() % 2 ? Rational{20'000, 1} : reduced(1 + random() % 100'000, 2);
            for (std::uint32_t l = 0; l < 2; ++l) {
                LaneStream spec = stream(0, pps, 3, 2, l);
                spec.departure = departure;
                spec.jitter = hz / 20'000;
                spec.count = 20'000;
                lane[l] = lane_of({spec}, lane[l].get(), now);
                const Bursts part =
                    attended(*lane[l], now, generation == 100 ? now + 2000 * hz / 1000 : now + hz / 500);
                sent.insert(sent.end(), part.begin(), part.end());
            }
            now += hz / 500;
        }
        std::uint64_t total = 0;
        for (const TemplateBurst& burst : sent) total += burst.count;
        EXPECT_TRUE(hold_each_index_once(sent, 20'000)) << total;
    }
}

}  // namespace
}  // namespace volley::traffic
