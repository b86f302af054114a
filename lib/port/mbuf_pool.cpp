#include "port/mbuf_pool.h"

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

namespace volley::port {
namespace {

// An empty pool of mbufs with its private data. The flag lets buffers cross pages; without huge pages IOVAs
// are virtual addresses or there are none, so a buffer is contiguous all the same.
rte_mempool* empty_pool(const std::string& name, std::uint32_t count, unsigned cache, std::uint16_t room,
                        int socket) {
    rte_mempool* const pool =
        rte_mempool_create_empty(name.c_str(), count, sizeof(rte_mbuf) + room, cache,
                                 sizeof(rte_pktmbuf_pool_private), socket, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
    if (pool == nullptr) return nullptr;
    if (const int code = rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), nullptr); code != 0) {
        rte_mempool_free(pool);
        rte_errno = -code;
        return nullptr;
    }
    rte_pktmbuf_pool_private sizes{};
    sizes.mbuf_data_room_size = room;
    rte_pktmbuf_pool_init(pool, &sizes);
    return pool;
}

void free_block(rte_mempool_memhdr* /*header*/, void* block) {
    rte_free(block);
}

// 0, or a negative errno.
int populate_with_one_block(rte_mempool& pool, int socket) {
    std::size_t chunk = 0;
    std::size_t align = 0;
    const ssize_t bytes = rte_mempool_op_calc_mem_size_default(&pool, pool.size, 0, &chunk, &align);
    if (bytes < 0) return static_cast<int>(bytes);
    void* const block =
        rte_malloc_socket(nullptr, static_cast<std::size_t>(bytes), static_cast<unsigned>(align), socket);
    if (block == nullptr) return -ENOMEM;
    const int placed =
        rte_mempool_populate_iova(&pool, static_cast<char*>(block), rte_malloc_virt2iova(block),
                                  static_cast<std::size_t>(bytes), free_block, block);
    if (placed == static_cast<int>(pool.size)) return 0;
    if (placed < 0) rte_free(block);
    return placed < 0 ? placed : -ENOMEM;
}

}  // namespace

rte_mempool* make_mbuf_pool(const std::string& name, std::uint32_t count, unsigned cache, std::uint16_t room,
                            int socket) {
    if (rte_eal_has_hugepages() != 0)
        return rte_pktmbuf_pool_create(name.c_str(), count, cache, 0, room, socket);
    rte_mempool* const pool = empty_pool(name, count, cache, room, socket);
    if (pool == nullptr) return nullptr;
    if (const int code = populate_with_one_block(*pool, socket); code != 0) {
        rte_mempool_free(pool);
        rte_errno = -code;
        return nullptr;
    }
    rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
    return pool;
}

}  // namespace volley::port
