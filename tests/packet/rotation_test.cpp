#include "packet/rotation.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

namespace volley::packet {
namespace {

std::unique_ptr<const PacketTemplate> built(const PacketModel& model) {
    auto result = build(model);
    EXPECT_EQ(result.index(), 0U);
    return std::move(std::get<0>(result));
}

PacketModel raw_of(std::vector<std::uint8_t> bytes) {
    PacketModel model;
    HeaderModel header;
    header.raw = std::move(bytes);
    model.headers.push_back(std::move(header));
    model.pad = false;
    return model;
}

/// A counter of one byte in front of `length` bytes of `fill`.
PacketModel counting(std::uint8_t fill, std::size_t length) {
    PacketModel model = raw_of(std::vector<std::uint8_t>(length, fill));
    RawProgram program;
    program.program.kind = Program::Kind::increment;
    program.program.to = 255;
    model.headers.front().programs.push_back(program);
    return model;
}

std::vector<std::uint8_t> written(const PacketTemplate& packet, std::uint64_t index) {
    std::vector<std::uint8_t> frame(packet.longest(), 0xee);
    frame.resize(packet.write(index, frame.data()));
    return frame;
}

std::unique_ptr<const PacketTemplate> three(Order order, Counting counting_what) {
    std::vector<std::unique_ptr<const PacketTemplate>> members;
    members.push_back(built(counting(0xaa, 20)));
    members.push_back(built(raw_of({1, 2, 3})));
    members.push_back(built(counting(0xbb, 300)));
    return rotate(std::move(members), order, counting_what);
}

TEST(Rotation, sends_its_members_in_turn_and_each_counts_its_own_sends) {
    const auto packet = three(Order::sequence, Counting::own);
    EXPECT_EQ(packet->longest(), 300U);
    EXPECT_EQ(packet->fixed_length(), 0U);
    EXPECT_EQ(packet->mean_l2_bytes(), (Rational{335, 3}));
    for (std::uint64_t i = 0; i < 900; ++i) {
        const auto frame = written(*packet, i);
        ASSERT_EQ(frame.size(), (std::array<std::size_t, 3>{20, 3, 300}[i % 3]));
        if (i % 3 != 1) {
            ASSERT_EQ(frame.front(), i / 3 % 256);
        }
        ASSERT_EQ(frame.back(), (std::array<std::uint8_t, 3>{0xaa, 3, 0xbb}[i % 3]));
    }
}

TEST(Rotation, can_count_every_packet_of_the_stream) {
    const auto packet = three(Order::sequence, Counting::stream);
    for (const std::uint64_t i : {0U, 2U, 3U, 5U, 600U}) EXPECT_EQ(written(*packet, i).front(), i % 256);
}

TEST(Rotation, stamps_a_burst_into_buffers_that_held_anything) {
    const auto packet = three(Order::sequence, Counting::own);
    std::array<std::array<std::uint8_t, 300>, 100> buffers{};
    std::array<std::uint8_t*, 100> frames{};
    for (std::size_t k = 0; k < frames.size(); ++k) {
        buffers[k].fill(static_cast<std::uint8_t>(k));
        frames[k] = buffers[k].data();
    }
    std::array<std::uint16_t, 100> lengths{};
    constexpr std::uint64_t first = 0xfffffffff7;
    packet->stamp(first, 100, frames.data());
    packet->lengths(first, 100, lengths.data());
    for (std::size_t k = 0; k < frames.size(); ++k) {
        const auto alone = written(*packet, first + k);
        ASSERT_EQ(lengths[k], alone.size());
        ASSERT_TRUE(std::equal(alone.begin(), alone.end(), buffers[k].begin())) << k;
    }
}

TEST(Rotation, in_random_order_draws_each_member_equally_often_and_the_same_again) {
    const auto packet = three(Order::random, Counting::own);
    std::map<std::size_t, int> seen;
    for (std::uint64_t i = 0; i < 3000; ++i) ++seen[written(*packet, i).size()];
    EXPECT_EQ(seen.size(), 3U);
    for (const auto& [length, times] : seen) EXPECT_NEAR(times, 1000, 100) << length;
    const auto again = three(Order::random, Counting::own);
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(written(*packet, i), written(*again, i));
}

TEST(Rotation, of_constant_frames_holds_them_back_to_back) {
    FrameStore store;
    for (std::uint16_t i = 1; i <= 1000; ++i) {
        store.offsets.push_back(store.bytes.size());
        store.lengths.push_back(i);
        store.bytes.insert(store.bytes.end(), i, static_cast<std::uint8_t>(i));
    }
    const auto packet = rotate(std::move(store), Order::sequence);
    EXPECT_EQ(packet->longest(), 1000U);
    EXPECT_EQ(packet->mean_l2_bytes(), (Rational{1009, 2}));
    for (const std::uint64_t i : {0U, 14U, 15U, 16U, 255U, 256U, 257U, 999U, 1000U}) {
        const std::size_t length = i % 1000 + 1;
        EXPECT_EQ(written(*packet, i), std::vector<std::uint8_t>(length, static_cast<std::uint8_t>(length)));
    }
}

TEST(Rotation, of_frames_of_one_length_says_so) {
    std::vector<std::unique_ptr<const PacketTemplate>> members;
    members.push_back(built(raw_of({1, 2, 3})));
    members.push_back(built(raw_of({4, 5, 6})));
    const auto packet = rotate(std::move(members), Order::sequence, Counting::own);
    EXPECT_EQ(packet->fixed_length(), 3U);
    EXPECT_FALSE(packet->constant());
}

}  // namespace
}  // namespace volley::packet
