#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace volley::imports {

/// Writes a pcapng capture of Ethernet frames as bytes: each call appends whole blocks
/// (draft-ietf-opsawg-pcapng) to a text, so whoever keeps them decides where they go and a file may end after
/// any of them. Times are nanoseconds of CLOCK_REALTIME.
class Pcapng {
  public:
    struct Packet {
        std::uint32_t interface = 0;  ///< number of the interface, in the order of their blocks
        std::uint64_t unix_ns = 0;
        std::uint32_t length = 0;             ///< on the wire, without FCS
        std::span<const std::uint8_t> bytes;  ///< what was kept of it, from its first byte on
    };
    struct Counts {
        std::uint64_t received = 0;  ///< looked at
        std::uint64_t accepted = 0;  ///< that the filter took
        std::uint64_t dropped = 0;   ///< of these, for want of room
    };

    /// A section, which begins a file. `comment` may be empty.
    static void section(std::string& out, std::string_view application, std::string_view comment);
    /// most: bytes kept of a packet at most. filter: that the packets were chosen by; may be empty.
    static void interface(std::string& out, std::string_view name, std::uint32_t most,
                          std::string_view filter = {});
    static void packet(std::string& out, const Packet& packet, std::string_view comment = {});
    static void statistics(std::string& out, std::uint32_t interface, std::uint64_t unix_ns,
                           const Counts& counts);
};

}  // namespace volley::imports
