#pragma once

#include <sched.h>

#include <atomic>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace volley::soft82599 {

/// A lock for the trap: no library call but sched_yield, so that a sanitizer sees no lock taken in a signal
/// handler. A holder works for microseconds; where two threads share one CPU the waiter must give it away.
class Lock {
  public:
    void lock() noexcept {
        for (int spins = 0; held_.exchange(true, std::memory_order_acquire);) {
            if (++spins < 128) {
                _mm_pause();
            } else {
                sched_yield();
            }
        }
    }
    void unlock() noexcept { held_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> held_{false};
};

}  // namespace volley::soft82599
