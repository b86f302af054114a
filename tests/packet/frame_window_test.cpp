#include "packet/frame_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

namespace volley::packet {
namespace {

constexpr std::uint64_t mib = 1U << 20U;

std::uint32_t length_of(std::uint64_t i) {
    return 1 + static_cast<std::uint32_t>(i * 2'654'435'761U % max_frame);
}

std::vector<std::uint8_t> frame_of(std::uint64_t i) {
    std::vector<std::uint8_t> out(length_of(i));
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<std::uint8_t>(i * 31 + k);
    return out;
}

bool push(FrameWindow& window, std::uint64_t i) {
    const auto frame = frame_of(i);
    return window.push(frame, static_cast<std::uint32_t>(frame.size()), i * 10);
}

TEST(FrameWindow, takes_what_fits_and_no_more_until_frames_are_released) {
    FrameWindow window(mib);
    std::uint64_t pushed = 0;
    std::uint64_t bytes = 0;
    for (; push(window, pushed); ++pushed) bytes += length_of(pushed);
    EXPECT_LE(bytes, mib);
    EXPECT_GT(bytes, mib - 2 * max_frame);
    EXPECT_EQ(window.ready(), pushed);
    window.release(1);
    window.release(20);
    EXPECT_TRUE(push(window, pushed));
}

TEST(FrameWindow, holds_small_frames_up_to_its_slots) {
    FrameWindow window(mib);
    const std::array<std::uint8_t, 1> byte{7};
    std::uint64_t pushed = 0;
    while (window.push(byte, 1, 0)) ++pushed;
    EXPECT_GE(pushed, mib / 256);
    window.release(pushed);
    for (std::uint64_t i = 0; i < pushed; ++i) ASSERT_TRUE(window.push(byte, 1, 0)) << i;
    EXPECT_FALSE(window.push(byte, 1, 0));
}

TEST(FrameWindow, fills_up_what_was_captured_in_part_with_zeros) {
    FrameWindow window(mib);
    const std::vector<std::uint8_t> ones(100, 1);
    ASSERT_TRUE(window.push(ones, 100, 0));
    window.release(1);
    for (std::uint64_t i = 1; window.ready() < 300; ++i) {  // over the end of the ring
        ASSERT_TRUE(window.push(std::span(ones).first(3), 9000, 0));
        const std::uint8_t* bytes = window.bytes(i);
        ASSERT_EQ(bytes[2], 1);
        ASSERT_TRUE(std::all_of(bytes + 3, bytes + 9000, [](std::uint8_t b) { return b == 0; }));
        window.release(i + 1);
    }
}

TEST(FrameWindow, hands_every_frame_over_whole_to_another_thread_through_a_template) {
    constexpr std::uint64_t frames = 20'000;
    auto window = std::make_shared<FrameWindow>(mib);
    const auto packet = stream(window, max_frame, {frame_of(0)}, {1, 1});
    std::thread reader([&] {
        for (std::uint64_t i = 0; i < frames;) {
            if (push(*window, i)) {
                ++i;
            } else {
                std::this_thread::yield();
            }
        }
    });
    std::vector<std::uint8_t> room(max_frame);
    for (std::uint64_t i = 0; i < frames; ++i) {
        while (window->ready() <= i) std::this_thread::yield();
        ASSERT_EQ(window->offset_ns(i), i * 10);
        const auto expected = frame_of(i);
        ASSERT_EQ(packet->write(i, room.data()), expected.size());
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), room.begin())) << i;
    }
    reader.join();
}

}  // namespace
}  // namespace volley::packet
