#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "soft82599/register_file.h"

namespace volley::soft82599 {

/// Causes, masks and vectors, datasheet 7.3.1 and 8.2.3.5. Causes 0-63 are the queues' MSI-X vectors, the
/// upper half of EICR holds the others. An unmasked pending cause fires its vector; a masked one waits for
/// its unmasking. Not modelled: throttling (EITR) and the TCP timer.
class Interrupts {
  public:
    static constexpr unsigned vectors = 64;

    explicit Interrupts(RegisterFile& registers) : registers_(registers) {}

    /// Receives the MSI-X vector (0 without MSI-X). An empty sink loses the interrupt, as a port without a
    /// handler does.
    void set_sink(std::function<void(unsigned vector)> sink) { sink_ = std::move(sink); }
    void reset() noexcept;

    /// A cause of the upper half of EICR, such as reg::cause_link.
    void raise(std::uint32_t cause);
    /// A packet was written back for RX queue `queue`.
    void raise_rx(unsigned queue);

    [[nodiscard]] static bool covers(reg::Offset offset) noexcept;
    std::uint32_t read(reg::Offset offset) noexcept;
    void write(reg::Offset offset, std::uint32_t value);

    /// Interrupts delivered on a vector since the port was made. Any thread.
    [[nodiscard]] std::uint64_t fired(unsigned vector) const noexcept {
        return fired_[vector % vectors].load(std::memory_order_relaxed);
    }

  private:
    void fire_pending();
    void fire(unsigned vector);
    [[nodiscard]] bool msix() const noexcept { return (registers_.load(reg::gpie) & reg::gpie_msix) != 0; }

    RegisterFile& registers_;
    std::function<void(unsigned)> sink_;
    std::uint64_t queue_cause_ = 0;  ///< pending, by vector
    std::uint64_t queue_mask_ = 0;   ///< set is enabled
    std::uint32_t other_cause_ = 0;
    std::uint32_t other_mask_ = 0;
    std::uint32_t other_fired_ = 0;  ///< pending causes whose interrupt was delivered already
    std::array<std::atomic<std::uint64_t>, vectors> fired_{};
};

}  // namespace volley::soft82599
