#pragma once

#include <rte_ring.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

#include "base/cache_line.h"

namespace volley::bench {

/// Every queue here carries non-null pointers and has
///   explicit Q(std::uint32_t size)               size: a power of two
///   unsigned enqueue(void* const* objects, unsigned n) noexcept   how many went in
///   unsigned dequeue(void** objects, unsigned n) noexcept         how many came out
/// One object's release is the store that makes it visible; its acquire is the load that finds it.
/// The index queues take all n or none, as rte_ring's bulk call; the others stop at the first full slot.

/// Two lines, for the prefetcher that brings the neighbour along (ringtest pads by 128 as well).
inline constexpr std::size_t apart = 2 * cache_line;

class NoLock {
  public:
    void lock() noexcept {}
    void unlock() noexcept {}
};

/// Test and test-and-set. What an uncontended spin_lock costs in the kernel: one locked exchange.
class SpinLock {
  public:
    void lock() noexcept {
        while (held_.exchange(true, std::memory_order_acquire)) {
            while (held_.load(std::memory_order_relaxed)) __builtin_ia32_pause();
        }
    }
    void unlock() noexcept { held_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> held_{false};
};

enum class Zeroing { eager, batched };
enum class Locking { per_object, per_call };

/// The kernel's ptr_ring: a slot is free when it is null, so neither side reads the other's index. Eager:
/// a consumed slot is zeroed at once (2016). Batched: slots are zeroed 16 at a time, highest first, so that
/// the slot the producer polls is freed last (fb9de9704775, 2017); up to 15 consumed slots still look full.
template <typename Lock, Zeroing zeroing, Locking locking>
class PtrRing {
  public:
    explicit PtrRing(std::uint32_t size)
        : size_(size), batch_(per_batch > size / 2 ? 1 : per_batch), slots_(new Slot[size]) {}

    unsigned enqueue(void* const* objects, unsigned n) noexcept {
        if constexpr (locking == Locking::per_call) producer_.lock.lock();
        unsigned done = 0;
        while (done < n) {
            if constexpr (locking == Locking::per_object) producer_.lock.lock();
            const bool taken = produce(objects[done]);
            if constexpr (locking == Locking::per_object) producer_.lock.unlock();
            if (!taken) break;
            ++done;
        }
        if constexpr (locking == Locking::per_call) producer_.lock.unlock();
        return done;
    }

    unsigned dequeue(void** objects, unsigned n) noexcept {
        if constexpr (locking == Locking::per_call) consumer_.lock.lock();
        unsigned done = 0;
        while (done < n) {
            if constexpr (locking == Locking::per_object) consumer_.lock.lock();
            void* const object = consume();
            if constexpr (locking == Locking::per_object) consumer_.lock.unlock();
            if (object == nullptr) break;
            objects[done++] = object;
        }
        if constexpr (locking == Locking::per_call) consumer_.lock.unlock();
        return done;
    }

  private:
    static constexpr std::uint32_t per_batch = 2 * cache_line / sizeof(void*);

    struct Slot {
        std::atomic<void*> object{nullptr};
    };
    struct alignas(apart) Producer {
        std::uint32_t at = 0;  ///< under the lock, or of the one producer
        Lock lock;
    };
    struct alignas(apart) Consumer {
        std::uint32_t head = 0;  ///< next to read; under the lock, or of the one consumer, as tail
        std::uint32_t tail = 0;  ///< first not yet zeroed
        Lock lock;
    };

    // The acquire pairs with consume()'s zeroing: the object's last reader is done with the slot.
    bool produce(void* object) noexcept {
        std::atomic<void*>& slot = slots_[producer_.at].object;
        if (slot.load(std::memory_order_acquire) != nullptr) return false;
        slot.store(object, std::memory_order_release);
        if (++producer_.at == size_) producer_.at = 0;
        return true;
    }

    void* consume() noexcept {
        void* const object = slots_[consumer_.head].object.load(std::memory_order_acquire);
        if (object == nullptr) return nullptr;
        if constexpr (zeroing == Zeroing::eager) {
            slots_[consumer_.head].object.store(nullptr, std::memory_order_release);
            if (++consumer_.head == size_) consumer_.head = 0;
        } else {
            ++consumer_.head;
            if (consumer_.head - consumer_.tail >= batch_ || consumer_.head == size_) {
                for (std::uint32_t at = consumer_.head; at-- > consumer_.tail;)
                    slots_[at].object.store(nullptr, std::memory_order_release);
                if (consumer_.head == size_) consumer_.head = 0;
                consumer_.tail = consumer_.head;
            }
        }
        return object;
    }

