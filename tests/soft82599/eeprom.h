#pragma once

#include <array>
#include <cstdint>

namespace volley::soft82599 {

using MacAddress = std::array<std::uint8_t, 6>;

/// The EEPROM image: what the driver's shared code insists on (checksum, firmware version, SFP initialisation
/// sequences), all other words zero. Datasheet chapter 6.
class Eeprom {
  public:
    explicit Eeprom(const MacAddress& mac);

    [[nodiscard]] const MacAddress& mac() const noexcept { return mac_; }
    /// Word of the image; words past its end read zero.
    [[nodiscard]] std::uint16_t word(unsigned address) const noexcept;
    /// What EERD reads back after `command` (address << 2 | START) was written to it: DONE and the data.
    [[nodiscard]] std::uint32_t read_command(std::uint32_t command) const noexcept;

  private:
    MacAddress mac_;
    std::array<std::uint16_t, 0x400> words_{};
};

}  // namespace volley::soft82599
