#include "worker/lcore_loop.h"

#include <sched.h>

#include <ctime>

namespace volley::worker {
namespace {

// About as long in turns as a sleep takes anyway, so that looking on never costs more than half of the time.
constexpr std::uint32_t idle_turns_before_rest = 1'000;
constexpr long rest_ns = 50'000;

}  // namespace

void LcoreLoop::turn(Tsc& now) noexcept {
    bool worked = false;
    if (!lanes_.empty()) {
        for (Lane* lane : lanes_) worked |= lane->turn(now);
        const Tsc then = now;
        now = tsc_now();
        if (worked) dispatch_busy_.add(now - then);
    }
    for (TxWorker* worker : workers_) {
        const bool busy = worker->turn(now);
        const Tsc then = now;
        now = tsc_now();
        if (busy) worker->counters().busy_cycles.add(now - then);
        worked |= busy;
    }
    for (RxWorker* receiver : receivers_) {
        const bool busy = receiver->turn();
        const Tsc then = now;
        now = tsc_now();
        if (busy) receiver->counters().busy_cycles.add(now - then);
        worked |= busy;
    }
    heartbeat_.add(1);
    if (adaptive_) {
        idle_turns_ = worked ? 0 : idle_turns_ + 1;
        if (idle_turns_ >= idle_turns_before_rest) rest();
    }
    if (!worked && yield_) {
        sched_yield();
        now = tsc_now();
    }
}

// Packets were looked for first, many times, and there were none: what comes meanwhile waits in the ring.
void LcoreLoop::rest() noexcept {
    timespec span{0, rest_ns};
    nanosleep(&span, nullptr);
    for (RxWorker* receiver : receivers_) receiver->counters().sleeps.add(1);
}

void LcoreLoop::run() noexcept {
    Tsc now = tsc_now();
    while (!stop_.load(std::memory_order_acquire)) turn(now);
    ended_.store(true, std::memory_order_release);  // acquired by ended()
}

}  // namespace volley::worker
