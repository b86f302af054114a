#include "daemon/expected.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "worker/rx_stream.h"

namespace volley::daemon {
namespace {

/// Two receivers that share a stream of two lanes with bursts of one packet: packet i is of lane i % 2.
class Expected : public testing::Test {
  protected:
    void arrive(std::size_t receiver, std::uint64_t index) {
        const auto sequence = static_cast<std::uint32_t>(index);
        const std::uint64_t now_ns = now_ns_++;
        const std::uint32_t length = 60;
        worker::RxStream::Taken taken;
        receivers_[receiver].stream.take({&sequence, &now_ns, &length, 1, now_ns}, taken);
        ASSERT_EQ(taken.ours, 1U);
    }
    [[nodiscard]] std::uint64_t lost() const {
        std::array<ExpectedByLane, 2> expected{};
        std::uint64_t unique = 0;
        for (std::size_t w = 0; w < 2; ++w) {
            const worker::StreamRx& row = *receivers_[w].row;
            for (std::size_t lane = 0; lane < expected[w].size(); ++lane)
                expected[w][lane] = row.expected[lane].get();
            unique += row.packets.get() - row.duplicates.get();
        }
        return std::max(expected_of(expected), unique) - unique;
    }

  private:
    struct Receiver {
        std::unique_ptr<worker::StreamRx> row = std::make_unique<worker::StreamRx>();
        worker::RxStream stream{{0, 0, 2, 1}, 0, *row};
    };
    std::uint64_t now_ns_ = 1;
    std::array<Receiver, 2> receivers_;
};

TEST_F(Expected, packets_that_are_missing_show_at_once_where_each_receiver_has_a_lane_of_its_own) {
    for (std::uint64_t i = 0; i < 200; ++i) {
        if (i != 20 && i != 21 && i != 30) arrive(i % 2, i);
    }
    EXPECT_EQ(lost(), 3U);
}

TEST_F(Expected, packets_that_are_missing_show_at_once_where_both_receivers_have_packets_of_both_lanes) {
    for (std::uint64_t i = 0; i < 200; ++i) {
        if (i != 20 && i != 21 && i != 30) arrive(i / 2 % 2, i);
    }
    EXPECT_EQ(lost(), 3U);
}

TEST_F(Expected, nothing_is_lost_while_one_lane_is_behind_the_other) {
    for (std::uint64_t i = 0; i < 200; i += 2) arrive(0, i);
    EXPECT_EQ(lost(), 0U);
    for (std::uint64_t i = 1; i < 50; i += 2) arrive(1, i);
    EXPECT_EQ(lost(), 0U);
}

TEST(Copies, are_what_ports_together_have_beyond_the_one_with_most) {
    EXPECT_EQ(copies_among(std::vector<std::uint64_t>{600, 400}, 1000), 0U) << "spread over both";
    EXPECT_EQ(copies_among(std::vector<std::uint64_t>{600, 401}, 1000), 401U);
    EXPECT_EQ(copies_among(std::vector<std::uint64_t>{750, 750}, 1000), 750U) << "flooded, both with loss";
    EXPECT_EQ(copies_among(std::vector<std::uint64_t>{1000}, 1000), 0U);
}

}  // namespace
}  // namespace volley::daemon
