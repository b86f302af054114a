#include "daemon/stream_book.h"

#include <gtest/gtest.h>

namespace volley::daemon {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t never = ~std::uint64_t{0};

traffic::StreamPlan stream(const std::string& name, std::uint32_t slot, Rational pps) {
    traffic::StreamPlan out;
    out.name = name;
    out.slot = StreamSlot{slot};
    out.pps = pps;
    return out;
}

class Book : public testing::Test {
  protected:
    Book() { model_.ports.emplace_back().name = "east"; }
    void adopt(std::vector<traffic::StreamPlan> streams, std::uint64_t now, bool continues) {
        traffic::Plan plan;
        plan.streams = std::move(streams);
        book_.adopt(plan, model_, start, end_, now, continues, [this](StreamSlot) { return sent_; });
    }
    std::uint64_t due(std::uint64_t now) { return book_.read(now).front().due_packets.value(); }

    static constexpr std::uint64_t start = 10 * second;
    std::uint64_t end_ = never;
    std::uint64_t sent_ = 0;  ///< packets of every stream
    config::Model model_;
    StreamBook book_;
};

template <class... Streams>
std::vector<traffic::StreamPlan> some(Streams... streams) {
    std::vector<traffic::StreamPlan> out;
    (out.push_back(std::move(streams)), ...);
    return out;
}

TEST_F(Book, counts_a_packet_as_due_from_its_own_due_on) {
    adopt(some(stream("a", 0, {1'000, 1})), start, false);
    EXPECT_EQ(due(start), 0U);
    EXPECT_EQ(due(start + 1), 1U);
    EXPECT_EQ(due(start + second), 1'000U);
    EXPECT_EQ(due(start + second + 1), 1'001U);
}

TEST_F(Book, nothing_falls_due_after_the_count_the_duration_or_the_end) {
    auto counted = stream("a", 0, {1'000, 1});
    counted.count = 70;
    adopt(some(std::move(counted)), start, false);
    EXPECT_EQ(due(start + second), 70U);
    auto timed = stream("a", 0, {1'000, 3});
    timed.duration = Duration{second};
    adopt(some(std::move(timed)), start, false);
    EXPECT_EQ(due(start + 9 * second), 334U);
    end_ = start + second / 2;
    adopt(some(stream("a", 0, {1'000, 1})), start, false);
    EXPECT_EQ(due(start + second), 500U);
}

TEST_F(Book, a_reload_keeps_what_was_due_and_counts_on_at_the_new_rate) {
    adopt(some(stream("a", 0, {1'000, 1})), start, false);
    adopt(some(stream("a", 0, {10'000, 1})), start + second, true);
    EXPECT_EQ(due(start + 2 * second), 11'000U);
}

TEST_F(Book, what_was_sent_at_max_or_by_a_shape_was_due_and_a_shortfall_of_before_stays_one) {
    adopt(some(stream("a", 0, {1'000, 1})), start, false);
    sent_ = 900;
    auto free = stream("a", 0, {0, 1});
    free.max = true;
    adopt(some(std::move(free)), start + second, true);
    EXPECT_FALSE(book_.read(start + 2 * second).front().due_packets);
    sent_ = 70'900;
    auto shaped = stream("a", 0, {1'000, 1});
    shaped.shape = std::make_shared<traffic::Shape>();
    adopt(some(std::move(shaped)), start + 2 * second, true);
    sent_ = 71'900;
    adopt(some(stream("a", 0, {10, 1})), start + 3 * second, true);
    EXPECT_EQ(due(start + 4 * second), 72'010U);
}

TEST_F(Book, a_stream_that_a_reload_takes_away_stays_in_the_book_as_removed) {
    adopt(some(stream("a", 0, {1'000, 1}), stream("b", 1, {1'000, 1})), start, false);
    adopt(some(stream("b", 1, {1'000, 1})), start + second, true);
    const auto lines = book_.read(start + 2 * second);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].state, "removed");
    EXPECT_EQ(lines[1].state, "running");
    EXPECT_EQ(lines[1].due_packets, 2'000U);
}

TEST_F(Book, nothing_falls_due_while_a_stream_is_paused) {
    adopt(some(stream("a", 0, {1'000, 1})), start, false);
    auto paused = stream("a", 0, {1'000, 1});
    paused.paused = true;
    adopt(some(std::move(paused)), start + second, true);
    const auto lines = book_.read(start + 2 * second);
    EXPECT_EQ(lines.at(0).state, "paused");
    EXPECT_EQ(lines.at(0).due_packets, 1'000U);
    EXPECT_EQ(lines.at(0).target_pps, (Rational{0, 1}));
    adopt(some(stream("a", 0, {1'000, 1})), start + 5 * second, true);
    EXPECT_EQ(due(start + 6 * second), 2'000U);
    EXPECT_EQ(book_.read(start + 6 * second).at(0).state, "running");
}

TEST_F(Book, has_nothing_due_when_the_next_run_takes_its_base_line) {
    adopt(some(stream("a", 0, {1'000, 1})), start, false);
    book_.end(start + second);
    book_.begin();
    const auto lines = book_.read(start + 2 * second);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].due_packets.value_or(0), 0U);
}

TEST_F(Book, a_stream_waits_for_its_delay_and_one_at_max_has_no_due) {
    auto late = stream("a", 0, {1'000, 1});
    late.start_delay = Duration{second};
    auto max = stream("b", 1, {0, 1});
    max.max = true;
    adopt(some(std::move(late), std::move(max)), start, false);
    const auto lines = book_.read(start + second / 2);
    EXPECT_EQ(lines[0].state, "waiting");
    EXPECT_EQ(lines[0].due_packets, 0U);
    EXPECT_FALSE(lines[1].due_packets);
    EXPECT_FALSE(lines[1].target_pps);
    EXPECT_EQ(book_.read(start + second + 1)[0].state, "running");
}

}  // namespace
}  // namespace volley::daemon
