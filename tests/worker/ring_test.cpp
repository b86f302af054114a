#include "dpdk/ring.h"

#include <gtest/gtest.h>
#include <rte_memory.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

namespace volley::dpdk {
namespace {

/// Two words, so that a half-written element would show.
struct Element {
    std::uint64_t number = 0;
    std::uint64_t again = 0;
};

std::vector<Element> numbered(std::uint64_t first, unsigned n) {
    std::vector<Element> out(n);
    for (unsigned i = 0; i < n; ++i) out[i] = {first + i, ~(first + i)};
    return out;
}

TEST(SpscRing, brings_each_element_once_and_in_order_from_one_thread_to_another) {
    constexpr std::uint64_t total = 20'000;
    SpscRing<Element> ring("order", 24, SOCKET_ID_ANY);
    std::thread producer([&ring] {
        for (std::uint64_t next = 0; next < total;) {
            const auto n = static_cast<unsigned>(std::min<std::uint64_t>(1 + next % 23, total - next));
            if (ring.push(numbered(next, n).data(), n)) {
                next += n;
            } else {
                std::this_thread::sleep_for(std::chrono::microseconds(1));  // the other may need this CPU
            }
        }
    });
    std::uint64_t expected = 0;
    std::uint64_t wrong = 0;
    std::array<Element, 32> out;
    while (expected < total) {
        const unsigned n = ring.pull(out.data(), 1 + static_cast<unsigned>(expected % out.size()));
        if (n == 0) std::this_thread::sleep_for(std::chrono::microseconds(1));
        for (unsigned i = 0; i < n; ++i, ++expected)
            wrong += out[i].number != expected || out[i].again != ~expected ? 1U : 0U;
    }
    producer.join();
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(ring.pull(out.data(), 32), 0U);
}

TEST(SpscRing, takes_as_many_elements_as_its_capacity_and_then_none_until_one_is_pulled) {
    SpscRing<Element> ring("full", 20, SOCKET_ID_ANY);  // in memory for 32
    EXPECT_EQ(ring.capacity(), 20U);
    EXPECT_TRUE(ring.push(numbered(0, 19).data(), 19));
    EXPECT_FALSE(ring.push(numbered(19, 2).data(), 2)) << "all or none";
    EXPECT_TRUE(ring.push(numbered(19, 1).data(), 1));
    EXPECT_FALSE(ring.push(numbered(20, 1).data(), 1));
    std::array<Element, 32> out;
    EXPECT_EQ(ring.pull(out.data(), 1), 1U);
    EXPECT_TRUE(ring.push(numbered(20, 1).data(), 1));
    EXPECT_EQ(ring.pull(out.data(), 32), 20U);
    EXPECT_EQ(out[0].number, 1U);
    EXPECT_EQ(out[19].number, 20U);
}

TEST(SpscRing, copies_around_the_end_of_its_memory) {
    SpscRing<Element> ring("around", 8, SOCKET_ID_ANY);
    std::array<Element, 8> out;
    for (std::uint64_t lap = 0; lap < 100; ++lap) {
        ASSERT_TRUE(ring.push(numbered(lap * 5, 5).data(), 5));
        ASSERT_EQ(ring.pull(out.data(), 8), 5U);
        for (unsigned i = 0; i < 5; ++i) ASSERT_EQ(out[i].number, lap * 5 + i);
    }
}

}  // namespace
}  // namespace volley::dpdk
