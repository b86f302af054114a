#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "soft82599/control.h"
#include "soft82599/interrupts.h"
#include "soft82599/packet.h"
#include "soft82599/register_file.h"
#include "soft82599/rss.h"
#include "soft82599/statistics.h"

namespace volley::soft82599 {

/// Receives one frame at a time: error and size checks, address and VLAN filters, RSS, VLAN stripping,
/// write-back in the advanced one-buffer format (datasheet 7.1.6). Frames longer than a buffer continue in
/// the next descriptor.
class RxEngine {
  public:
    enum class Verdict : std::uint8_t {
        stored,
        discarded,      ///< by a filter, an error, or because the receiver is off; counted
        no_descriptor,  ///< nothing changed; the sender may wait and try again
        missed,         ///< as above, but lossy: counted
    };

    RxEngine(RegisterFile& registers, Statistics& statistics, Interrupts& interrupts);

    /// `frame` is without FCS.
    Verdict deliver(Bytes frame);

    void set_lossless(bool lossless) noexcept { lossless_ = lossless; }
    void set_overrun(bool overrun) noexcept { overrun_ = overrun; }
    void corrupt(RxError error, std::uint64_t frames) noexcept {
        injected_[static_cast<std::size_t>(error)] += frames;
    }
    [[nodiscard]] const RxQueueCounters& counters(unsigned queue) const noexcept { return queues_[queue]; }
    [[nodiscard]] PortCounters& port_counters() noexcept { return port_; }
    [[nodiscard]] const PortCounters& port_counters() const noexcept { return port_; }

  private:
    struct Descriptor {
        std::uint64_t first;
        std::uint64_t second;
    };

    Bytes edit(Bytes frame, bool strip_tag, bool keep_fcs) noexcept;
    bool arrives_bad(Bytes frame) noexcept;
    void count_error(RxError error, Bytes frame) noexcept;
    [[nodiscard]] bool accepts_length(Bytes frame, const Headers& headers, RxError& error) const noexcept;
    [[nodiscard]] bool accepts_address(Bytes frame) const noexcept;
    [[nodiscard]] bool matches_station(Bytes frame) const noexcept;
    [[nodiscard]] bool accepts_vlan(const Headers& headers) const noexcept;
    [[nodiscard]] std::uint32_t free_descriptors(unsigned queue) const noexcept;
    [[nodiscard]] std::uint32_t buffer_bytes(unsigned queue) const noexcept;
    Verdict miss(unsigned queue);
    void store(unsigned queue, Bytes frame, const Headers& headers, const RssHash& hash) noexcept;
    void count_stored(unsigned queue, Bytes frame) noexcept;
    void count_arrival(Bytes frame) noexcept;

    RegisterFile& registers_;
    Statistics& statistics_;
    Interrupts& interrupts_;
    std::array<RxQueueCounters, reg::rx_queues> queues_{};
    PortCounters port_;
    std::array<std::uint64_t, 8> injected_{};  ///< frames still to arrive bad, by RxError
    std::vector<std::uint8_t> edited_;         ///< the frame without its tag, or with room for its FCS
    bool lossless_ = true;
    bool overrun_ = false;
};

}  // namespace volley::soft82599
