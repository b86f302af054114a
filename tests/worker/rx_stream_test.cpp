#include "worker/rx_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <random>
#include <vector>

namespace volley::worker {
namespace {

// One stream at one receiver in simulated time: a packet a microsecond, each a microsecond under way.
class Simulation {
  public:
    explicit Simulation(SentAs sent = {}, std::uint64_t born_ns = 1'000'000'000)
        : now_(born_ns), stream_(std::make_unique<RxStream>(sent, born_ns, *row_)) {}

    bool arrive(std::uint64_t index, std::uint64_t latency_ns = 1'000) {
        now_ += 1'000;
        const auto sequence = static_cast<std::uint32_t>(index);
        const std::uint64_t sent_ns = (now_ - latency_ns) & packet::time_mask;
        const std::uint32_t length = 60;
        RxStream::Taken taken;
        stream_->take({&sequence, &sent_ns, &length, 1, now_}, taken);
        EXPECT_LE(taken.ours, 1U);
        if (taken.ours != 0) {
            EXPECT_EQ(taken.index[0], index);
        }
        return taken.ours != 0;
    }
    void pass(std::uint64_t ns) { now_ += ns; }

    void expect(std::uint64_t packets, std::uint64_t lost, std::uint64_t duplicates,
                std::uint64_t reordered) {
        EXPECT_EQ(row_->packets.get(), packets);
        EXPECT_EQ(row_->bytes.get(), packets * 60);
        EXPECT_EQ(row_->expected_packets() - (packets - row_->duplicates.get()), lost);
        EXPECT_EQ(row_->duplicates.get(), duplicates);
        EXPECT_EQ(row_->reordered.get(), reordered);
    }
    StreamRx& row() { return *row_; }

  private:
    std::uint64_t now_;
    std::unique_ptr<StreamRx> row_ = std::make_unique<StreamRx>();
    std::unique_ptr<RxStream> stream_;
};

TEST(RxStream, counts_packets_in_order_and_nothing_else) {
    Simulation s;
    for (std::uint64_t i = 0; i < 10'000; ++i) ASSERT_TRUE(s.arrive(i));
    s.expect(10'000, 0, 0, 0);
    EXPECT_EQ(s.row().outage_longest.get(), 0U);
}

TEST(RxStream, a_gap_is_as_many_lost_as_it_is_wide_and_an_outage_as_long_as_the_silence) {
    Simulation s;
    for (std::uint64_t i = 0; i < 100; ++i) s.arrive(i);
    s.pass(7'000'000);
    s.arrive(1'000'100);
    s.expect(101, 1'000'000, 0, 0);
    EXPECT_EQ(s.row().outage_longest.get(), 7'001'000U);
    s.pass(2'000'000);
    s.arrive(1'000'102);
    s.expect(102, 1'000'001, 0, 0);
    EXPECT_EQ(s.row().outage_longest.get(), 7'001'000U);
    EXPECT_EQ(s.row().outage_last.get(), 2'001'000U);
}

TEST(RxStream, packets_before_the_first_that_comes_are_lost) {
    Simulation s;
    s.arrive(5);
    s.expect(1, 5, 0, 0);
}

TEST(RxStream, a_late_packet_repairs_lost_and_counts_as_reordered) {
    Simulation s;
    for (const std::uint64_t i : {0U, 1U, 3U, 4U, 2U, 5U}) s.arrive(i);
    s.expect(6, 0, 0, 1);
    EXPECT_EQ(s.row().outage_longest.get(), 0U) << "a gap that was filled is no outage";
}

TEST(RxStream, a_packet_that_comes_again_is_a_duplicate_however_late) {
    Simulation s;
    for (const std::uint64_t i : {0U, 1U, 1U, 2U, 3U, 0U, 3U}) s.arrive(i);
    s.expect(7, 0, 3, 0);
    s.arrive(7);
    s.arrive(5);
    s.arrive(5);
    s.expect(10, 2, 4, 1);
}

TEST(RxStream, a_sequence_gap_of_200000_that_arrives_after_all_leaves_no_loss) {
    Simulation s;  // B47: sequence 0, 200000, 1, 2, ...
    s.arrive(0);
    s.arrive(200'000);
    s.expect(2, 199'999, 0, 0);
    for (std::uint64_t i = 1; i < 200'000; ++i) s.arrive(i);
    s.expect(200'001, 0, 0, 199'999);
    s.arrive(100'000);
    s.expect(200'002, 0, 1, 199'999);
}

TEST(RxStream, the_middle_of_a_gap_may_arrive_first) {
    Simulation s;
    s.arrive(0);
    s.arrive(201);
    for (std::uint64_t i = 0; i < 200; ++i) s.arrive(1 + (i * 101) % 200);
    s.expect(202, 0, 0, 200);
}

TEST(RxStream, random_loss_duplication_and_displacement_are_counted_as_a_set_of_all_indices_says) {
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round) {
        Simulation s;
        std::vector<std::uint64_t> order;
        std::uint64_t lost = 0;
        std::uint64_t duplicates = 0;
        for (std::uint64_t i = 0; i < 5'000; ++i) {
            if (i + 1 < 5'000 && random() % 50 == 0) {
                ++lost;
                continue;
            }
            order.push_back(i);
            if (random() % 70 == 0) {
                order.push_back(i);
                ++duplicates;
            }
        }
        for (std::size_t k = 0; k + 20 < order.size(); k += 20) {
            if (random() % 3 == 0) std::rotate(&order[k], &order[k + 1], &order[k + random() % 18 + 2]);
        }
        std::vector<bool> seen(5'000);
        std::uint64_t reordered = 0;
        std::uint64_t furthest = 0;
        for (const std::uint64_t i : order) {
            if (!seen[i] && i < furthest) ++reordered;
            seen[i] = true;
            furthest = std::max(furthest, i);
            s.arrive(i);
        }
        s.expect(order.size(), lost, duplicates, reordered);
    }
}

TEST(RxStream, sequences_wrap_after_2_to_the_32_packets) {
    Simulation s;
    const std::uint64_t step = RxStream::window - 1;
    std::uint64_t index = 0;
    std::uint64_t packets = 0;
    for (; index < (std::uint64_t{9} << 32); index += step) {
        ASSERT_TRUE(s.arrive(index));
        ++packets;
    }
    s.expect(packets, index - step + 1 - packets, 0, 0);
    // Across the wrap itself, packet by packet, with one that is late.
    Simulation w;
    const std::uint64_t wrap = std::uint64_t{1} << 32;
    for (std::uint64_t i = 0; i < wrap - 1'000; i += step / 2) w.arrive(i);
    for (std::uint64_t i = wrap - 500; i < wrap + 500; ++i) {
        if (i == wrap - 1) continue;
        ASSERT_TRUE(w.arrive(i));
    }
    const std::uint64_t lost = w.row().expected_packets() - w.row().packets.get();
    ASSERT_TRUE(w.arrive(wrap - 1));
    EXPECT_EQ(w.row().expected_packets() - w.row().packets.get(), lost - 1);
    EXPECT_EQ(w.row().reordered.get(), 1U);
}

TEST(RxStream, lanes_that_run_apart_are_neither_loss_nor_reordering) {
    SentAs sent;
    sent.lanes = 3;
    sent.burst = 4;
    sent.slot = 5;
    Simulation s(sent);
    // Lane 0 sends all that it has before the others begin.
    for (std::uint32_t lane = 0; lane < 3; ++lane) {
        for (std::uint64_t o = 0; o < 300; ++o) {
            if ((o + sent.slot) % 3 != lane) continue;
            for (std::uint64_t k = 0; k < 4; ++k) ASSERT_TRUE(s.arrive(o * 4 + k));
        }
    }
    s.expect(1'200, 0, 0, 0);
}

TEST(RxStream, loss_is_found_in_the_lane_that_has_it) {
    SentAs sent;
    sent.lanes = 2;
    sent.burst = 2;
    Simulation s(sent);
    for (const std::uint64_t i : {0U, 1U, 4U, 5U, 2U, 3U, 8U, 10U, 11U}) s.arrive(i);
    s.expect(9, 2, 0, 0);  // 6 and 7 of lane 1; 9 has not been passed by its lane yet
    s.arrive(12);
    s.expect(10, 3, 0, 0);
}

// A cable that was pulled for minutes: more is missing than half of what a sequence can tell.
TEST(RxStream, finds_its_place_after_an_outage_beyond_the_window_by_what_was_sent) {
    for (const std::uint64_t missing : {RxStream::window + 5, std::uint64_t{1} << 31,
                                        (std::uint64_t{1} << 32) + 7, (std::uint64_t{7} << 32) + 123'456}) {
        Simulation s;
        for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(s.arrive(i));
        s.row().sent.set(100 + missing - 1'000);  // read a moment ago
        for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(s.arrive(100 + missing + i));
        s.expect(200, missing, 0, 0);
    }
}

TEST(RxStream, counts_what_was_sent_from_the_beginning_of_its_life) {
    SentAs sent;
    sent.sent_before = std::uint64_t{1} << 40;
    Simulation s(sent);
    s.row().sent.set(sent.sent_before + 10);
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(s.arrive(i));
    s.expect(100, 0, 0, 0);
}

TEST(RxStream, refuses_a_sequence_outside_its_window) {
    Simulation s;
    s.arrive(10);
    EXPECT_FALSE(s.arrive(std::uint64_t{11} + RxStream::window));
    EXPECT_FALSE(s.arrive(std::uint64_t{0xffffffff}));  // one before the first
    s.expect(1, 10, 0, 0);
}

TEST(RxStream, refuses_what_was_sent_before_the_stream_began_or_after_now) {
    Simulation s({}, 5'000'000'000);
    EXPECT_FALSE(s.arrive(0, 2'000));                         // a microsecond before it was born
    EXPECT_TRUE(s.arrive(0, 2'000));                          // as old, a microsecond later
    EXPECT_FALSE(s.arrive(1, std::uint64_t{0} - 2'000'000));  // two milliseconds ahead
    s.expect(1, 0, 0, 0);
}

TEST(RxStream, latency_is_never_negative_and_survives_the_wrap_of_48_bits) {  // B66
    Simulation s({}, packet::time_mask - 5'000'000);
    EXPECT_TRUE(s.arrive(0, std::uint64_t{0} - 200));  // the sender's core is ahead by 200 ns
    EXPECT_EQ(s.row().latency[0].get(), 1U);
    s.pass(10'000'000);
    EXPECT_TRUE(s.arrive(1, 8'000'000));
    EXPECT_EQ(s.row().latency[LatencyBuckets::index(8'000'000)].get(), 1U);
    EXPECT_EQ(s.row().latency_sum.get(), 8'000'000U);
}

TEST(RxStream, latency_buckets_are_within_3_per_cent_from_64_ns_to_10_s) {
    for (double ns = 64; ns < 1e10; ns *= 1.003) {
        const auto value = static_cast<std::uint64_t>(ns);
        const std::size_t i = LatencyBuckets::index(value);
        const std::uint64_t lower = LatencyBuckets::upper(i - 1) + 1;
        const double middle = static_cast<double>(lower + LatencyBuckets::upper(i)) / 2;
        ASSERT_NEAR(middle / static_cast<double>(value), 1.0, 0.03) << value;
    }
}

TEST(RxStream, jitter_follows_rfc_3550) {  // B67
    Simulation s;
    s.pass(100'000);
    double jitter = 0;
    std::uint64_t last = 0;
    std::mt19937 random(3);
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        const std::uint64_t latency = 10'000 + random() % 5'000;
        if (i > 0) {
            const auto change = static_cast<double>(latency) - static_cast<double>(last);
            jitter += (std::abs(change) - jitter) / 16;
        }
        last = latency;
        s.arrive(i, latency);
    }
    EXPECT_NEAR(static_cast<double>(s.row().jitter.get()) / 16, jitter, 1.5);
    EXPECT_EQ(s.row().transits.get(), 999U);
}

TEST(RxStream, inter_arrival_counts_the_time_between_neighbours) {
    Simulation s;
    for (std::uint64_t i = 0; i < 10; ++i) s.arrive(i);
    EXPECT_EQ(s.row().arrival[ArrivalBuckets::index(1'000)].get(), 9U);
}

/// Everything that a row of counters says.
std::vector<std::uint64_t> all_of(const StreamRx& row) {
    std::vector<std::uint64_t> out;
    for (const Counter* counter :
         {&row.packets, &row.bytes, &row.duplicates, &row.reordered, &row.latency_sum, &row.jitter,
          &row.transits, &row.outage_longest, &row.outage_last})
        out.push_back(counter->get());
    for (const Counter& lane : row.expected) out.push_back(lane.get());
    for (const Counter& bucket : row.latency) out.push_back(bucket.get());
    for (const Counter& bucket : row.arrival) out.push_back(bucket.get());
    return out;
}

/// Workers that share the stream.
class RunsOf : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RunsOf, packets_count_as_the_same_packets_one_by_one) {
    SentAs sent;
    sent.lanes = GetParam();
    sent.burst = 3;
    std::mt19937 random(11);
    const auto row = std::make_unique<StreamRx>();
    const auto wanted = std::make_unique<StreamRx>();
    constexpr std::uint64_t born_ns = 1'000'000'000;
    RxStream together(sent, born_ns, *row);
    RxStream single(sent, born_ns, *wanted);
    std::uint64_t next = 0;
    std::uint64_t now_ns = born_ns + 5'000'000;
    std::uint32_t strangers = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::array<std::uint32_t, RxStream::most> sequences{};
        std::array<std::uint64_t, RxStream::most> sent_ns{};
        std::array<std::uint32_t, RxStream::most> lengths{};
        const auto count = static_cast<std::uint32_t>(random() % RxStream::most + 1);
        const bool disturbed = random() % 4 == 0;
        const std::uint64_t batch_ns = now_ns - random() % 40'000;
        for (std::uint32_t k = 0; k < count; ++k) {
            const auto luck = disturbed ? random() % 40 : 99;
            next += luck == 0 ? 3 : 0;                                // lost
            const std::uint64_t back = luck == 1 ? random() % 5 : 0;  // late, or a duplicate
            sequences[k] = static_cast<std::uint32_t>(next++ - std::min(back, next));
            if (luck == 2) sequences[k] ^= 0x7000'0000;                       // outside the window
            sent_ns[k] = luck == 3 ? born_ns - 1 : batch_ns - k / 8 * 1'000;  // before its life
            lengths[k] = 60 + static_cast<std::uint32_t>(random() % 100);
        }
        RxStream::Taken taken;
        together.take({sequences.data(), sent_ns.data(), lengths.data(), count, now_ns}, taken);
        for (std::uint32_t k = 0; k < count; ++k) {
            RxStream::Taken one;
            single.take({&sequences[k], &sent_ns[k], &lengths[k], 1, now_ns}, one);
            ASSERT_EQ(taken.ours >> k & 1, one.ours) << "packet " << k << " of run " << round;
            ASSERT_EQ(taken.unusual >> k & 1, one.unusual);
            if (one.ours != 0) {
                ASSERT_EQ(taken.index[k], one.index[0]);
            }
            if (one.unusual != 0) {
                ASSERT_EQ(taken.fate[k], one.fate[0]);
            }
            strangers += one.ours == 0 ? 1 : 0;
        }
        ASSERT_EQ(taken.ours >> (count - 1) >> 1, 0U) << "bits of no packet";
        now_ns += random() % 100'000;
    }
    EXPECT_EQ(all_of(*row), all_of(*wanted));
    EXPECT_GT(strangers, 100U);
    EXPECT_GT(row->reordered.get(), 50U);
    EXPECT_GT(row->duplicates.get(), 100U);
}

INSTANTIATE_TEST_SUITE_P(OneWorkerAndOfThree, RunsOf, testing::Values(1U, 3U));

TEST(RxStream, more_gaps_than_are_remembered_stay_lost_and_their_late_packets_count_as_duplicates) {
    Simulation s;
    for (std::uint64_t i = 0; i <= 400; i += 2) s.arrive(i);  // 200 gaps of one
    s.expect(201, 200, 0, 0);
    s.arrive(1);
    s.expect(202, 200, 1, 0);
    s.arrive(399);
    s.expect(203, 199, 1, 1);
}

}  // namespace
}  // namespace volley::worker
