// Streams that keep the timing of a capture, against a model that adds up the gaps of the file in the
// plainest way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include "model.h"
#include "traffic/recording.h"

namespace volley::traffic {
namespace {

using model::hz;

constexpr Tsc forever = ~Tsc{0};
constexpr std::uint64_t ms = 1'000'000;

using Times = std::vector<std::uint64_t>;

// Nanoseconds of packet i of a file that is sent again and again, gap by gap.
class Model {
  public:
    explicit Model(Times times) : times_(std::move(times)) {}
    std::uint64_t ns(std::uint64_t index) {
        while (known_.size() <= index)
            known_.push_back(known_.empty() ? 0 : known_.back() + gap(known_.size()));
        return known_[index];
    }
    // floor(ns * hz / 1e9 / speed)
    Tsc ticks(std::uint64_t index, std::uint64_t speed = Recording::original_speed) {
        return static_cast<Tsc>(Uint128{ns(index)} * hz * 1'000'000 / (Uint128{1'000'000'000} * speed));
    }

  private:
    std::uint64_t gap(std::uint64_t index) const {
        const std::uint64_t at = index % times_.size();
        if (at != 0) return times_[at] > times_[at - 1] ? times_[at] - times_[at - 1] : 0;
        std::uint64_t sum = 0;  // the mean of the file's gaps lies between two loops
        for (std::uint64_t i = 1; i < times_.size(); ++i) sum += gap(i);
        return sum / (times_.size() - 1);
    }
    Times times_;
    Times known_;
};

Times random_times(std::size_t count, std::uint32_t seed) {
    std::mt19937_64 random(seed);
    Times out;
    std::uint64_t at = 1'700'000'000'000'000'000;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t kind = random() % 10;
        if (kind == 0) {
            at -= random() % 50'000;  // captured by two CPUs
        } else if (kind > 2) {
            at += random() % (kind == 9 ? 1'000'000 : 5'000);
        }
        out.push_back(at);
    }
    return out;
}

LaneStream replayed(const Recording& recording, ReplayClock& clock, std::uint32_t lane = 0) {
    LaneStream out = model::stream(0, {1, 1}, 1);
    out.recording = &recording;
    out.clock = &clock;
    out.lane = lane;
    return out;
}

struct Packet {
    std::uint64_t index;
    Tsc due;
    bool operator==(const Packet&) const = default;
};

void add(std::vector<Packet>& out, const TemplateBurst* bursts, std::uint32_t count) {
    for (std::uint32_t b = 0; b < count; ++b) {
        for (std::uint32_t k = 0; k < bursts[b].count; ++k)
            out.push_back({bursts[b].first_index + k, bursts[b].due});
    }
}

std::vector<Packet> run(LaneSchedule& lane, Tsc until) {
    std::vector<Packet> out;
    TemplateBurst bursts[64];
    for (;;) {
        const Tsc due = lane.next_due(0);
        if (due > until) return out;
        const std::uint32_t n = lane.fill(due, due, 64, 0, bursts);
        add(out, bursts, n);
    }
}

TEST(replay, every_packet_of_every_loop_is_due_where_the_gaps_of_the_file_add_up) {
    const std::uint64_t wanted = std::getenv("VOLLEY_LONG") != nullptr ? 10'000'000 : 300'000;
    for (const std::uint64_t speed : {1'000'000U, 2'000'000U, 333'333U, 1'000U, 1'000'000'000U}) {
        Model model(random_times(1'009, 7));
        const Recording recording(random_times(1'009, 7), speed, hz);
        ReplayClock clock;
        LaneStream spec = replayed(recording, clock);
        spec.start = 987'654'321;
        LaneSchedule lane({spec}, forever, hz);
        lane.adopt(nullptr, 0);
        TemplateBurst bursts[256];
        for (std::uint64_t next = 0; next < wanted;) {
            const std::uint32_t n = lane.fill(lane.next_due(0), forever, 256, 0, bursts);
            for (std::uint32_t b = 0; b < n; ++b) {
                ASSERT_EQ(bursts[b].first_index, next);
                for (std::uint32_t k = 0; k < bursts[b].count; ++k, ++next)
                    ASSERT_EQ(bursts[b].due, spec.start + model.ticks(next, speed)) << next;
            }
        }
    }
}

// B34, B35
TEST(replay, the_first_gap_is_kept_and_so_are_short_and_long_ones) {
    const Recording recording({0, 500 * ms, 500 * ms + 10'000, 501 * ms + 10'000, 1'501 * ms}, 1'000'000, hz);
    EXPECT_EQ(recording.due(0), 0U);
    EXPECT_EQ(recording.due(1), hz / 2);
    EXPECT_EQ(recording.due(2), hz / 2 + hz / 100'000);
    EXPECT_EQ(recording.due(3), hz / 2 + hz / 100'000 + hz / 1000);
}

// B82: a clock that was set back must not make the rest of the file one burst, nor one that is forward wait
// in vain for what comes before.
TEST(replay, a_frame_that_is_older_leaves_with_the_one_before_it_and_the_gaps_behind_it_hold) {
    const Recording recording({100 * ms, 101 * ms, 40 * ms, 42 * ms, 41 * ms, 43 * ms}, 1'000'000, hz);
    const std::uint64_t tick_ms = hz / 1000;
    const std::vector<Tsc> wanted{0, 1 * tick_ms, 1 * tick_ms, 3 * tick_ms, 3 * tick_ms, 5 * tick_ms};
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(recording.due(i), wanted[i]) << i;
    EXPECT_EQ(recording.period_ns(), 6 * ms);  // 5 ms and the mean gap
}

TEST(replay, packets_before_a_tick_are_those_whose_due_is_before_it) {
    const Times times = random_times(50, 3);
    const Recording recording(times, 777'777, hz);
    for (std::uint64_t index = 1; index < 170; ++index) {
        const Tsc due = recording.due(index);
        const std::uint64_t before = recording.packets_before(due);
        EXPECT_LE(before, index);
        EXPECT_LT(recording.due(before - 1), due);
        EXPECT_EQ(recording.due(before), due);
    }
}

TEST(replay, frames_without_a_gap_between_them_leave_as_one_burst) {
    const Recording recording({5, 5, 5, 5 + ms, 5 + ms}, 1'000'000, hz);
    ReplayClock clock;
    LaneStream spec = replayed(recording, clock);
    spec.count = 5;
    LaneSchedule lane({spec}, forever, hz);
    lane.adopt(nullptr, 0);
    TemplateBurst bursts[8];
    ASSERT_EQ(lane.fill(hz / 100, hz / 100, 8, 0, bursts), 2U);
    EXPECT_EQ(bursts[0].count, 3U);
    EXPECT_EQ(bursts[1].count, 2U);
    EXPECT_TRUE(lane.finished(hz));
}

TEST(replay, what_falls_due_at_the_end_of_the_run_or_later_is_not_sent) {
    Model model(random_times(100, 1));
    const Recording recording(random_times(100, 1), 1'000'000, hz);
    for (const Tsc end : {model.ticks(40), model.ticks(41) + 1, model.ticks(130)}) {
        ReplayClock clock;
        LaneSchedule lane({replayed(recording, clock)}, end, hz);
        lane.adopt(nullptr, 0);
        const auto sent = run(lane, forever - 1);
        EXPECT_EQ(sent.size(), recording.packets_before(end));
        EXPECT_LT(sent.back().due, end);
        EXPECT_TRUE(lane.finished(end));
    }
}

// One time line: whatever lane is late, each packet is sent once, and none before an earlier one of its flow.
TEST(replay, lanes_that_share_a_recording_slip_together_and_lose_nothing) {
    const Times times = random_times(200, 11);
    std::mt19937 random(5);
    std::vector<std::uint8_t> lanes;
    for (std::size_t i = 0; i < times.size(); ++i) lanes.push_back(static_cast<std::uint8_t>(random() % 3));
    const Recording recording(times, 10'000, hz, lanes, 3);  // a hundredth: 100 ms hold few packets
    ReplayClock clock;
    std::vector<std::unique_ptr<LaneSchedule>> all;
    for (std::uint32_t l = 0; l < 3; ++l) {
        LaneStream spec = replayed(recording, clock, l);
        spec.count = 1'000;
        all.push_back(std::make_unique<LaneSchedule>(std::vector{spec}, forever, hz));
        all.back()->adopt(nullptr, 0);
    }
    std::vector<Packet> sent;
    std::vector<std::uint64_t> behind(3, 0);
    std::uint64_t slips = 0;
    TemplateBurst bursts[64];
    Tsc now = 0;
    for (int turn = 0; sent.size() < 1'000 && turn < 10'000'000; ++turn) {
        now += turn % 5'000 == 4'999 ? hz / 4 : hz / 2'000;  // the dispatcher is off for 250 ms at times
        for (std::uint32_t l = 0; l < 3; ++l) {
            const std::uint32_t n = all[l]->fill(now, now, 64, 0, bursts);
            for (std::uint32_t b = 0; b < n; ++b) {
                ASSERT_LE(bursts[b].due, now);
                ASSERT_EQ(lanes[bursts[b].first_index % times.size()], l);
                ASSERT_GE(bursts[b].first_index, behind[l]);
                behind[l] = bursts[b].first_index + bursts[b].count;
            }
            add(sent, bursts, n);
            all[l]->take_slips([&](StreamSlot, std::uint64_t count, std::uint64_t) { slips += count; });
        }
    }
    EXPECT_GT(slips, 0U);
    std::sort(sent.begin(), sent.end(), [](const Packet& a, const Packet& b) { return a.index < b.index; });
    ASSERT_EQ(sent.size(), 1'000U);
    for (std::uint64_t i = 0; i < sent.size(); ++i) ASSERT_EQ(sent[i].index, i);
    EXPECT_EQ(clock.origin + recording.due(999), sent.back().due);
}

TEST(replay, a_lane_that_was_off_for_less_than_the_limit_sends_what_it_owes_with_its_own_dues) {
    Model model(random_times(500, 2));
    const Recording recording(random_times(500, 2), 1'000'000, hz);
    ReplayClock clock;
    LaneSchedule lane({replayed(recording, clock)}, forever, hz);
    lane.adopt(nullptr, 0);
    const auto sent = model::all_until(lane, hz / 100, hz / 100);  // nobody looked for 10 ms
    std::vector<Packet> packets;
    add(packets, sent.data(), static_cast<std::uint32_t>(sent.size()));
    ASSERT_GT(packets.size(), 10U);
    for (std::uint64_t i = 0; i < packets.size(); ++i) EXPECT_EQ(packets[i], (Packet{i, model.ticks(i)}));
}

TEST(replay, an_untouched_stream_goes_on_to_the_tick_in_the_next_plan) {
    Model model(random_times(500, 4));
    const Recording recording(random_times(500, 4), 1'000'000, hz);
    ReplayClock clock;
    LaneSchedule first({replayed(recording, clock)}, forever, hz);
    first.adopt(nullptr, 0);
    const auto before = run(first, hz / 50);
    LaneStream spec = replayed(recording, clock);
    spec.previous = 0;
    LaneSchedule second({spec}, forever, hz);
    second.adopt(&first, hz / 50 + 5);
    const auto after = run(second, hz / 10);
    ASSERT_FALSE(after.empty());
    for (const Packet& packet : after) EXPECT_EQ(packet.due, model.ticks(packet.index));
    EXPECT_EQ(after.front().index, before.back().index + 1);
}

TEST(replay, another_speed_goes_on_at_its_place_in_the_file) {
    const Recording slow({0, 10 * ms, 20 * ms, 30 * ms, 40 * ms, 50 * ms}, 1'000'000, hz);
    const Recording fast({0, 10 * ms, 20 * ms, 30 * ms, 40 * ms, 50 * ms}, 2'000'000, hz);
    ReplayClock clock;
    LaneSchedule first({replayed(slow, clock)}, forever, hz);
    first.adopt(nullptr, 0);
    ASSERT_EQ(run(first, hz * 15 / 1000).size(), 2U);
    LaneStream spec = replayed(fast, clock);
    spec.previous = 0;
    LaneSchedule second({spec}, forever, hz);
    second.adopt(&first, hz * 15 / 1000);
    const auto sent = run(second, hz * 28 / 1000);
    ASSERT_EQ(sent.size(), 3U);  // half of the 5 ms that were left, then every 5 ms
    for (std::uint64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(sent[i].index, i + 2);
        EXPECT_EQ(sent[i].due, hz * 175 / 10'000 + i * (hz / 200));
    }
}

// A file that is read while it is sent, by a window that the test fills.
class Fed : public testing::Test {
  protected:
    void push(std::uint64_t offset_ns) {
        const std::vector<std::uint8_t> frame(60, 0);
        ASSERT_TRUE(window_->push(frame, 60, offset_ns));
    }
    std::unique_ptr<LaneSchedule> lane(std::vector<LaneStream> more = {}, Tsc stop = ~Tsc{0}) {
        LaneStream spec = replayed(recording_, clock_);
        spec.count = 1'000;
        spec.replay_stop = stop;
        more.push_back(spec);
        auto out = std::make_unique<LaneSchedule>(more, forever, hz);
        out->adopt(nullptr, 0);
        return out;
    }
    std::vector<Packet> turn(LaneSchedule& lane, Tsc now) {
        TemplateBurst bursts[64];
        std::vector<Packet> out;
        add(out, bursts, lane.fill(now, now + hz / 5'000, 64, 0, bursts));
        return out;
    }
    std::shared_ptr<packet::FrameWindow> window_ = std::make_shared<packet::FrameWindow>(1U << 20U);
    Recording recording_{window_, 1'000, 10 * ms, 1'000'000, hz};
    ReplayClock clock_;
};

TEST_F(Fed, packets_are_sent_at_their_dues_once_the_file_is_read_so_far_and_hold_up_no_other_stream) {
    LaneStream other = model::stream(7, {1'000, 1}, 1);
    other.count = 100;
    const auto lane = this->lane({other});
    Tsc now = 0;
    std::vector<Packet> sent;
    std::uint64_t others = 0;
    for (; now < hz / 50; now += hz / 20'000) {  // nothing has been read for 20 ms
        for (const Packet& packet : turn(*lane, now)) others += packet.due % (hz / 1000) == 0 ? 1 : 0;
    }
    EXPECT_GE(others, 19U);
    EXPECT_TRUE(lane->starved());
    for (std::uint64_t i = 0; i < 40; ++i) push(i * ms);
    EXPECT_FALSE(lane->starved());
    TemplateBurst bursts[64];
    for (; now < hz / 10; now += hz / 20'000) {
        const std::uint32_t n = lane->fill(now, now + hz / 5'000, 64, 0, bursts);
        for (std::uint32_t b = 0; b < n; ++b) {
            if (bursts[b].stream != 7) add(sent, bursts + b, 1);
        }
    }
    ASSERT_EQ(sent.size(), 40U);
    for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(sent[i], (Packet{i, i * (hz / 1000)}));
    lane->take_slips([](StreamSlot, std::uint64_t, std::uint64_t) { ADD_FAILURE() << "slipped"; });
}

TEST_F(Fed, a_reader_that_is_too_late_makes_the_time_line_slip_and_loses_nothing) {
    const auto lane = this->lane();
    push(0);
    ASSERT_EQ(turn(*lane, 0).size(), 1U);
    turn(*lane, hz / 4);
    for (std::uint64_t i = 1; i < 10; ++i) push(i * ms);
    std::vector<Packet> sent;
    for (Tsc now = hz / 2; now < hz; now += hz / 20'000) {
        for (const Packet& packet : turn(*lane, now)) sent.push_back(packet);
    }
    ASSERT_EQ(sent.size(), 9U);
    for (std::uint64_t i = 0; i < 9; ++i) {
        EXPECT_EQ(sent[i].index, i + 1);
        EXPECT_EQ(sent[i].due - sent[0].due, i * (hz / 1000));
    }
    std::uint64_t slips = 0;
    lane->take_slips([&](StreamSlot, std::uint64_t count, std::uint64_t) { slips += count; });
    EXPECT_EQ(slips, 1U);
}

TEST_F(Fed, its_duration_cuts_it_by_the_time_of_the_file) {
    const auto lane = this->lane({}, hz / 200);  // 5 ms
    for (std::uint64_t i = 0; i < 40; ++i) push(i * ms);
    std::size_t sent = 0;
    for (Tsc now = 0; now < hz / 10; now += hz / 20'000) sent += turn(*lane, now).size();
    EXPECT_EQ(sent, 5U);
    EXPECT_TRUE(lane->finished(hz / 10));
}

TEST(replay, a_pause_moves_the_rest_of_the_file) {
    const Recording recording({0, 10 * ms, 20 * ms, 30 * ms}, 1'000'000, hz);
    ReplayClock clock;
    LaneSchedule first({replayed(recording, clock)}, forever, hz);
    first.adopt(nullptr, 0);
    ASSERT_EQ(run(first, hz * 15 / 1000).size(), 2U);
    LaneStream spec = replayed(recording, clock);
    spec.previous = 0;
    spec.paused = true;
    LaneSchedule second({spec}, forever, hz);
    second.adopt(&first, hz * 15 / 1000);
    EXPECT_EQ(second.next_due(hz), forever);
    spec.paused = false;
    LaneSchedule third({spec}, forever, hz);
    third.adopt(&second, hz);
    const auto sent = run(third, hz * 1011 / 1000);
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ(sent[0], (Packet{2, hz}));
    EXPECT_EQ(sent[1], (Packet{3, hz + hz / 100}));
}

}  // namespace
}  // namespace volley::traffic
