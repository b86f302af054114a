#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/tsc.h"
#include "volley-bench/machine.h"

namespace volley::bench {

inline constexpr unsigned max_bulk = 64;

enum class Stop { done, full, empty, told };
const char* name_of(Stop stop);

/// What one thread did between its first and its last call.
struct ThreadRun {
    Tsc start = 0;
    Tsc stop = 0;
    std::uint64_t objects = 0;
    Stop why = Stop::done;
    Tsc worst_gap = 0;  ///< longest stretch between two looks at the clock, 64 calls apart
    [[nodiscard]] double cycles() const {
        return objects == 0 ? 0 : static_cast<double>(stop - start) / static_cast<double>(objects);
    }
};

/// Producer on one CPU, consumer on the other. Positions within usable_cpus(); ~0u: not pinned.
struct PairSpec {
    unsigned bulk = 1;
    std::uint32_t queue_size = 65536;
    std::uint32_t prefill = 32000;
    std::uint64_t objects = 200'000;
    unsigned producer = 0;
    unsigned consumer = 1;
    Tsc late_consumer = 0;  ///< cycles that the consumer starts late: what a slow wake-up does
    Tsc longest =
        ~Tsc{0};  ///< cycles after which threads that share a queue end before their objects are through
};

struct PairRun {
    ThreadRun enqueue;
    ThreadRun dequeue;
    /// Part of the whole time in which both were measured, 0 to 1.
    [[nodiscard]] double overlap() const;
    [[nodiscard]] double cycles() const { return (enqueue.cycles() + dequeue.cycles()) / 2; }
    /// Both ran together for at least 90 % of the time, and neither was taken off its CPU for over 20 µs.
    [[nodiscard]] bool clean() const;
};

/// Objects are never dereferenced: any value but null will do.
inline void* object(std::uint64_t n) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(n + 1));
}

inline void pin_or_leave(unsigned position) {
    if (position != ~0U) pin(position);
}

// One side until its objects are through, its call gives nothing, or the other side has ended: both must run
// all the time, else the slower one ends alone, uncontended and fast.
template <typename Call>
ThreadRun drive(const Call& call, Tsc start, std::uint64_t objects, Stop nothing, std::atomic<bool>& over) {
    ThreadRun run;
    while (tsc_now() < start) {
    }
    run.start = tsc_now();
    Tsc last = run.start;
    for (std::uint64_t calls = 1; run.objects < objects; ++calls) {
        const unsigned n = call();
        run.objects += n;
        if (n == 0) {
            run.why = nothing;
            break;
        }
        if (over.load(std::memory_order_relaxed)) {
            run.why = Stop::told;
            break;
        }
        if (calls % 64 == 0) {
            const Tsc now = tsc_now();
            if (now - last > run.worst_gap) run.worst_gap = now - last;
            last = now;
        }
    }
    run.stop = tsc_now();
    over.store(true, std::memory_order_relaxed);
    return run;
}

