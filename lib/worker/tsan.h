#pragma once

/// DPDK's libraries are not instrumented, so ThreadSanitizer cannot see that an mbuf which went through a
/// port or a mempool was handed over. These two say it; without the sanitizer they are nothing.
#if defined(__SANITIZE_THREAD__)
#define VOLLEY_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VOLLEY_TSAN 1
#endif
#endif

#ifdef VOLLEY_TSAN
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace volley::worker {

#ifdef VOLLEY_TSAN
inline char mbuf_hand_over;
#endif

/// Before mbufs leave this thread: tx_burst, mempool put.
inline void tsan_release_mbufs() noexcept {
#ifdef VOLLEY_TSAN
    __tsan_release(&mbuf_hand_over);
#endif
}

/// After mbufs came to this thread: rx_burst, mempool get.
inline void tsan_acquire_mbufs() noexcept {
#ifdef VOLLEY_TSAN
    __tsan_acquire(&mbuf_hand_over);
#endif
}

}  // namespace volley::worker
