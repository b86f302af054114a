#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "packet/model.h"
#include "packet/resolve.h"
#include "packet/sequence.h"

namespace volley::packet {

/// An interval that reaches to the end of the packet, wherever its size puts that.
inline constexpr std::uint32_t to_the_end = ~std::uint32_t{0};
/// More headers than any network stacks; it bounds what stamping keeps on its stack.
inline constexpr std::size_t max_headers = 128;

/// A header at its place in the frame.
struct Layer {
    HeaderKind kind = HeaderKind::raw;
    std::string name;           ///< "ipv4.2"
    std::uint32_t offset = 0;   ///< of its first byte
    std::uint32_t length = 0;   ///< bytes with options; of eth the two addresses alone
    std::uint32_t type_at = 0;  ///< eth, dns: where its type stands, behind the tags or the name
};

/// First bit in the frame of a field of a layer.
inline std::uint32_t bit_of(const Layer& layer, const FieldInfo& field) {
    return behind_variable_part(field) ? layer.type_at * 8 + field.bit_offset - variable_part
                                       : layer.offset * 8 + field.bit_offset;
}

/// Bits that follow a sequence.
struct Part {
    std::uint32_t bit = 0;  ///< first bit in the frame, most significant first
    unsigned width = 0;     ///< 1 to 128
    Value mask = 0;         ///< of these bits, the ones that are written
    const Sequence* sequence = nullptr;
    std::uint32_t layer = 0;
    std::string pointer;
    bool follows_flow = false;  ///< no program of the operator's: a tunnel's source port
};

/// 16 bits, big-endian, that hold the bytes from `from` to the end of the packet, without padding.
struct LengthField {
    std::uint32_t at = 0;
    std::uint32_t from = 0;
};

/// An RFC 1071 checksum that the operator left to us.
struct ChecksumField {
    struct Interval {
        std::uint32_t begin = 0;
        std::uint32_t end = to_the_end;
    };
    std::uint32_t at = 0;
    std::vector<Interval> covered;             ///< each summed from its own first byte
    std::uint32_t constant = 0;                ///< pseudo-header protocol, as memory-order words
    std::optional<std::uint32_t> length_from;  ///< pseudo-header length: bytes from here to the end
    bool zero_is_ffff = false;                 ///< RFC 768: zero would say that there is none
};

/// A CRC32c of SCTP (RFC 9260 appendix A), stored least significant byte first. Itself counts as zero.
struct CrcField {
    std::uint32_t at = 0;
    std::uint32_t from = 0;
    std::uint32_t to = to_the_end;
    std::string pointer;
};

/// The headers of a packet laid out, before its size is known.
struct Layout {
    std::vector<std::uint8_t> bytes;  ///< of the headers; what varies or depends on the size is still zero
    std::vector<Layer> layers;
    std::vector<Part> parts;
    std::deque<Sequence> derived;  ///< sequences of parts that no program gives
    std::vector<LengthField> lengths;
    std::vector<ChecksumField> checksums;
    std::vector<CrcField> crcs;
    std::optional<std::uint32_t> whole_words_from;  ///< from here to the end must be whole 4 bytes
};

/// Lays out the headers: operator's values where given, else defaults and what follows from the neighbours.
Layout lay_out(const PacketModel& model, const Resolver& resolver, std::optional<Value> port_mac,
               std::vector<Problem>& problems);

}  // namespace volley::packet