template <typename Q>
PairRun run_pair(const PairSpec& spec) {
    const auto queue = std::make_unique<Q>(spec.queue_size);
    for (std::uint32_t i = 0; i < spec.prefill; ++i) {
        void* one = object(i);
        queue->enqueue(&one, 1);
    }
    std::atomic<unsigned> ready{0};
    std::atomic<Tsc> start{0};
    std::atomic<bool> over{false};
    PairRun out;
    const auto side = [&](unsigned cpu, Tsc late, Stop nothing, ThreadRun& run, auto call) {
        pin_or_leave(cpu);
        ready.fetch_add(1, std::memory_order_release);
        Tsc at = 0;
        while ((at = start.load(std::memory_order_acquire)) == 0) std::this_thread::yield();
        run = drive(call, at + late, spec.objects, nothing, over);
    };
    std::thread producer([&] {
        void* objects[max_bulk];
        for (unsigned i = 0; i < spec.bulk; ++i) objects[i] = object(i);
        side(spec.producer, 0, Stop::full, out.enqueue, [&] { return queue->enqueue(objects, spec.bulk); });
    });
    std::thread consumer([&] {
        void* objects[max_bulk];
        side(spec.consumer, spec.late_consumer, Stop::empty, out.dequeue,
             [&] { return queue->dequeue(objects, spec.bulk); });
    });
    while (ready.load(std::memory_order_acquire) != 2) std::this_thread::yield();
    start.store(tsc_now() + tsc_hz() / 20'000, std::memory_order_release);
    producer.join();
    consumer.join();
    return out;
}

// Enqueue and dequeue of a bulk by one thread, hot in its cache: cycles for both, an object.
template <typename Q>
double run_same_cpu(const PairSpec& spec) {
    Q queue(spec.queue_size);
    double cycles = 0;
    std::thread([&] {
        pin_or_leave(spec.producer);
        void* objects[max_bulk];
        for (unsigned i = 0; i < spec.bulk; ++i) objects[i] = object(i);
        std::uint64_t done = 0;
        const Tsc before = tsc_now();
        while (done < spec.objects) {
            queue.enqueue(objects, spec.bulk);
            done += queue.dequeue(objects, spec.bulk);
        }
        cycles = static_cast<double>(tsc_now() - before) / static_cast<double>(done);
    }).join();
    return cycles;
}

// A consumer that polls and a producer that never waits: the queue is nearly empty. Elapsed cycles an object.
template <typename Q>
double run_near_empty(const PairSpec& spec) {
    Q queue(spec.queue_size);
    std::atomic<bool> ready{false};
    Tsc before = 0;
    std::thread producer([&] {
        pin_or_leave(spec.producer);
        void* objects[max_bulk];
        for (unsigned i = 0; i < spec.bulk; ++i) objects[i] = object(i);
        while (!ready.load(std::memory_order_acquire)) {
        }
        before = tsc_now();
        for (std::uint64_t sent = 0; sent < spec.objects;) sent += queue.enqueue(objects, spec.bulk);
    });
    Tsc after = 0;
    std::uint64_t got = 0;
    std::thread consumer([&] {
        pin_or_leave(spec.consumer);
        void* objects[max_bulk];
        ready.store(true, std::memory_order_release);
        while (got < spec.objects) got += queue.dequeue(objects, spec.bulk);
        after = tsc_now();
    });
    producer.join();
    consumer.join();
    return static_cast<double>(after - before) / static_cast<double>(got);
}

// Half of a round trip of one object over two queues.
template <typename Q>
double run_one_way(const PairSpec& spec) {
    Q there(spec.queue_size);
    Q back(spec.queue_size);
    const std::uint64_t rounds = spec.objects;
    std::thread echo([&] {
        pin_or_leave(spec.consumer);
        void* one = nullptr;
        for (std::uint64_t i = 0; i < rounds; ++i) {
            while (there.dequeue(&one, 1) == 0) {
            }
            while (back.enqueue(&one, 1) == 0) {
            }
        }
    });
    double cycles = 0;
    std::thread caller([&] {
        pin_or_leave(spec.producer);
        Tsc before = 0;
        void* one = object(0);
        for (std::uint64_t i = 0; i < rounds; ++i) {
            if (i == rounds / 10) before = tsc_now();
            while (there.enqueue(&one, 1) == 0) {
            }
            while (back.dequeue(&one, 1) == 0) {
            }
        }
        cycles = static_cast<double>(tsc_now() - before) / (2.0 * static_cast<double>(rounds - rounds / 10));
    });
    echo.join();
    caller.join();
    return cycles;
}

template <typename Q>
double run_empty_poll(const PairSpec& spec) {
    Q queue(spec.queue_size);
    double cycles = 0;
    std::thread([&] {
        pin_or_leave(spec.producer);
        void* one = nullptr;
        std::uint64_t found = 0;
        const Tsc before = tsc_now();
        for (std::uint64_t i = 0; i < spec.objects; ++i) found += queue.dequeue(&one, 1);
        cycles = static_cast<double>(tsc_now() - before) / static_cast<double>(spec.objects + found);
    }).join();
    return cycles;
}

// `threads` of them enqueue a bulk and take as much out again, all on one queue. Pinned, one a CPU, where
// there are CPUs enough: cycles an object of one thread, the mean. Else not pinned: elapsed cycles an object
// of all.
template <typename Q>
double run_shared(const PairSpec& spec, unsigned threads) {
    Q queue(spec.queue_size);
    const bool crowded = threads > usable_cpus().size();
    std::atomic<unsigned> ready{0};
    std::vector<ThreadRun> runs(threads);
    std::vector<std::thread> all;
    for (unsigned t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
            if (!crowded) pin(t);
            void* objects[max_bulk];
            for (unsigned i = 0; i < spec.bulk; ++i) objects[i] = object(i);
            ready.fetch_add(1, std::memory_order_acq_rel);
            while (ready.load(std::memory_order_acquire) != threads) std::this_thread::yield();
            ThreadRun run;
            run.start = tsc_now();
            // Whoever ends early has taken out as many as it put in: the others find theirs.
            for (unsigned turns = 1; run.objects < spec.objects; ++turns) {
                if (turns % 64 == 0 && tsc_now() - run.start > spec.longest) break;
                unsigned in = 0;
                while (in < spec.bulk) in += queue.enqueue(objects + in, spec.bulk - in);
                // Each puts in before it takes out, so what another took of ours comes back to us.
                for (unsigned out = 0; out < in;) {
                    const unsigned n = queue.dequeue(objects, in - out);
                    if (n == 0 && crowded) std::this_thread::yield();
                    out += n;
                }
                run.objects += in;
            }
            run.stop = tsc_now();
            runs[t] = run;
        });
    }
    for (std::thread& thread : all) thread.join();
    ThreadRun whole = runs[0];
    whole.objects = 0;
    double sum = 0;
    for (const ThreadRun& run : runs) {
        sum += run.cycles();
        whole.objects += run.objects;
        if (run.start < whole.start) whole.start = run.start;
        if (run.stop > whole.stop) whole.stop = run.stop;
    }
    return crowded ? whole.cycles() : sum / threads;
}

}  // namespace volley::bench
