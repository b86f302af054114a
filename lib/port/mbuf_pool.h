#pragma once

#include <cstdint>
#include <string>

struct rte_mempool;

namespace volley::port {

/// A pool of packet buffers, each with `room` bytes of data, headroom included. Without huge pages the
/// buffers lie close together in one block: rte_pktmbuf_pool_create would give each a 4 KiB page of its own,
/// and af_xdp's driver registers only as much memory as they take side by side, so what lies beyond is lost
/// by the kernel. nullptr with rte_errno when there is no memory.
rte_mempool* make_mbuf_pool(const std::string& name, std::uint32_t count, unsigned cache, std::uint16_t room,
                            int socket);

}  // namespace volley::port
