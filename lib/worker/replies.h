#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/counter.h"
#include "worker/responder.h"

struct rte_mbuf;
struct rte_mempool;
struct rte_ring;

namespace volley::worker {

/// What a port says for itself: the replies of its responder, and what control asks its neighbours, on their
/// way from whoever makes them to the one TX worker that sends them. Bounded: what does not fit is dropped
/// and counted, as any host would.
class Replies {
  public:
    /// Throws dpdk::Error.
    /// longest: the longest frame (without FCS) that the port sends, hence the longest reply; at most
    /// Responder::longest_reply.
    Replies(const std::string& name, int socket, std::uint64_t mac, std::optional<std::uint16_t> vlan,
            std::vector<IpAddress> addresses, std::uint32_t longest);
    ~Replies();
    Replies(const Replies&) = delete;
    Replies& operator=(const Replies&) = delete;

    [[nodiscard]] Responder& responder() noexcept { return responder_; }

    /// A receiver: answers the frame if there is an answer.
    void answer(std::span<const std::uint8_t> frame) noexcept;
    /// Control: asks for that neighbour's MAC address.
    void ask(const IpAddress& address) noexcept;

    /// The TX worker: takes up to n frames to be sent; returns how many. None: costs one load.
    std::uint32_t take(rte_mbuf** out, std::uint32_t n) noexcept;
    /// The TX worker: that many of them were accepted by the device, the others are given up.
    void sent(std::uint32_t accepted, std::uint32_t given_up) noexcept;

    /// Any thread: replies that the device accepted,
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_.get(); }
    /// and questions.
    [[nodiscard]] std::uint64_t asked() const noexcept { return asked_.get(); }
    [[nodiscard]] std::uint64_t dropped() const noexcept {
        return dropped_.load(std::memory_order_relaxed) + given_up_.get();
    }

  private:
    template <class Make>
    void put(rte_ring* ring, Make&& make) noexcept;

    Responder responder_;
    const std::uint32_t longest_;
    rte_mempool* pool_;
    rte_ring* ring_;       ///< receivers produce, the transmitting worker consumes
    rte_ring* questions_;  ///< control produces, whom no receiver has to wait for; the same worker consumes
    std::uint32_t questions_taken_ = 0;      ///< by the last take(): they come first; the TX worker's
    Counter sent_;                           ///< written by the TX worker
    Counter asked_;                          ///< written by the TX worker
    Counter given_up_;                       ///< written by the TX worker
    std::atomic<std::uint64_t> dropped_{0};  ///< written by receivers and control
};

}  // namespace volley::worker
