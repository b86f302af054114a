#pragma once

#include <array>
#include <cstdint>

#include "soft82599/control.h"
#include "soft82599/registers.h"

namespace volley::soft82599 {

/// The port's own time in picoseconds: when the wire is free, when each queue's rate limiter lets it send,
/// and until when a PAUSE holds the transmitter. A byte takes 800 ps at 10 Gb/s, so every sum is exact; 64
/// bits last 213 days.
class Pacer {
  public:
    using Picoseconds = std::uint64_t;

    explicit Pacer(unsigned limiter_overhead) : limiter_overhead_(limiter_overhead) {}

    void set_speed(LinkSpeed speed) noexcept { byte_ps_ = speed == LinkSpeed::one_gigabit ? 8000 : 800; }
    void reset_limiters() noexcept { limiters_ = {}; }
    /// RTTBCNRC of a queue: bit 31 enables, bits 23:0 are link speed / rate as 10.14 bits fixed point
    /// (datasheet 7.7.2.2).
    void set_limiter(unsigned queue, std::uint32_t rttbcnrc) noexcept;
    /// RTTBCNRM.MMW_SIZE: how much of a delay, in KiB at link speed, a limited queue may catch up.
    void set_window(std::uint32_t kilobytes) noexcept { window_kilobytes_ = kilobytes & 0x3F; }
    [[nodiscard]] std::uint32_t limiter(unsigned queue) const noexcept { return limiters_[queue].setting; }

    [[nodiscard]] Picoseconds now() const noexcept { return now_; }
    void set_now(Picoseconds now) noexcept { now_ = now; }
    /// Something to send appeared on the queue: it cannot start in the past.
    void available(unsigned queue) noexcept { limiters_[queue].since = now_; }
    /// When the next frame of the queue starts.
    [[nodiscard]] Picoseconds start(unsigned queue) const noexcept;
    /// When a frame of `bytes` (without FCS) that starts then has left, inter-frame gap included.
    [[nodiscard]] Picoseconds end(Picoseconds start, std::uint64_t bytes) const noexcept;
    /// The frame was sent: the wire and the queue's limiter are busy.
    void sent(unsigned queue, Picoseconds start, std::uint64_t bytes) noexcept;

    /// XOFF for quanta of 512 bit times, or XON with 0.
    void pause(std::uint16_t quanta) noexcept { pause_end_ = now_ + std::uint64_t{quanta} * 64 * byte_ps_; }
    [[nodiscard]] bool paused() const noexcept { return pause_end_ > now_; }
    [[nodiscard]] Picoseconds pause_end() const noexcept { return pause_end_; }

  private:
    struct Limiter {
        std::uint32_t setting = 0;
        Picoseconds since = 0;       ///< start of what is queued
        Picoseconds free = 0;        ///< next start that the limiter allows
        std::uint64_t fraction = 0;  ///< of a picosecond, in 1/2^14, carried to the next frame
    };

    unsigned limiter_overhead_;
    std::uint64_t byte_ps_ = 800;
    std::uint32_t window_kilobytes_ = 0;
    Picoseconds now_ = 0;
    Picoseconds wire_free_ = 0;
    Picoseconds pause_end_ = 0;
    std::array<Limiter, reg::tx_queues> limiters_{};
};

}  // namespace volley::soft82599
