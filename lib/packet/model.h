#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/int128.h"
#include "packet/fields.h"

namespace volley::packet {

/// A field value in host order; 128 bits so that an IPv6 address is a number like any other.
using Value = Uint128;

/// What a field holds for packet i. Plain data, as decoded; each default beside its field.
struct Program {
    enum class Kind : std::uint8_t { literal, increment, decrement, list, random, variable };
    Kind kind = Kind::literal;
    Value from = 0;  ///< the literal; increment and random: first value; decrement: start (its largest)
    Value to = 0;    ///< last value, inclusive
    Value step = 1;
    std::uint64_t every = 1;  ///< packets that share a value before it advances
    std::vector<Value> list;  ///< kind list
    std::uint64_t seed = 1;   ///< kind random
    std::string
        drawn_as;  ///< kind random: the field that the draws are keyed by, as "ipv4.src"; empty: its own
    std::optional<std::uint64_t> distinct;  ///< kind random: draw from this many values only
    bool permute = false;                   ///< kind random: every value once before any comes again
    std::string nest;                       ///< "ipv4.src": advance once per full cycle of that field
    std::string variable;                   ///< kind variable: its name in PacketModel::variables
    std::optional<Value> mask;              ///< applied last: only these bits are written, the others stay
    int shift = 0;                          ///< left (positive) or right (negative), before the mask
    Value add = 0;                          ///< added before the shift

    bool operator==(const Program&) const = default;
    [[nodiscard]] bool constant() const { return kind == Kind::literal; }
};

struct FieldValue {
    const FieldInfo* field = nullptr;
    Program program;
    bool operator==(const FieldValue&) const = default;
};

/// A program on bytes of a raw header that no field names, for imported packets.
struct RawProgram {
    std::uint16_t offset = 0;  ///< first byte, counted from the header's first
    std::uint8_t width = 1;    ///< bytes, 1 to 16, big-endian
    Program program;
    std::uint8_t first_bit = 0;  ///< of these bytes, most significant first
    std::uint8_t bits = 0;       ///< how many; 0: all of `width`
    bool operator==(const RawProgram&) const = default;
};

constexpr unsigned bits_of(const RawProgram& program) {
    return program.bits != 0 ? program.bits : program.width * 8U;
}

/// A program on a named field of a layer, such as "ipv4.2" and src, of packets that are not built from
/// headers.
struct LayerField {
    std::string layer;
    const FieldInfo* field = nullptr;
    Program program;
    bool operator==(const LayerField&) const = default;
};

/// An RFC 1071 checksum computed into two bytes of a raw header, or SCTP's CRC32c into four, for imported
/// packets.
struct RawChecksum {
    enum class Pseudo : std::uint8_t { none, ipv4, ipv6, crc32c };
    std::uint16_t offset = 0;         ///< where it is written, counted from the header's first byte
    std::uint16_t from = 0;           ///< first byte that it covers, counted from the frame's first
    std::optional<std::uint16_t> to;  ///< end, exclusive; none: the frame's end, before any padding
    Pseudo pseudo = Pseudo::none;
    std::uint16_t ip = 0;       ///< frame offset of the IP header whose addresses the pseudo-header takes
    std::uint8_t protocol = 0;  ///< of the pseudo-header; with 17 (UDP) a sum of 0 is written as 0xffff
    std::uint16_t final_address =
        0;  ///< pseudo ipv6: frame offset of the address behind a routing header that
            ///< stands for the destination (RFC 8200 section 8.1); 0: none does
    bool operator==(const RawChecksum&) const = default;
};

/// One header of the stack. A field that is absent is filled in: lengths, types, checksums and defaults.
struct HeaderModel {
    HeaderKind kind = HeaderKind::raw;
    std::vector<FieldValue> fields;
    std::vector<std::pair<const FieldInfo*, std::vector<std::uint8_t>>>
        bytes;                           ///< FieldType::bytes (options)
    std::vector<std::uint8_t> raw;       ///< kind raw: the bytes
    std::string pointer;                 ///< JSON pointer in the configuration, for messages
    std::vector<RawProgram> programs;    ///< kind raw
    std::vector<RawChecksum> checksums;  ///< kind raw
    bool resolve = false;  ///< kind eth: dst is that of the next hop; before it is known it is left out
    bool operator==(const HeaderModel&) const = default;
};

struct WeightedSize {
    std::uint32_t size = 64;
    std::uint32_t weight = 1;
    bool operator==(const WeightedSize&) const = default;
};

/// Frame size in bytes with FCS. Exactly one form is in force.
struct SizeModel {
    std::optional<Program> program;      ///< literal or varying
    std::vector<WeightedSize> weighted;  ///< weighted or IMIX, sent in a deterministic interleaved order
    bool operator==(const SizeModel&) const = default;
};

struct Payload {
    enum class Kind : std::uint8_t { fill, random, bytes };
    Kind kind = Kind::fill;
    std::vector<std::uint8_t> bytes{0};  ///< fill: pattern repeated to the end; bytes: as given, then zeros
    std::uint64_t seed = 1;              ///< kind random: bytes differ from packet to packet
    bool operator==(const Payload&) const = default;
};

struct PacketModel {
    std::optional<SizeModel>
        frame_size;   ///< none: as long as headers and raw bytes are, padded to 60 when `pad`
    bool pad = true;  ///< zero-pad frames under 60 bytes without FCS, outside IP lengths
    Payload payload;
    std::vector<HeaderModel> headers;
    std::vector<std::pair<std::string, Program>> variables;
    std::optional<std::uint64_t> flows;  ///< cap on the distinct tuples that the programs make
    bool operator==(const PacketModel&) const = default;
};

/// What build() found wrong: where in the model, as the JSON pointer below the packet, and the text for the
/// operator.
struct Problem {
    std::string pointer;
    std::string text;
};

}  // namespace volley::packet
