#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "import/error.h"

namespace volley::imports {

/// Frames of a capture file in memory, without FCS, in the order of the file.
struct Capture {
    struct Frame {
        std::uint64_t begin = 0;   ///< in bytes
        std::uint32_t length = 0;  ///< at least 1
        std::uint64_t time_ns = 0;
        std::uint64_t place = 0;  ///< offset in the file of what holds it, for messages
    };
    std::vector<std::uint8_t> bytes;
    std::vector<Frame> frames;
    std::uint64_t padded = 0;  ///< frames that were captured in part and filled up with zeros

    [[nodiscard]] std::span<const std::uint8_t> frame(std::size_t i) const {
        return std::span(bytes).subspan(frames[i].begin, frames[i].length);
    }
    [[nodiscard]] std::span<std::uint8_t> frame(std::size_t i) {
        return std::span(bytes).subspan(frames[i].begin, frames[i].length);
    }
};

struct CaptureOptions {
    bool pad = false;  ///< fill up what was captured in part with zeros, instead of refusing it
    std::uint64_t most_bytes = std::uint64_t{8} << 30;  ///< of frames; more is refused
};

/// Reads pcap (microseconds and nanoseconds, both byte orders) or pcapng of Ethernet frames. An FCS that the
/// file says it holds is taken off. Throws Error: "FILE: at byte N, packet K: what is wrong".
Capture read_capture(const std::string& path, const CaptureOptions& options = {});

}  // namespace volley::imports
