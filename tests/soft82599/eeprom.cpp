#include "soft82599/eeprom.h"

namespace volley::soft82599 {
namespace {

constexpr unsigned firmware_pointer = 0x0F;
constexpr unsigned sfp_list_pointer = 0x2B;
constexpr unsigned device_capabilities = 0x2C;
constexpr unsigned checksum_word = 0x3F;
constexpr std::uint16_t checksum_total = 0xBABA;  ///< sum of words 0x00-0x3F, datasheet 6.3.3.1

}  // namespace

Eeprom::Eeprom(const MacAddress& mac) : mac_(mac) {
    // Firmware module -> patch block -> version: fiber ids refuse firmware 5 and older as pre-production.
    words_[firmware_pointer] = 0x200;
    words_[0x204] = 0x210;
    words_[0x217] = 6;
    // One initialisation sequence (write nothing, end) for each module type: 5/6 SR/LR on core 0/1, 3 DA on
    // core 0.
    words_[sfp_list_pointer] = 0x300;
    constexpr std::uint16_t sequences[] = {0, 5, 0x320, 6, 0x320, 3, 0x320, 0xFFFF};
    for (unsigned i = 0; const auto word : sequences) words_[0x300 + i++] = word;
    words_[0x321] = 0xFFFF;
    words_[device_capabilities] = 1;  // any SFP module is allowed
    std::uint16_t sum = 0;
    for (unsigned i = 0; i < checksum_word; ++i) sum = static_cast<std::uint16_t>(sum + words_[i]);
    words_[checksum_word] = static_cast<std::uint16_t>(checksum_total - sum);
}

std::uint16_t Eeprom::word(unsigned address) const noexcept {
    return address < words_.size() ? words_[address] : std::uint16_t{0};
}

std::uint32_t Eeprom::read_command(std::uint32_t command) const noexcept {
    constexpr std::uint32_t done = 2;
    const std::uint32_t address = (command >> 2) & 0x3FFF;
    return static_cast<std::uint32_t>(word(address)) << 16 | address << 2 | done;
}

}  // namespace volley::soft82599
