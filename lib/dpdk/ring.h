#pragma once

#include <rte_errno.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "dpdk/error.h"

namespace volley::dpdk {

/// A single-producer, single-consumer rte_ring of T by value. T: a multiple of 4 bytes.
/// The producer's release store of prod.tail is acquired by the consumer's load in dequeue, and the other way
/// round for cons.tail (rte_ring_c11_pvt.h, rte_ring_generic_pvt.h).
template <class T>
class SpscRing {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);

  public:
    /// capacity: usable elements; the memory is the next power of two, on NUMA node `socket`. Throws Error.
    SpscRing(const std::string& name, unsigned capacity, int socket)
        : ring_(rte_ring_create_elem(name.c_str(), sizeof(T), capacity, socket,
                                     RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ)) {
        if (!ring_) throw Error("creating ring " + name, rte_errno, "raise eal.memory_mib");
    }

    /// Producer. Returns how many of n were taken.
    unsigned push(const T* elements, unsigned n) noexcept {
        return rte_ring_sp_enqueue_burst_elem(ring_.get(), elements, sizeof(T), n, nullptr);
    }
    /// Consumer. Returns how many of up to n were written to out.
    unsigned pull(T* out, unsigned n) noexcept {
        return rte_ring_sc_dequeue_burst_elem(ring_.get(), out, sizeof(T), n, nullptr);
    }
    /// Either side; exact only while the other rests.
    [[nodiscard]] unsigned size() const noexcept { return rte_ring_count(ring_.get()); }
    [[nodiscard]] unsigned room() const noexcept { return rte_ring_free_count(ring_.get()); }
    [[nodiscard]] unsigned capacity() const noexcept { return rte_ring_get_capacity(ring_.get()); }

  private:
    struct Free {
        void operator()(rte_ring* ring) const noexcept { rte_ring_free(ring); }
    };
    std::unique_ptr<rte_ring, Free> ring_;
};

}  // namespace volley::dpdk
