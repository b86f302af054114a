#pragma once

#include <cstdint>
#include <vector>

namespace volley::traffic {

/// What one pass over a capture finds, in the memory of a frame.
struct Survey {
    std::uint64_t packets = 0;
    std::uint64_t l2_bytes = 0;        ///< with FCS, as they will be sent
    std::uint64_t padded = 0;          ///< frames that were captured in part and filled up with zeros
    std::uint64_t backwards = 0;       ///< frames that are older than the one before them
    std::uint64_t span_ns = 0;         ///< sum of the gaps
    std::uint16_t longest = 0;         ///< bytes without FCS
    std::vector<std::uint64_t> found;  ///< by rewrite: frames that have its field
    std::vector<std::vector<std::uint8_t>>
        samples;  ///< the first frame, and the longest for each number of tags
};

}  // namespace volley::traffic
