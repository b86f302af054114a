#pragma once

#include <cstdint>
#include <string_view>

namespace volley::ctl {

/// What a capture of the daemon's says of itself.
struct CaptureSummary {
    std::uint64_t packets = 0;   ///< in the file
    std::uint64_t received = 0;  ///< looked at
    std::uint64_t accepted = 0;  ///< that the filter took
    std::uint64_t dropped = 0;   ///< of these, for want of room
};

/// Reads packet and statistics blocks of a pcapng text in this machine's byte order; what is none counts for
/// nothing.
CaptureSummary summary_of(std::string_view pcapng);

}  // namespace volley::ctl
