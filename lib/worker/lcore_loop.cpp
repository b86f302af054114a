#include "worker/lcore_loop.h"

#include <rte_interrupts.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <ctime>

namespace volley::worker {
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
    worked |= turn_receivers(now);
    heartbeat_.add(1);
    if (adaptive_) {
        idle_turns_ = worked ? 0 : idle_turns_ + 1;
        if (idle_turns_ >= idle_turns_before_rest) {
            rest(now);
            now = tsc_now();  // or what comes next would count the sleep as work
        }
    }
    if (worked) return;
    if (sleeps_) {
        sleep_until_due(now);
    } else if (yield_ && !adaptive_) {  // whoever sleeps soon gives the CPU away by that
        sched_yield();
    } else {
        return;
    }
    now = tsc_now();
}

bool LcoreLoop::turn_receivers(Tsc& now) noexcept {
    bool worked = false;
    for (RxWorker* receiver : receivers_) {
        const bool busy = receiver->turn();
        const Tsc then = now;
        now = tsc_now();
        if (busy) receiver->counters().busy_cycles.add(now - then);
        worked |= busy;
    }
    return worked;
}

void LcoreLoop::set_adaptive(bool interrupts) {
    adaptive_ = true;
    if (!interrupts) return;
    interrupts_.reset(::epoll_create1(EPOLL_CLOEXEC));
    if (!interrupts_) return;
    for (std::size_t added = 0; added < receivers_.size(); ++added) {
        if (receivers_[added]->add_interrupt(interrupts_.get())) continue;
        // The number of a closed descriptor may be another's soon.
        while (added > 0) receivers_[--added]->remove_interrupt(interrupts_.get());
        return interrupts_.reset();
    }
}

// Packets were looked for first, about as long as a sleep takes anyway, so looking on never costs more than
// half of the time; and there were none. What comes meanwhile waits in the ring.
void LcoreLoop::rest(Tsc& now) noexcept {
    if (interrupts_) return wait_for_interrupt(now);
    timespec span{0, rest_ns};
    nanosleep(&span, nullptr);
    for (RxWorker* receiver : receivers_) receiver->counters().sleeps.add(1);
}

// A packet that came before its queue was armed need not raise an interrupt, so all are looked at once more.
void LcoreLoop::wait_for_interrupt(Tsc& now) noexcept {
    for (RxWorker* receiver : receivers_) receiver->arm();
    if (turn_receivers(now)) {
        idle_turns_ = 0;
    } else {
        constexpr int most = 8;
        rte_epoll_event events[most];
        const int woken = rte_epoll_wait(interrupts_.get(), events, most, longest_wait_ms);
        for (RxWorker* receiver : receivers_) receiver->counters().sleeps.add(1);
        for (int i = 0; i < woken; ++i)
            static_cast<RxWorker*>(events[i].epdata.data)->counters().interrupts.add(1);
    }
    for (RxWorker* receiver : receivers_) receiver->disarm();
}

void LcoreLoop::run() noexcept {
    if (sleeps_) ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // the default adds 50 us to every sleep
    Tsc now = tsc_now();
    while (!stop_.load(std::memory_order_acquire)) turn(now);
    ended_.store(true, std::memory_order_release);  // acquired by ended()
}

}  // namespace volley::worker
