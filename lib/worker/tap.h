#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/cache_line.h"
#include "base/counter.h"
#include "import/packet_filter.h"

struct rte_mbuf;

namespace volley::worker {

/// Copies of the packets that a filter takes, from one RX worker to whoever captures. Made before it is used;
/// when it is full, packets are counted and not copied.
class Tap {
  public:
    struct Packet {
        std::uint64_t now_ns = 0;  ///< of its arrival, by the worker's clock
        std::uint32_t length = 0;  ///< as received
        std::uint32_t kept = 0;    ///< bytes that follow
        const std::uint8_t* bytes = nullptr;
    };

    /// most_bytes: kept of a packet. packets: that have room, a power of two.
    Tap(std::shared_ptr<const imports::PacketFilter> filter, std::uint32_t most_bytes, std::uint32_t packets);

    /// The worker: the packets of a burst.
    void offer(rte_mbuf* const* mbufs, std::uint32_t count, std::uint64_t now_ns) noexcept;

    /// The reader: the oldest packet, good until pop(). False: there is none.
    bool front(Packet& out) const noexcept;
    void pop() noexcept {
        taken_.store(taken_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    /// Any thread: packets that were looked at, that the filter took, and for which of these was no room.
    [[nodiscard]] std::uint64_t received() const noexcept { return received_.get(); }
    [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_.get(); }
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.get(); }

  private:
    struct Head {
        std::uint64_t now_ns = 0;
        std::uint32_t length = 0;
        std::uint32_t kept = 0;
    };

    const std::shared_ptr<const imports::PacketFilter> filter_;  ///< the taps of a capture share it
    const std::uint32_t most_bytes_;
    std::vector<Head> heads_;
    std::vector<std::uint8_t> bytes_;  ///< most_bytes a packet
    alignas(cache_line) std::atomic<std::uint64_t> put_{
        0};  ///< this line: written by the worker. Acquired by front()
    Counter received_;
    Counter accepted_;
    Counter dropped_;
    alignas(cache_line) std::atomic<std::uint64_t> taken_{
        0};  ///< written by the reader, acquired by the worker
};

}  // namespace volley::worker
