#include "worker/lcore_loop.h"

#include <sched.h>

namespace volley::worker {

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
    heartbeat_.add(1);
    if (!worked && yield_) {
        sched_yield();
        now = tsc_now();
    }
}

void LcoreLoop::run() noexcept {
    Tsc now = tsc_now();
    while (!stop_.load(std::memory_order_acquire)) turn(now);
    ended_.store(true, std::memory_order_release);  // acquired by ended()
}

}  // namespace volley::worker
