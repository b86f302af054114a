#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <memory>
#include <string>

namespace volley::worker {

/// Buffers of one TX worker. Raw get and put: what a buffer already holds is remembered in the mbuf (a
/// dynamic field with the template's content id), so a constant image is copied once, not once a packet.
/// Nothing is ever received into them and taken.
class TxPool {
  public:
    /// descriptors: of the queue, which may hold that many until it frees them; longest_frame without FCS.
    /// Memory on NUMA node `socket`. Throws dpdk::Error.
    TxPool(const std::string& name, std::uint32_t descriptors, std::uint32_t longest_frame, int socket);
    /// Of a device that sends from its own buffers without copying them (Port::tx_pool()); outlives this.
    explicit TxPool(rte_mempool& of_device);

    [[nodiscard]] rte_mempool* get() const noexcept { return pool_.get(); }
    [[nodiscard]] std::uint32_t size() const noexcept { return pool_->size; }
    [[nodiscard]] std::uint32_t data_room() const noexcept { return data_room_; }
    /// Buffers that are free; exact only while nobody uses the pool.
    [[nodiscard]] std::uint32_t free_count() const noexcept { return rte_mempool_avail_count(pool_.get()); }

  private:
    struct Free {
        bool owned = true;
        void operator()(rte_mempool* pool) const noexcept {
            if (owned) rte_mempool_free(pool);
        }
    };
    std::unique_ptr<rte_mempool, Free> pool_{nullptr, Free{}};
    std::uint32_t data_room_ = 0;
};

/// Byte offset of the content id in an mbuf. Registers the dynamic field at the first call; throws
/// dpdk::Error.
int content_id_offset();

}  // namespace volley::worker
