#include "volley-bench/ring/queues.h"

#include <gtest/gtest.h>

#include <thread>
#include <type_traits>
#include <vector>

#include "volley-bench/ring/runs.h"

namespace volley::bench {
namespace {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VOLLEY_UNDER_TSAN 1
#endif
#endif
#ifdef VOLLEY_UNDER_TSAN
constexpr bool under_tsan = true;
#else
constexpr bool under_tsan = false;
#endif

template <typename Q>
constexpr bool of_dpdk = false;
template <RteSync sync>
constexpr bool of_dpdk<RteRing<sync>> = true;

template <typename Q>
class EveryQueue : public testing::Test {};

using Queues = testing::Types<
    RteRing<RteSync::sp_sc>, RteRing<RteSync::mp_mc>, RteRing<RteSync::sp_mc>, RteRing<RteSync::rts>,
    RteRing<RteSync::hts>, PtrRing<SpinLock, Zeroing::eager, Locking::per_object>,
    PtrRing<SpinLock, Zeroing::batched, Locking::per_call>,
    PtrRing<NoLock, Zeroing::eager, Locking::per_call>, PtrRing<NoLock, Zeroing::batched, Locking::per_call>,
    AlfQueue<true>, AlfQueue<false>, CachedSpsc>;
TYPED_TEST_SUITE(EveryQueue, Queues);

TYPED_TEST(EveryQueue, brings_each_object_once_and_in_order_from_one_thread_to_another) {
    if (under_tsan && std::is_same_v<TypeParam, RteRing<RteSync::rts>>)
        GTEST_SKIP() << "RTS releases its tail as 64 bits and acquires 32 of them, which is no order to TSan";
    constexpr std::uint64_t total = 100'000;
    TypeParam queue(64);
    std::thread producer([&] {
        std::uint64_t next = 0;
        while (next < total) {
            void* objects[8];
            const auto want = static_cast<unsigned>(std::min<std::uint64_t>(1 + next % 8, total - next));
            for (unsigned i = 0; i < want; ++i) objects[i] = object(next + i);
            const unsigned done = queue.enqueue(objects, want);
            if (done == 0) std::this_thread::yield();
            next += done;
        }
    });
    std::uint64_t expected = 0;
    std::uint64_t wrong = 0;
    while (expected < total) {
        void* objects[8];
        const unsigned n = queue.dequeue(objects, 1 + static_cast<unsigned>(expected % 8));
        if (n == 0) std::this_thread::yield();
        for (unsigned i = 0; i < n; ++i) wrong += objects[i] != object(expected++);
    }
    producer.join();
    EXPECT_EQ(wrong, 0U);
    void* one = nullptr;
    EXPECT_EQ(queue.dequeue(&one, 1), 0U);
}

TYPED_TEST(EveryQueue, takes_as_many_objects_as_its_size_and_says_full_and_empty) {
    TypeParam queue(32);
    for (std::uint64_t i = 0; i < 32; ++i) {
        void* one = object(i);
        ASSERT_EQ(queue.enqueue(&one, 1), 1U) << i;
    }
    void* one = object(32);
    EXPECT_EQ(queue.enqueue(&one, 1), 0U);
    void* objects[64];
    EXPECT_EQ(queue.dequeue(objects, 64), 32U);
    EXPECT_EQ(queue.dequeue(objects, 64), 0U);
}

template <typename Q>
class EveryManyToManyQueue : public testing::Test {};
using ManyToMany = testing::Types<RteRing<RteSync::mp_mc>, RteRing<RteSync::rts>, RteRing<RteSync::hts>,
                                  PtrRing<SpinLock, Zeroing::eager, Locking::per_object>,
                                  PtrRing<SpinLock, Zeroing::batched, Locking::per_call>, AlfQueue<true>>;
TYPED_TEST_SUITE(EveryManyToManyQueue, ManyToMany);

TYPED_TEST(EveryManyToManyQueue, loses_and_doubles_nothing_between_two_producers_and_two_consumers) {
    if (under_tsan && of_dpdk<TypeParam>)
        GTEST_SKIP()
            << "DPDK's shared sides wait for their predecessors by relaxed loads, which is no order to TSan";
    constexpr std::uint64_t each = 20'000;
    constexpr unsigned sides = 2;
    TypeParam queue(256);
    std::vector<std::thread> threads;
    for (unsigned p = 0; p < sides; ++p) {
        threads.emplace_back([&queue, p] {
            for (std::uint64_t next = 0; next < each;) {
                void* objects[4];
                for (unsigned i = 0; i < 4; ++i) objects[i] = object(p * each + next + i);
                const unsigned done = queue.enqueue(objects, 4);
                if (done == 0) std::this_thread::yield();
                // What a full ring took of the four in part is not offered again.
                for (unsigned i = done; i < 4 && done > 0;) {
                    const unsigned more = queue.enqueue(objects + i, 4 - i);
                    if (more == 0) std::this_thread::yield();
                    i += more;
                }
                if (done > 0) next += 4;
            }
        });
    }
    std::atomic<std::uint64_t> taken{0};
    std::vector<std::vector<std::uint64_t>> got(sides);
    for (unsigned c = 0; c < sides; ++c) {
        threads.emplace_back([&queue, &taken, mine = &got[c]] {
            while (taken.load(std::memory_order_relaxed) < sides * each) {
                void* objects[4];
                const unsigned n = queue.dequeue(objects, 4);
                if (n == 0) std::this_thread::yield();
                for (unsigned i = 0; i < n; ++i)
                    mine->push_back(reinterpret_cast<std::uintptr_t>(objects[i]) - 1);
                taken.fetch_add(n, std::memory_order_relaxed);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<unsigned> seen(sides * each);
    for (const auto& mine : got) {
        std::vector<std::uint64_t> last(sides);
        for (const std::uint64_t value : mine) {
            ASSERT_LT(value, seen.size());
            ++seen[value];
            EXPECT_GE(value % each + 1, last[value / each])
                << "a producer's objects stay in order for each consumer";
            last[value / each] = value % each + 1;
        }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1U), static_cast<std::ptrdiff_t>(seen.size()));
}

TEST(PtrRing, with_batched_zeroing_still_looks_full_until_a_batch_is_consumed) {
    PtrRing<NoLock, Zeroing::batched, Locking::per_call> ring(64);
    std::vector<void*> objects(64, object(1));
    ASSERT_EQ(ring.enqueue(objects.data(), 64), 64U);
    void* out[64];
    ASSERT_EQ(ring.dequeue(out, 15), 15U);
    EXPECT_EQ(ring.enqueue(objects.data(), 1), 0U);
    ASSERT_EQ(ring.dequeue(out, 1), 1U);
    EXPECT_EQ(ring.enqueue(objects.data(), 17), 16U);
}

}  // namespace
}  // namespace volley::bench
