#include "traffic/feed.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

namespace volley::traffic {
namespace {

constexpr std::chrono::seconds patience{60};

class FeedOfFile : public testing::Test {
  protected:
    void SetUp() override { write(100); }
    void TearDown() override { std::remove(source_.file.c_str()); }
    // `count` frames of 70 bytes, 1 us apart; the last one may be of another length.
    void write(std::uint32_t count, std::uint32_t last = 70) const {
        std::ofstream out(source_.file, std::ios::binary);
        const auto word = [&](std::uint32_t value) {
            out.write(reinterpret_cast<const char*>(&value), sizeof value);
        };
        for (const std::uint32_t value : {0xa1b23c4dU, 0x00040002U, 0U, 0U, 65535U, 1U}) word(value);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t length = i + 1 == count ? last : 70;
            for (const std::uint32_t value : {7U, i * 1'000U, length, length}) word(value);
            out << std::string(length, static_cast<char>(i));
        }
    }
    void set_age(std::chrono::seconds age) const {
        timespec at{};
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_sec -= age.count();
        const timespec both[2] = {at, at};
        ASSERT_EQ(utimensat(AT_FDCWD, source_.file.c_str(), both, 0), 0);
    }
    template <class Condition>
    static bool wait_for(Condition&& condition) {
        const auto deadline = std::chrono::steady_clock::now() + patience;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            std::this_thread::yield();
        }
        return true;
    }
    config::PcapSource source_ = [] {
        config::PcapSource out;
        out.file = testing::TempDir() + "volley-feed-" + std::to_string(getpid()) + ".pcap";
        out.timing = config::Timing::recorded;
        out.memory_mib = 1;
        out.loop = 2;
        return out;
    }();
};

TEST_F(FeedOfFile, reads_loop_after_loop_with_the_mean_gap_between_them) {
    Feed feed(source_, true);
    EXPECT_EQ(feed.survey().packets, 100U);
    EXPECT_EQ(feed.surveyed().l2_bytes, 7'400U);
    feed.start();
    ASSERT_TRUE(wait_for([&] { return feed.window()->ready() == 200; }));
    for (std::uint64_t i = 0; i < 200; ++i) {
        EXPECT_EQ(feed.window()->offset_ns(i), i * 1'000);
        EXPECT_EQ(feed.window()->bytes(i)[69], i % 100);
    }
    EXPECT_EQ(feed.problem(), "");
    EXPECT_TRUE(feed.same_file());
}

TEST_F(FeedOfFile, tells_that_the_file_is_another_than_the_one_that_was_looked_through) {
    for (const std::uint32_t count : {99U, 101U}) {
        write(100);
        Feed feed(source_, true);
        feed.survey();
        write(count);
        EXPECT_FALSE(feed.same_file());
        feed.start();
        ASSERT_TRUE(wait_for([&] { return !feed.problem().empty(); }));
        EXPECT_NE(feed.problem().find("has changed while it is being sent"), std::string::npos);
        EXPECT_LE(feed.window()->ready(), 100U);
    }
}

TEST_F(FeedOfFile, tells_that_its_last_frame_grew) {
    Feed feed(source_, true);
    feed.survey();
    write(100, 71);
    feed.start();
    ASSERT_TRUE(wait_for([&] { return !feed.problem().empty() || feed.window()->ready() == 198; }));
    EXPECT_NE(feed.problem().find("has changed while it is being sent"), std::string::npos);
    EXPECT_EQ(feed.window()->ready(), 99U);
}

TEST_F(FeedOfFile, gives_who_waits_for_it_a_moment_every_16_mib_while_it_is_looked_through) {
    write(400'000);  // 34.4 MB
    int rests = 0;
    Feed feed(source_, true);
    EXPECT_EQ(feed.survey([&] { ++rests; }).packets, 400'000U);
    EXPECT_EQ(rests, 2);
}

// 34.4 MB: looking through it rests twice.
TEST_F(FeedOfFile, that_is_as_it_was_is_not_looked_through_again) {
    write(400'000);
    const auto rests_of_a_survey = [&](std::uint64_t packets) {
        int rests = 0;
        Feed feed(source_, true);
        EXPECT_EQ(feed.survey([&] { ++rests; }).packets, packets);
        EXPECT_EQ(feed.surveyed().samples.front().size(), 70U);
        return rests;
    };
    EXPECT_EQ(rests_of_a_survey(400'000), 2);
    EXPECT_EQ(rests_of_a_survey(400'000), 2) << "written a moment ago, it may change again unseen";
    set_age(std::chrono::seconds(60));
    EXPECT_EQ(rests_of_a_survey(400'000), 2);
    EXPECT_EQ(rests_of_a_survey(400'000), 0);
    source_.loop = 1;
    source_.speed = 3;
    EXPECT_EQ(rests_of_a_survey(400'000), 0) << "what is found does not depend on them";
    source_.pad = true;
    EXPECT_EQ(rests_of_a_survey(400'000), 2) << "read in another way";
    write(400'001);
    set_age(std::chrono::seconds(60));
    EXPECT_EQ(rests_of_a_survey(400'001), 2) << "another size";
    set_age(std::chrono::seconds(61));
    EXPECT_EQ(rests_of_a_survey(400'001), 2) << "another time";
}

TEST_F(FeedOfFile, that_is_full_ends_when_it_is_let_go_of) {
    source_.loop = 0;
    Feed feed(source_, true);
    feed.survey();
    feed.start();
    ASSERT_TRUE(wait_for([&] { return feed.window()->ready() > 4'000; }));
}

}  // namespace
}  // namespace volley::traffic
