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

/// A single-producer, single-consumer rte_ring of T by value. T: a multiple of 16 bytes, which the ring
/// carries as so many 16-byte elements, because rte_ring copies those two words at a time and larger ones by
/// 4 bytes. The producer's release store of prod.tail is acquired by the consumer's load in dequeue, and the
/// other way round for cons.tail (rte_ring_c11_pvt.h, rte_ring_generic_pvt.h).
template <class T>
class SpscRing {
    static constexpr unsigned unit = 16;
    static constexpr unsigned units = sizeof(T) / unit;
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % unit == 0);

  public:
    /// capacity: usable elements; the memory is the next power of two, on NUMA node `socket`. Throws Error.
    SpscRing(const std::string& name, unsigned capacity, int socket)
        : ring_(rte_ring_create_elem(name.c_str(), unit, capacity * units, socket,
                                     RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ)) {
        if (!ring_) throw Error("creating ring " + name, rte_errno, "raise eal.memory_mib");
    }

    /// Producer. All n or none; true when they were taken.
    bool push(const T* elements, unsigned n) noexcept {
        return rte_ring_sp_enqueue_bulk_elem(ring_.get(), elements, unit, n * units, nullptr) != 0;
    }
    /// Consumer. Returns how many of up to n were written to out.
    unsigned pull(T* out, unsigned n) noexcept {
        return rte_ring_sc_dequeue_burst_elem(ring_.get(), out, unit, n * units, nullptr) / units;
    }
    [[nodiscard]] unsigned capacity() const noexcept { return rte_ring_get_capacity(ring_.get()) / units; }

  private:
    struct Free {
        void operator()(rte_ring* ring) const noexcept { rte_ring_free(ring); }
    };
    std::unique_ptr<rte_ring, Free> ring_;
};

}  // namespace volley::dpdk
