#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "packet/describe.h"

namespace volley::ctl {

/// Some bytes of a frame and what they are.
struct Annotation {
    std::uint32_t offset = 0;
    std::vector<std::uint8_t> bytes;
    std::string layer;    ///< "ipv4.2", "payload", "signature"
    std::string field;    ///< "src"; empty for bytes that no field names
    std::string value;    ///< as people write it
    std::string program;  ///< how it varies; empty when it does not
};

/// What the headers of any frame say of it, for packets that were not built from a header stack.
packet::Description describe_frame(std::span<const std::uint8_t> frame);

/// Every byte of the frame, field by field and in order; fields that share a byte each show it. signature:
/// the bytes at the end that are the signature; 0 for none.
std::vector<Annotation> annotate(const packet::Description& description, std::span<const std::uint8_t> frame,
                                 std::uint32_t signature);

}  // namespace volley::ctl
