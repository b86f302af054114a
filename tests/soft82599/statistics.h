#pragma once

#include <cstdint>
#include <vector>

#include "soft82599/registers.h"

namespace volley::soft82599 {

namespace stat {

using reg::Offset;
// Read to clear, 32 bits, datasheet 8.2.3.23. They stick at the top instead of wrapping.
inline constexpr Offset crc_errors = 0x04000;
inline constexpr Offset illegal_bytes = 0x04004;
inline constexpr Offset error_bytes = 0x04008;
inline constexpr Offset short_discards = 0x04010;  ///< MSPDC
inline constexpr Offset missed = 0x03FA0;          ///< MPC(0)
inline constexpr Offset local_faults = 0x04034;
inline constexpr Offset remote_faults = 0x04038;
inline constexpr Offset length_errors = 0x04040;
inline constexpr Offset xon_received = 0x041A4;
inline constexpr Offset xoff_received = 0x041A8;
inline constexpr Offset rx_size = 0x0405C;  ///< PRC64, 127, 255, 511, 1023, 1522 follow each other
inline constexpr Offset good_received = 0x04074;
inline constexpr Offset broadcast_received = 0x04078;
inline constexpr Offset multicast_received = 0x0407C;
inline constexpr Offset good_sent = 0x04080;
inline constexpr Offset undersize = 0x040A4;
inline constexpr Offset fragments = 0x040A8;
inline constexpr Offset oversize = 0x040AC;
inline constexpr Offset jabbers = 0x040B0;
inline constexpr Offset total_received = 0x040D0;
inline constexpr Offset total_sent = 0x040D4;
inline constexpr Offset tx_size = 0x040D8;  ///< PTC64 ... PTC1522
inline constexpr Offset multicast_sent = 0x040F0;
inline constexpr Offset broadcast_sent = 0x040F4;
inline constexpr Offset checksum_errors = 0x04120;  ///< XEC
constexpr Offset queue_received(unsigned i) {
    return 0x01030 + 0x40 * i;
}
constexpr Offset queue_dropped(unsigned i) {
    return 0x01430 + 0x40 * i;
}
constexpr Offset queue_sent(unsigned i) {
    return 0x06030 + 0x40 * i;
}
// Octets, 36 bits in two registers: reading the low half latches and clears, the high half returns the latch.
inline constexpr Offset good_octets_received = 0x04088;
inline constexpr Offset good_octets_sent = 0x04090;
inline constexpr Offset total_octets_received = 0x040C0;
constexpr Offset queue_octets_received(unsigned i) {
    return 0x01034 + 0x40 * i;
}
constexpr Offset queue_octets_sent(unsigned i) {
    return 0x08700 + 8 * i;
}

}  // namespace stat

/// The read-to-clear statistics registers, addressed by their offset (the low half of a pair).
class Statistics {
  public:
    Statistics();

    /// `offset` must be one of stat::. Sticks at the register's largest value.
    void add(reg::Offset offset, std::uint64_t n) noexcept;
    [[nodiscard]] bool covers(reg::Offset offset) const noexcept { return slot_of_[offset / 4] != 0; }
    /// The driver reads a register that covers() is true for.
    std::uint32_t read(reg::Offset offset) noexcept;
    void clear() noexcept;

    /// One frame: size class (PRC64 or PTC64 and up) of `bytes` with FCS.
    void add_size(reg::Offset first, std::uint64_t bytes) noexcept;

  private:
    struct Slot {
        std::uint64_t value = 0;
        std::uint32_t high = 0;  ///< latched by the read of the low half
        bool pair = false;
    };
    void define(reg::Offset offset, bool pair);

    std::vector<Slot> slots_;             ///< slot 0 is unused
    std::vector<std::uint16_t> slot_of_;  ///< by offset / 4; 0 is "not a statistics register"
};

}  // namespace volley::soft82599
