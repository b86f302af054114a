#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "packet/model.h"

namespace volley::packet {

/// A field as it lies in the frame.
struct DescribedField {
    const FieldInfo* field = nullptr;
    std::uint32_t bit = 0;  ///< first bit in the frame
    std::string program;    ///< "10.0.0.1 to 10.0.0.100"; empty when the field does not vary
};

struct DescribedLayer {
    HeaderKind kind = HeaderKind::raw;
    std::string name;          ///< "ipv4.2"
    std::uint32_t offset = 0;  ///< bytes from the frame's first
    std::uint32_t length = 0;  ///< of eth the two addresses; its type stands behind the tags
    std::vector<DescribedField> fields;
};

/// How many different values the fields that tell flows apart take together.
struct TupleCount {
    std::optional<std::uint64_t> most;  ///< none: more than 2^64
    bool exact = false;                 ///< that many, not fewer
};

struct Description {
    std::vector<DescribedLayer> layers;
    std::uint32_t payload_at = 0;
    std::string sizes;       ///< "64", "64 to 1518", or a mix with its genome
    TupleCount tuples;       ///< of all fields that tell flows apart, MAC addresses and tags too
    TupleCount five_tuples;  ///< of IP addresses, protocols and ports alone
};

/// What explains a packet to its operator. The model must be one that builds.
Description describe(const PacketModel& model);

/// A program in words, values as `type` writes them.
std::string to_text(FieldType type, const Program& program);

}  // namespace volley::packet
