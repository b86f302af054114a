#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Helpers of the model's own tests: an ethdev driven by plain DPDK calls, and frames.
namespace volley::soft82599 {

struct PoolDeleter {
    void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
};
using Pool = std::unique_ptr<rte_mempool, PoolDeleter>;
Pool make_pool(unsigned mbufs, std::uint16_t data_room = RTE_MBUF_DEFAULT_BUF_SIZE);

struct StartOptions {
    std::uint16_t tx_queues = 1;
    std::uint16_t rx_queues = 1;
    std::uint16_t descriptors = 512;
    std::uint16_t rs_thresh = 32;
    std::uint16_t free_thresh = 32;
    std::uint64_t tx_offloads = 0;
    std::uint64_t rx_offloads = 0;
    std::uint64_t rss = 0;  ///< RTE_ETH_RSS_*, 0 is no RSS
    std::vector<std::uint8_t> rss_key{};
    bool lsc = false;
    bool rx_interrupts = false;
    bool promiscuous = true;
    std::uint16_t mtu = 1500;
};

/// A configured and started ethdev; stops it when it goes.
class Started {
  public:
    Started(std::uint16_t port, const StartOptions& options = {});
    ~Started();
    Started(const Started&) = delete;
    Started& operator=(const Started&) = delete;

    void stop();
    [[nodiscard]] rte_mempool* pool() const { return pool_.get(); }

    /// Offers every frame in bursts of `burst` until all are taken or none moves; returns how many were
    /// taken.
    std::size_t send(std::uint16_t queue, std::span<const std::vector<std::uint8_t>> frames,
                     std::uint16_t burst, const std::function<void(rte_mbuf&)>& prepare = {});
    std::size_t send(std::uint16_t queue, const std::vector<std::uint8_t>& frame, std::size_t copies,
                     std::uint16_t burst);
    /// Everything that waits in the RX queue.
    std::vector<std::vector<std::uint8_t>> receive(std::uint16_t queue);
    /// As above, handing out the mbufs' metadata.
    std::size_t receive(std::uint16_t queue, const std::function<void(const rte_mbuf&)>& each);

  private:
    using FrameOf = std::function<const std::vector<std::uint8_t>&(std::size_t)>;
    std::size_t send_some(std::uint16_t queue, std::size_t count, const FrameOf& frame_of,
                          std::uint16_t burst, const std::function<void(rte_mbuf&)>& prepare);
    void configure(const StartOptions& options);

    std::uint16_t port_;
    std::uint16_t rx_queues_;
    std::vector<std::uint8_t> rss_key_;  ///< ethdev keeps a pointer to it
    Pool pool_;
    bool running_ = false;
};

/// Limits the vector registers that the driver may use, as --force-max-simd-bitwidth does: 64 leaves it none.
class VectorWidth {
  public:
    explicit VectorWidth(std::uint16_t bits);
    ~VectorWidth();
    VectorWidth(const VectorWidth&) = delete;
    VectorWidth& operator=(const VectorWidth&) = delete;

  private:
    std::uint16_t before_;
};

rte_eth_stats statistics(std::uint16_t port);
/// Value of an extended statistic, by name; fails the test when there is none.
std::uint64_t xstat(std::uint16_t port, const std::string& name);

/// UDP or TCP over IPv4 with correct checksums, `bytes` long without FCS. `flow` varies address and ports.
std::vector<std::uint8_t> ipv4_frame(std::size_t bytes, std::uint32_t flow = 0, bool tcp = false);
std::vector<std::uint8_t> ipv6_frame(std::size_t bytes, std::uint32_t flow = 0);
/// The frame with a VLAN tag behind its addresses.
std::vector<std::uint8_t> tagged(const std::vector<std::uint8_t>& frame, std::uint16_t tci);
/// Whether the IPv4 header and the UDP or TCP checksum of an untagged frame are right, by their definition.
bool checksums_hold(std::span<const std::uint8_t> frame);

}  // namespace volley::soft82599
