#pragma once

#include <array>
#include <cstdint>

#include "packet/template.h"

struct rte_mbuf;

namespace volley::worker {

/// Leaves the IPv4, UDP and TCP checksums of packets to the device, which must give the same bytes as the
/// template: only checksums that the template computes are asked for, never those that the operator wrote.
/// Used by one worker; it allocates nothing.
class ChecksumOffload {
  public:
    /// offloads: the RTE_ETH_TX_OFFLOAD_*_CKSUM that the port was configured with.
    explicit ChecksumOffload(std::uint64_t offloads) noexcept : offloads_(offloads) {}

    [[nodiscard]] bool any() const noexcept { return offloads_ != 0; }
    /// mbufs: stamped packets of that template. Sets what rte_eth_tx_prepare and the device go by.
    void ask(const packet::PacketTemplate& packet, std::uint32_t count, rte_mbuf** mbufs) noexcept;

  private:
    /// What the packets of one template ask for.
    struct Request {
        std::uint32_t content_id = 0;  ///< 0: none yet
        std::uint64_t flags = 0;
        std::uint64_t lengths = 0;  ///< rte_mbuf::tx_offload
    };
    [[nodiscard]] Request request_of(const packet::PacketTemplate& packet) const noexcept;

    std::uint64_t offloads_;
    std::array<Request, 64> known_{};  ///< by content id, the last of each place
};

}  // namespace volley::worker
