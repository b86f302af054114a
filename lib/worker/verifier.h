#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "packet/template.h"

namespace volley::worker {

/// What a stream's packets are compared with. A packet of a reload ago may still be under way, and a
/// signature does not say which template made it, so the last few are kept, youngest first.
struct Verification {
    static constexpr std::size_t most_templates = 4;
    std::uint32_t one_in = 0;  ///< packets whose index it divides are compared; 0: none
    std::vector<std::shared_ptr<const packet::PacketTemplate>> templates;
};

/// A packet as it came, kept because it is not what was sent.
struct CorruptedPacket {
    static constexpr std::uint32_t most_bytes = 2048;
    std::uint32_t slot = 0;
    std::uint64_t index = 0;
    std::uint32_t length = 0;  ///< as received
    std::uint32_t expected_length = 0;
    std::uint32_t offset = 0;  ///< of the first byte that differs
    std::array<std::uint8_t, most_bytes> bytes;
    std::array<std::uint8_t, most_bytes> expected;
};

/// Recomputes packets and compares them with what came, whole frames without the trailer, but for the bytes
/// that a router changes on its way. One worker uses it; the kept packets are read by others.
class Verifier {
  public:
    static constexpr std::uint32_t most_kept = 8;
    static constexpr std::uint32_t run = 32;  ///< packets compared in one go

    Verifier();

    /// Compares packets first .. first+count-1 of one stream, count ≤ run. Returns how many differ; the
    /// first of all are kept.
    std::uint32_t compare(const Verification& with, std::uint32_t slot, std::uint64_t first,
                          std::uint32_t count, const std::uint8_t* const* frames,
                          const std::uint32_t* lengths) noexcept;

    /// Of the last compare() that found any: the first packet that differs and the first byte at which.
    struct Wrong {
        std::uint32_t at = 0;  ///< its number in the run
        std::uint32_t offset = 0;
    };
    [[nodiscard]] Wrong first_wrong() const noexcept { return first_wrong_; }

    /// The worker, while nobody reads them: forgets the kept packets.
    void begin_run() noexcept { kept_.store(0, std::memory_order_relaxed); }

    /// Any thread: packets kept so far; those below it are complete and do not change before the next run.
    [[nodiscard]] std::uint32_t kept() const noexcept { return kept_.load(std::memory_order_acquire); }
    [[nodiscard]] const CorruptedPacket& kept(std::uint32_t i) const noexcept { return packets_[i]; }

  private:
    const std::uint16_t* make(const packet::PacketTemplate& packet, std::uint64_t first,
                              std::uint32_t count) noexcept;
    [[nodiscard]] bool as_another(const Verification& with, std::uint64_t index, const std::uint8_t* frame,
                                  std::uint32_t length) noexcept;
    void keep(std::uint32_t slot, std::uint64_t index, const std::uint8_t* frame, std::uint32_t length,
              const std::uint8_t* expected, std::uint32_t expected_length,
              const packet::PacketTemplate& packet) noexcept;

    std::vector<std::uint8_t> room_;           ///< run frames, and one for another template
    std::array<std::uint8_t*, run> frames_{};  ///< into it
    std::array<std::uint32_t, run> holds_{};   ///< content id of each
    std::array<std::uint16_t, run> lengths_{};
    std::uint8_t* other_ = nullptr;
    Wrong first_wrong_;
    std::vector<CorruptedPacket> packets_;
    std::atomic<std::uint32_t> kept_{0};  ///< written by the worker, after the packet; read by any
};

}  // namespace volley::worker
