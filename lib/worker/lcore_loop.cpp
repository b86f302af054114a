#include "worker/lcore_loop.h"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <ctime>

#include <ctime>

namespace volley::worker {
namespace {

// About as long in turns as a sleep takes anyway, so that looking on never costs more than half of the time.
constexpr std::uint32_t idle_turns_before_rest = 1'000;
constexpr long rest_ns = 50'000;

}  // namespace

LcoreLoop::LcoreLoop(LcoreId lcore, bool yield)
    : lcore_(lcore), yield_(yield), ns_a_tick_(1e9 / static_cast<double>(tsc_hz())) {}

// Until the next thing falls due. It has been looked for already, so nobody need wake the sleeper: whoever
// has work for it says so by a tick that it reads, or, rarely, waits for it.
void LcoreLoop::sleep_until_due(Tsc now) noexcept {
    Tsc wake = ~Tsc{0};
    for (const Lane* lane : lanes_) wake = std::min(wake, lane->next_turn());
    for (TxWorker* worker : workers_) wake = std::min(wake, worker->next_turn());
    if (wake <= now) {
        // Due, and yet there was nothing to do: another lcore's turn comes first, on this CPU perhaps.
        if (yield_) sched_yield();
        return;
    }
    const double ns =
        std::min(static_cast<double>(wake - now) * ns_a_tick_, static_cast<double>(longest_sleep.ns));
    const timespec span{0, static_cast<long>(ns)};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &span, nullptr);
}

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
    if (worked) return;
    if (sleeps_) {
        sleep_until_due(now);
    } else if (yield_) {
        sched_yield();
    } else {
        return;
    }
    now = tsc_now();
}

// Packets were looked for first, many times, and there were none: what comes meanwhile waits in the ring.
void LcoreLoop::rest() noexcept {
    timespec span{0, rest_ns};
    nanosleep(&span, nullptr);
    for (RxWorker* receiver : receivers_) receiver->counters().sleeps.add(1);
}

void LcoreLoop::run() noexcept {
    if (sleeps_) ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // the default adds 50 us to every sleep
    Tsc now = tsc_now();
    while (!stop_.load(std::memory_order_acquire)) turn(now);
    ended_.store(true, std::memory_order_release);  // acquired by ended()
}

}  // namespace volley::worker
