#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/counter.h"

struct rte_mbuf;

namespace volley::worker {

enum class Finding : std::uint8_t { loss, duplicate, reordering, corruption };

/// What is wrong with a packet that has arrived.
struct Found {
    Finding kind = Finding::loss;
    std::uint32_t slot = 0;      ///< of the stream
    std::uint64_t expected = 0;  ///< index of the packet that should have come
    std::uint64_t received = 0;  ///< and of the one that came
    std::uint32_t offset = 0;    ///< corruption: of the first byte that differs
};

/// The packets around one finding, copied as they came. The worker fills it while it is free, control takes
/// it when it is full and gives it back.
struct EvidenceCase {
    enum class State : std::uint8_t { free, filling, full, taken };
    struct Packet {
        static constexpr std::uint32_t most_bytes = 2048;
        std::uint64_t ordinal = 0;  ///< of all packets that the worker has received
        std::uint64_t now_ns = 0;   ///< of its arrival
        std::uint32_t kept = 0;     ///< bytes
        std::uint32_t length = 0;   ///< as received
        std::array<std::uint8_t, most_bytes> bytes;
    };

    Found found;
    std::uint32_t at = 0;  ///< which of the packets it was found by
    std::uint32_t count = 0;
    std::vector<Packet> packets;
    std::uint64_t centre = 0;  ///< ordinal of the packet that it was found by; the worker's
    std::uint64_t next = 0;    ///< ordinal of the next packet to copy; the worker's
    /// free → filling → full by the worker, full → taken → free by control and who writes for it. The release
    /// of full is acquired by take(), that of free by the worker.
    std::atomic<State> state{State::free};
};

/// What one RX worker remembers of its packets, so that the packets around a finding can be looked at
/// afterwards. All room is made before; the worker copies, and counts what it has no room for.
class Evidence {
  public:
    static constexpr std::uint32_t cases = 8;   ///< that wait to be written at a time
    static constexpr std::uint32_t burst = 32;  ///< packets taken note of at a time, at most

    /// around: packets before and after the finding.
    explicit Evidence(std::uint32_t around);

    /// The worker: the packets of a burst, before they are looked at.
    void remember(rte_mbuf* const* mbufs, std::uint32_t count, std::uint64_t now_ns) noexcept;
    /// The worker: packet k of the burst shows this. False: there was no room, which is counted.
    bool note(const Found& found, std::uint32_t k) noexcept;
    /// The worker, at the end of a burst: completes the cases that are open.
    void settle() noexcept {
        if (open_ != 0) [[unlikely]]
            complete(false);
    }
    /// The worker, when it will receive no more for now: what is open stays as short as it is.
    void close() noexcept {
        if (open_ != 0) complete(true);
    }

    /// Control: a case that is full, which is its own until release(); nullptr: none.
    EvidenceCase* take() noexcept;
    /// Any thread.
    static void release(EvidenceCase& given) noexcept {
        given.state.store(EvidenceCase::State::free, std::memory_order_release);
    }
    /// Any thread: findings that there was no room for.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.get(); }

  private:
    void complete(bool now) noexcept;

    const std::uint32_t around_;
    std::vector<EvidenceCase::Packet> history_;  ///< ring, by ordinal; its size is a power of two
    std::uint64_t received_ = 0;                 ///< ordinal of the next packet
    std::uint64_t burst_first_ = 0;              ///< ordinal of the burst's first
    std::uint32_t open_ = 0;                     ///< cases that are being filled
    std::array<EvidenceCase, cases> cases_;
    Counter dropped_;  ///< written by the worker
};

}  // namespace volley::worker
