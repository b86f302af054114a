// For every mode the tick of every burst, over three lanes of which one is not looked after for 10 ms again
// and again, against closed formulas. 200,000 bursts a mode; 10^7 with VOLLEY_LONG.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "model.h"
#include "traffic/departures.h"
#include "traffic/lane_schedule.h"

namespace volley::traffic {
namespace {

using model::hz;

constexpr Tsc forever = ~Tsc{0};
constexpr std::uint32_t lanes = 3;

std::uint64_t wanted_bursts() {
    return std::getenv("VOLLEY_LONG") != nullptr ? 10'000'000 : 200'000;
}

/// One stream as lane `lane` has it.
using OfLane = std::function<std::vector<LaneStream>(std::uint32_t lane)>;
/// The due of a burst by its slot and first packet, and by how many ticks a formula in floating point may be
/// off.
struct Formula {
    std::function<Tsc(std::uint32_t slot, std::uint64_t index)> due;
    Tsc within = 0;
};

struct Seen {
    std::uint64_t bursts = 0;
    std::uint64_t packets = 0;
    std::uint64_t wrong = 0;
    std::uint64_t worst = 0;
};

Tsc apart(Tsc a, Tsc b) {
    return a > b ? a - b : b - a;
}

// Turns the three lanes once every 50 us; lane 1 is off for 10 ms of every 40.
Seen turn_all(const OfLane& specs, const Formula& formula, std::uint64_t most) {
    Seen seen;
    std::vector<std::unique_ptr<LaneSchedule>> all;
    for (std::uint32_t l = 0; l < lanes; ++l) {
        all.push_back(std::make_unique<LaneSchedule>(specs(l), forever, hz));
        all.back()->adopt(nullptr, 0);
    }
    std::vector<TemplateBurst> out(256);
    const auto step = hz / 20'000;
    std::uint64_t idle = 0;
    for (Tsc now = 0; seen.bursts < most && idle < 1'000'000; now += step, ++idle) {
        for (std::uint32_t l = 0; l < lanes; ++l) {
            if (l == 1 && now / step % 800 >= 600) continue;
            for (std::uint32_t n = 256; n == 256;) {
                n = all[l]->fill(now, now, 256, 0, out.data());
                for (std::uint32_t b = 0; b < n; ++b) {
                    const Tsc off = apart(out[b].due, formula.due(out[b].stream, out[b].first_index));
                    seen.worst = std::max(seen.worst, off);
                    seen.wrong += off > formula.within ? 1 : 0;
                    seen.packets += out[b].count;
                }
                seen.bursts += n;
                if (n != 0) idle = 0;
            }
        }
    }
    for (const auto& lane : all)
        lane->take_slips([](StreamSlot, std::uint64_t, std::uint64_t) { ADD_FAILURE() << "slipped"; });
    return seen;
}

void expect_exact(const OfLane& specs, const Formula& formula) {
    const Seen seen = turn_all(specs, formula, wanted_bursts());
    EXPECT_GE(seen.bursts, wanted_bursts());
    EXPECT_EQ(seen.wrong, 0U) << "the worst by " << seen.worst << " ticks";
}

LaneStream shaped(std::uint32_t slot, const Shape& shape, std::uint32_t burst, std::uint32_t lane) {
    LaneStream out = model::stream(slot, {0, 1}, burst, lanes, lane);
    out.shape = &shape;
    return out;
}

Leg leg_of(Rational pps, std::uint64_t packets, Tsc gap = 0) {
    Leg leg;
    leg.packets = packets;
    leg.interval = interval_of(pps, hz);
    leg.span = instant_of(span_of(leg.interval, packets), leg.interval.den) + Instant{gap, 0};
    return leg;
}

TEST(exact_times, of_a_constant_rate) {
    const Rational pps{14'880'952, 7};
    expect_exact([&](std::uint32_t lane) { return std::vector{model::stream(4, pps, 5, lanes, lane)}; },
                 {[&](std::uint32_t, std::uint64_t index) { return model::due_of_packet(0, index, pps); }});
}

// A group lasts P/pps and a gap; 2^-64 ticks a group are lost, so a due that is whole may be a tick early.
TEST(exact_times, of_groups_with_gaps) {
    const Rational pps{3'000'001, 1};
    constexpr std::uint64_t group = 21;
    constexpr Tsc gap = 12'345;
    Shape shape;
    shape.legs.push_back(leg_of(pps, group, gap));
    shape.rounds = 0;
    const auto due = [&](std::uint32_t, std::uint64_t index) {
        return index / group * gap + model::due_of_packet(0, index, pps);
    };
    expect_exact([&](std::uint32_t lane) { return std::vector{shaped(4, shape, 7, lane)}; }, {due, 1});
}

TEST(exact_times, of_steps) {
    const Rational first{1'000'003, 1};
    const Rational second{2'500'000, 3};
    constexpr std::uint64_t milliseconds = 10;
    Shape shape;
    for (const Rational pps : {first, second}) {
        shape.legs.push_back(leg_of(pps, packets_in(Duration{milliseconds * 1'000'000}, pps)));
        shape.legs.back().timed = true;
        shape.legs.back().span = {milliseconds * (hz / 1000), 0};
    }
    shape.rounds = 0;
    const std::uint64_t in_first = shape.legs[0].packets;
    const std::uint64_t in_round = in_first + shape.legs[1].packets;
    const auto due = [&](std::uint32_t, std::uint64_t index) {
        const std::uint64_t within = index % in_round;
        const Tsc round = index / in_round * 2 * milliseconds * (hz / 1000);
        if (within < in_first) return model::due_of_packet(round, within, first);
        return model::due_of_packet(round + milliseconds * (hz / 1000), within - in_first, second);
    };
    expect_exact([&](std::uint32_t lane) { return std::vector{shaped(4, shape, 4, lane)}; }, {due, 1});
}

TEST(exact_times, of_a_ramp) {
    const std::uint64_t packets = wanted_bursts() * 4 + 1'000;
    const double to = 3e6;
    const double from = 1e5;
    const double seconds = static_cast<double>(packets) * 2 / (from + to);
    Shape shape;
    Leg leg;
    leg.ramp = leg.timed = true;
    leg.span = {static_cast<Tsc>(seconds * static_cast<double>(hz)), 0};
    leg.from = from / static_cast<double>(hz);
    leg.slope = (to - from) / static_cast<double>(hz) / static_cast<double>(leg.span.whole);
    leg.packets = packets;
    shape.legs.push_back(leg);
    // from t + (to - from) t^2 / 2T = index, in seconds; rounded down.
    const auto due = [&](std::uint32_t, std::uint64_t index) {
        const long double a = (static_cast<long double>(to) - from) / seconds / 2;
        const auto c = static_cast<long double>(index);
        const long double t =
            (-from + std::sqrt(static_cast<long double>(from) * from + 4 * a * c)) / (2 * a);
        return static_cast<Tsc>(t * static_cast<long double>(hz));
    };
    expect_exact([&](std::uint32_t lane) { return std::vector{shaped(4, shape, 4, lane)}; }, {due, 2});
}

// Two streams take turns for ever: 8 packets at one rate, then 15 at the other.
TEST(exact_times, of_a_looped_chain) {
    const Rational fast{4'000'001, 1};
    const Rational slow{999'983, 1};
    Shape first;
    Shape second;
    first.legs.push_back(leg_of(fast, 8));
    second.legs.push_back(leg_of(slow, 15));
    const auto due = [&](std::uint32_t slot, std::uint64_t index) {
        const std::uint64_t count = slot == 0 ? 8 : 15;
        const std::uint64_t loop = index / count;
        // A common denominator, for the sum is rounded once.
        const std::uint64_t of_fast = loop * 8 + (slot == 0 ? index % 8 : 8);
        const std::uint64_t of_slow = loop * 15 + (slot == 1 ? index % 15 : 0);
        const Uint128 num = Uint128{of_fast} * slow.num + Uint128{of_slow} * fast.num;
        const Uint128 den = Uint128{fast.num} * slow.num;
        const Uint128 whole = num / den;
        return static_cast<Tsc>(whole * hz + (num - whole * den) * hz / den);
    };
    const auto specs = [&](std::uint32_t lane) {
        LaneStream a = shaped(0, first, 2, lane);
        LaneStream b = shaped(1, second, 3, lane);
        a.next = 1;
        a.loops = 0;
        b.follows = true;
        b.head = 0;
        return std::vector{a, b};
    };
    expect_exact(specs, {due, 1});
}

// The gaps are a pure function of seed and ordinal; their sum is kept in 2^-32 ticks.
TEST(exact_times, of_poisson_departures) {
    const Rational pps{1'000'000, 1};
    std::vector<Uint128> at;
    const auto due = [&](std::uint32_t, std::uint64_t index) {
        while (at.size() <= index) {
            const Gap32 gap = poisson_gap(77, at.size(), static_cast<double>(hz) / 1e6);
            at.push_back((at.empty() ? 0 : at.back()) + (Uint128{gap.whole} << 32) + gap.fraction);
        }
        return static_cast<Tsc>(at[index] >> 32);
    };
    const auto specs = [&](std::uint32_t lane) {
        LaneStream spec = model::stream(4, pps, 1, lanes, lane);
        spec.departure = Departure::poisson;
        spec.seed = 77;
        return std::vector{spec};
    };
    expect_exact(specs, {due});
}

TEST(exact_times, of_jittered_departures) {
    const Rational pps{1'000'003, 1};
    const auto due = [&](std::uint32_t, std::uint64_t index) {
        return model::due_of_packet(0, index, pps) + jitter_of(78, index, 2'000);
    };
    const auto specs = [&](std::uint32_t lane) {
        LaneStream spec = model::stream(4, pps, 1, lanes, lane);
        spec.departure = Departure::jitter;
        spec.jitter = 2'000;
        spec.seed = 78;
        return std::vector{spec};
    };
    expect_exact(specs, {due});
}

TEST(exact_times, of_a_recording_shared_by_three_lanes) {
    std::vector<std::uint64_t> times;
    std::vector<std::uint8_t> shares;
    std::vector<std::uint64_t> offsets;
    std::uint64_t ns = 0;
    for (std::uint64_t i = 0; i < 997; ++i) {
        offsets.push_back(ns);
        times.push_back(5'000'000'000 + ns);
        shares.push_back(static_cast<std::uint8_t>(i * 7 % 5 % 3));
        ns += 1 + i * i % 1'999;
    }
    const std::uint64_t period = offsets.back() + offsets.back() / 996;
    const Recording recording(times, 1'500'000, hz, shares, lanes);
    ReplayClock clock;
    const auto due = [&](std::uint32_t, std::uint64_t index) {
        const Uint128 at = Uint128{index / 997} * period + offsets[index % 997];
        return static_cast<Tsc>(at * hz * 2 / 3'000'000'000);
    };
    const auto specs = [&](std::uint32_t lane) {
        LaneStream spec = model::stream(4, {1, 1}, 1);
        spec.recording = &recording;
        spec.clock = &clock;
        spec.lane = lane;
        return std::vector{spec};
    };
    expect_exact(specs, {due});
}

/// Streams of different rates that add up to 1 Mpps, over so many lanes.
struct Many {
    Many(std::uint32_t streams, std::uint32_t burst_size, std::uint32_t lane_count)
        : burst(burst_size), sent(streams) {
        const std::uint64_t shares = std::uint64_t{streams} * (streams + 1) / 2;
        for (std::uint32_t s = 0; s < streams; ++s)
            rates.push_back(reduced(1'000'000 * (std::uint64_t{s} + 1), shares));
        for (std::uint32_t l = 0; l < lane_count; ++l) {
            std::vector<LaneStream> specs;
            for (std::uint32_t s = 0; s < streams; ++s)
                specs.push_back(model::stream(s, rates[s], burst, lane_count, l));
            schedules.push_back(std::make_unique<LaneSchedule>(specs, forever, hz));
            schedules.back()->adopt(nullptr, 0);
        }
    }
    void run(Tsc until, Tsc step) {
        std::vector<TemplateBurst> out(256);
        for (Tsc now = 0; now < until; now += step) {
            for (const auto& schedule : schedules) {
                for (std::uint32_t n = 256; n == 256;) {
                    n = schedule->fill(now, now, 256, 0, out.data());
                    for (std::uint32_t b = 0; b < n; ++b) sent[out[b].stream] += out[b].count;
                }
            }
        }
    }

    std::uint32_t burst;
    std::vector<Rational> rates;
    std::vector<std::uint64_t> sent;  ///< by stream
    std::vector<std::unique_ptr<LaneSchedule>> schedules;
};

// After 10 s, on one worker and shared by three.
TEST(counts, of_few_and_many_streams_are_off_by_less_than_a_burst_over_any_number_of_lanes) {
    constexpr std::uint64_t seconds = 10;
    for (const std::uint32_t lane_count : {1U, 3U}) {
        for (const std::uint32_t streams : {1U, 10U, 1'000U, 20'000U}) {
            Many many(streams, streams < 100 ? 32 : 8, lane_count);
            const Tsc step = hz / 10'000;
            many.run(seconds * hz, step);
            for (std::uint32_t s = 0; s < streams; ++s) {
                // Up to the last look: so many packets are due, and those of one burst together.
                const Uint128 due = Uint128{seconds * hz - step} * many.rates[s].num;
                const auto wanted = static_cast<std::uint64_t>(due / (Uint128{many.rates[s].den} * hz)) + 1;
                ASSERT_GE(many.sent[s] + 1, wanted) << streams << ' ' << s << " over " << lane_count;
                ASSERT_LE(many.sent[s], wanted + many.burst) << streams << ' ' << s << " over " << lane_count;
            }
            for (const auto& schedule : many.schedules)
                schedule->take_slips(
                    [](StreamSlot, std::uint64_t, std::uint64_t) { ADD_FAILURE() << "slipped"; });
        }
    }
}

}  // namespace
}  // namespace volley::traffic
