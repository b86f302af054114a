#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "soft82599/control.h"
#include "soft82599/packet.h"
#include "soft82599/register_file.h"
#include "soft82599/statistics.h"

namespace volley::soft82599 {

/// Takes packets from the TX descriptor rings (advanced descriptors, datasheet 7.2.3.2): gathers the
/// segments, inserts checksums and the VLAN tag, pads; later writes back DD and counts. When and whether a
/// frame leaves is decided outside, between gather() and complete().
class TxEngine {
  public:
    TxEngine(RegisterFile& registers, Statistics& statistics, const char* port_name);

    void reset() noexcept;
    /// The driver wrote TDT. Counts it.
    void tail_written(unsigned queue, std::uint32_t value) noexcept;
    /// The queue is enabled, not stuck, and has descriptors. RegisterFile holds heads and tails.
    [[nodiscard]] bool ready(unsigned queue) const noexcept;
    /// Makes the frame of the next packet of a ready() queue and returns its length; nothing when the rest of
    /// the ring holds no whole packet. Refused packets are skipped, and counted.
    std::optional<std::size_t> gather(unsigned queue) noexcept;
    /// What gather() made, for that queue only, until the next gather().
    [[nodiscard]] Bytes frame() const noexcept { return {frame_.data(), length_}; }
    /// The frame left: write back, count, move the head.
    void complete(unsigned queue) noexcept;
    void count_blocked(unsigned queue) noexcept { ++queues_[queue].counters.blocked; }

    void set_stuck(unsigned queue, bool stuck) noexcept { queues_[queue].stuck = stuck; }
    [[nodiscard]] const TxQueueCounters& counters(unsigned queue) const noexcept {
        return queues_[queue].counters;
    }

  private:
    struct Descriptor {
        std::uint64_t address;
        std::uint32_t command;
        std::uint32_t status;
    };
    struct Context {
        std::uint32_t lengths = 0;  ///< dword 0: IPLEN, MACLEN, VLAN
        std::uint32_t type = 0;     ///< dword 2: TUCMD
    };
    struct Queue {
        TxQueueCounters counters;
        std::array<Context, 2> contexts{};
        bool stuck = false;
        bool told_segmentation = false;
        bool told_bad = false;
    };
    /// A run of data descriptors up to EOP.
    struct Packet {
        std::uint32_t next = 0;  ///< ring index behind it
        std::uint32_t first_command = 0;
        std::uint32_t first_status = 0;
        const char* problem = nullptr;
    };

    [[nodiscard]] Descriptor* ring(unsigned queue) const noexcept;
    [[nodiscard]] std::uint32_t ring_size(unsigned queue) const noexcept;
    std::optional<Packet> collect(unsigned queue, std::uint32_t head, std::uint32_t tail) noexcept;
    void append(const Descriptor& descriptor, Packet& packet) noexcept;
    void take_context(Queue& queue, const Descriptor& descriptor) noexcept;
    /// Returns what is wrong with the request, or null.
    const char* insert_checksums(Queue& queue, const Packet& packet, const Context& context) noexcept;
    void insert_vlan(Queue& queue, const Context& context) noexcept;
    void refuse(unsigned queue, const Packet& packet) noexcept;
    void write_back(unsigned queue, std::uint32_t end) noexcept;
    void count_sent(unsigned queue) noexcept;

    RegisterFile& registers_;
    Statistics& statistics_;
    const char* port_name_;
    std::array<Queue, reg::tx_queues> queues_{};
    std::vector<std::uint8_t> frame_;
    std::size_t length_ = 0;
    std::uint32_t packet_end_ = 0;  ///< of the gathered packet
};

}  // namespace volley::soft82599
