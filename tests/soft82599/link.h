#pragma once

#include <cstdint>

#include "soft82599/options.h"
#include "soft82599/register_file.h"

namespace volley::soft82599 {

/// The link as the MAC reports it. Datasheet 8.2.3.22 (AUTOC, LINKS, ANLP1).
/// The driver's own requests (laser off, AUTOC restarts) do not take the link down: only the test does.
class Link {
  public:
    explicit Link(DeviceId id) : id_(id) {}

    /// Reset values of the link registers, and RXPBSIZE(0) from which the driver takes its flow control
    /// limits.
    void reset(RegisterFile& registers) const noexcept;
    /// Returns true when the state changed.
    bool set_up(bool up) noexcept;
    [[nodiscard]] bool up() const noexcept { return up_; }
    void set_speed(LinkSpeed speed) noexcept { speed_ = speed; }
    [[nodiscard]] LinkSpeed speed() const noexcept { return speed_; }
    [[nodiscard]] std::uint32_t links_register() const noexcept;

  private:
    DeviceId id_;
    bool up_ = true;
    LinkSpeed speed_ = LinkSpeed::ten_gigabit;
};

}  // namespace volley::soft82599
