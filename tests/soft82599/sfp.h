#pragma once

#include <array>
#include <cstdint>

namespace volley::soft82599 {

/// An SFP+ module (10GBASE-SR by Intel) behind the bit-banged two-wire bus of I2CCTL.
/// Bits of I2CCTL, datasheet 8.2.3.1.8: write SCL 1, SDA 3; read SCL 0, SDA 2. Identification bytes:
/// SFF-8472, address A0h.
class SfpModule {
  public:
    SfpModule();

    /// The driver writes I2CCTL.
    void write(std::uint32_t i2cctl) noexcept;
    /// What the driver reads: the clock it drives, and the wired AND of both sides on the data line.
    [[nodiscard]] std::uint32_t read(std::uint32_t i2cctl) const noexcept;
    /// An absent module acknowledges nothing.
    void set_present(bool present) noexcept { present_ = present; }
    [[nodiscard]] bool present() const noexcept { return present_; }

  private:
    enum class State : std::uint8_t { idle, address, offset, read };

    void clock_rises(bool sda) noexcept;
    void clock_falls() noexcept;
    void byte_received() noexcept;
    void byte_acknowledged() noexcept;

    std::array<std::uint8_t, 256> memory_{};
    State state_ = State::idle;
    int bit_ = 0;  ///< bits since the last START or acknowledge
    std::uint8_t shift_ = 0;
    std::uint8_t pointer_ = 0;
    bool reading_ = false;
    bool acknowledged_ = false;  ///< master acknowledged the byte it read
    bool drive_ = true;          ///< our side of SDA; true is released
    bool scl_ = true;
    bool sda_ = true;
    bool present_ = true;
};

}  // namespace volley::soft82599