    Producer producer_;
    Consumer consumer_;
    alignas(apart) std::uint32_t size_;
    std::uint32_t batch_;
    std::unique_ptr<Slot[]> slots_;
};

/// alf_queue of the 2016 posting: free-running head and tail a side, on one line as there. Many: the side is
/// shared and claims its slots by compare-and-swap, then waits for its predecessors.
template <bool many>
class AlfQueue {
  public:
    explicit AlfQueue(std::uint32_t size) : size_(size), mask_(size - 1), slots_(new void*[size]) {}

    unsigned enqueue(void* const* objects, unsigned n) noexcept {
        std::uint32_t head = 0;
        // Signed: a new head with an old tail must look full, not enormous.
        const auto room = [&] {
            return static_cast<std::int32_t>(size_ + consumer_.tail.load(std::memory_order_acquire) - head);
        };
        if (!claim(producer_, head, n, room)) return 0;
        for (unsigned i = 0; i < n; ++i) slots_[(head + i) & mask_] = objects[i];
        finish(producer_, head, n);
        return n;
    }

    unsigned dequeue(void** objects, unsigned n) noexcept {
        std::uint32_t head = 0;
        const auto filled = [&] {
            return static_cast<std::int32_t>(producer_.tail.load(std::memory_order_acquire) - head);
        };
        n = claim_up_to(consumer_, head, n, filled);
        if (n == 0) return 0;
        for (unsigned i = 0; i < n; ++i) objects[i] = slots_[(head + i) & mask_];
        finish(consumer_, head, n);
        return n;
    }

  private:
    struct alignas(apart) Side {
        std::atomic<std::uint32_t> head{0};
        std::atomic<std::uint32_t> tail{0};
    };

    template <typename Available>
    bool claim(Side& side, std::uint32_t& head, unsigned n, const Available& available) noexcept {
        return claim_if(
                   side, head,
                   [&](std::int32_t have) { return have >= static_cast<std::int32_t>(n) ? n : 0; },
                   available) != 0;
    }
    template <typename Available>
    unsigned claim_up_to(Side& side, std::uint32_t& head, unsigned n, const Available& available) noexcept {
        return claim_if(
            side, head,
            [&](std::int32_t have) {
                return have <= 0 ? 0 : static_cast<std::uint32_t>(have) < n ? static_cast<unsigned>(have) : n;
            },
            available);
    }
    template <typename Grant, typename Available>
    unsigned claim_if(Side& side, std::uint32_t& head, const Grant& grant,
                      const Available& available) noexcept {
        head = side.head.load(many ? std::memory_order_acquire : std::memory_order_relaxed);
        for (;;) {
            const unsigned n = grant(available());
            if (n == 0) return 0;
            if constexpr (many) {
                if (side.head.compare_exchange_weak(head, head + n, std::memory_order_acq_rel,
                                                    std::memory_order_acquire))
                    return n;
            } else {
                side.head.store(head + n, std::memory_order_relaxed);
                return n;
            }
        }
    }
    // The release pairs with the other side's acquire of this tail; the acquire keeps the predecessor's
    // release in the chain.
    void finish(Side& side, std::uint32_t head, unsigned n) noexcept {
        if constexpr (many) {
            while (side.tail.load(std::memory_order_acquire) != head) __builtin_ia32_pause();
        }
        side.tail.store(head + n, std::memory_order_release);
    }

    Side producer_;
    Side consumer_;
    alignas(apart) std::uint32_t size_;
    std::uint32_t mask_;
    std::unique_ptr<void*[]> slots_;
};

/// Single producer, single consumer; each side looks at the other's index only when its copy says that there
/// is no room or nothing to take, so the index lines move once a lap and not once a call.
class CachedSpsc {
  public:
    explicit CachedSpsc(std::uint32_t size) : size_(size), mask_(size - 1), slots_(new void*[size]) {}

    unsigned enqueue(void* const* objects, unsigned n) noexcept {
        if (size_ - (producer_.tail - producer_.head_seen) < n) {
            producer_.head_seen = head_.at.load(std::memory_order_acquire);
            if (size_ - (producer_.tail - producer_.head_seen) < n) return 0;
        }
        for (unsigned i = 0; i < n; ++i) slots_[(producer_.tail + i) & mask_] = objects[i];
        producer_.tail += n;
        tail_.at.store(producer_.tail, std::memory_order_release);
        return n;
    }

    unsigned dequeue(void** objects, unsigned n) noexcept {
        if (consumer_.tail_seen - consumer_.head < n)
            consumer_.tail_seen = tail_.at.load(std::memory_order_acquire);
        const std::uint32_t have = consumer_.tail_seen - consumer_.head;
        if (have < n) n = have;
        if (n == 0) return 0;
        for (unsigned i = 0; i < n; ++i) objects[i] = slots_[(consumer_.head + i) & mask_];
        consumer_.head += n;
        head_.at.store(consumer_.head, std::memory_order_release);
        return n;
    }

  private:
    struct alignas(apart) Index {
        std::atomic<std::uint32_t> at{0};
    };
    struct alignas(apart) Producer {
        std::uint32_t tail = 0;
        std::uint32_t head_seen = 0;
    };
    struct alignas(apart) Consumer {
        std::uint32_t head = 0;
        std::uint32_t tail_seen = 0;
    };

    Index tail_;         ///< written by the producer, read by the consumer
    Producer producer_;  ///< the producer's own
    Index head_;         ///< written by the consumer, read by the producer
    Consumer consumer_;  ///< the consumer's own
    alignas(apart) std::uint32_t size_;
    std::uint32_t mask_;
    std::unique_ptr<void*[]> slots_;
};

enum class RteSync { sp_sc, mp_mc, sp_mc, rts, hts };

/// rte_ring on memory of our own, by the explicit calls: the generic ones test the mode each time.
template <RteSync sync>
class RteRing {
  public:
    explicit RteRing(std::uint32_t size) {
        const ssize_t bytes = rte_ring_get_memsize(2 * size);
        if (bytes < 0) throw std::runtime_error("rte_ring_get_memsize refuses a ring of this size");
        memory_.reset(::operator new (static_cast<std::size_t>(bytes), std::align_val_t{apart}));
        ring_ = static_cast<rte_ring*>(memory_.get());
        if (rte_ring_init(ring_, "bench", size, flags | RING_F_EXACT_SZ) != 0)
            throw std::runtime_error("rte_ring_init refuses a ring of this size");
    }

    unsigned enqueue(void* const* objects, unsigned n) noexcept {
        if constexpr (sync == RteSync::sp_sc || sync == RteSync::sp_mc) {
            return rte_ring_sp_enqueue_bulk(ring_, objects, n, nullptr);
        } else if constexpr (sync == RteSync::mp_mc) {
            return rte_ring_mp_enqueue_bulk(ring_, objects, n, nullptr);
        } else if constexpr (sync == RteSync::rts) {
            return rte_ring_mp_rts_enqueue_bulk(ring_, objects, n, nullptr);
        } else {
            return rte_ring_mp_hts_enqueue_bulk(ring_, objects, n, nullptr);
        }
    }

    unsigned dequeue(void** objects, unsigned n) noexcept {
        if constexpr (sync == RteSync::sp_sc) {
            return rte_ring_sc_dequeue_burst(ring_, objects, n, nullptr);
        } else if constexpr (sync == RteSync::mp_mc || sync == RteSync::sp_mc) {
            return rte_ring_mc_dequeue_burst(ring_, objects, n, nullptr);
        } else if constexpr (sync == RteSync::rts) {
            return rte_ring_mc_rts_dequeue_burst(ring_, objects, n, nullptr);
        } else {
            return rte_ring_mc_hts_dequeue_burst(ring_, objects, n, nullptr);
        }
    }

  private:
    static constexpr unsigned flags = sync == RteSync::sp_sc   ? RING_F_SP_ENQ | RING_F_SC_DEQ
                                      : sync == RteSync::sp_mc ? RING_F_SP_ENQ
                                      : sync == RteSync::rts   ? RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ
                                      : sync == RteSync::hts   ? RING_F_MP_HTS_ENQ | RING_F_MC_HTS_DEQ
                                                               : 0U;
    struct Free {
        void operator()(void* memory) const { ::operator delete (memory, std::align_val_t{apart}); }
    };
    std::unique_ptr<void, Free> memory_;
    rte_ring* ring_ = nullptr;
};

}  // namespace volley::bench
