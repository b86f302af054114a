#pragma once

#include <cstddef>
#include <cstdint>

#include "base/int128.h"

namespace volley::packet {

struct Rotation;
struct Sequence;

// What stamping executes: plain structs and pointers into storage that the template owns. The stamping code
// is compiled once for each instruction set, so nothing here may bring in inline library code.

/// Packets that one pass handles; columns of this many values stay in the first-level cache.
inline constexpr std::uint32_t chunk = 64;
/// Vector loops run over whole groups of this many, so columns have no ragged ends.
inline constexpr std::uint32_t vector_group = 16;
/// Entries that a table has beyond its cycle, so that a pass reads on without wrapping.
inline constexpr std::uint32_t table_slack = chunk - 1;

/// Division by a number known at build time: a multiplication and one correction.
struct Divider {
    std::uint64_t divisor = 0;  ///< 0: the dividend stays as it is
    std::uint64_t magic = 0;    ///< floor((2^64 - 1) / divisor)
};

/// One 32-bit value a packet: ((start + k * step) & mask), a table entry, or a draw, for value number k.
struct Column {
    enum class Kind : std::uint8_t {
        linear,         ///< a new value each packet, at most one wrap in a pass
        slow,           ///< at most one new value in a pass
        stepped,        ///< otherwise: count up and compare
        table,          ///< a new table entry each packet; the table has slack
        stepped_table,  ///< a new table entry every few packets
        random,         ///< start + step * (draw in [0, range))
        random_table,   ///< table[draw in [0, range)]
        computed,       ///< from the sequence, one by one
    };
    Kind kind = Kind::computed;
    std::uint32_t start = 0;
    std::uint32_t step = 0;
    std::uint32_t wrap = 0;  ///< what is taken off when the cycle ends
    std::uint32_t mask = ~std::uint32_t{0};
    Divider flow;   ///< packets before everything repeats
    Divider every;  ///< packets that share a value
    Divider cycle;  ///< values before the first comes again
    std::uint64_t key = 0;
    std::uint64_t range = 0;
    const std::uint32_t* table = nullptr;
    const Sequence* sequence = nullptr;
    Uint128 minus = 0;  ///< computed: taken off, then
    unsigned left = 0;  ///< shifted left, then masked
};

/// A checksum that covers what is written; `swapped` when it lies at an odd distance from where the sum
/// begins.
struct SumTarget {
    std::uint16_t slot = 0;
    bool swapped = false;
};

struct SumTargets {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// Up to 4 bytes that vary, as a big-endian word whose first byte is the most significant of 32 bits.
struct NarrowCell {
    std::uint16_t offset = 0;
    std::uint8_t width = 0;
    std::uint32_t base = 0;  ///< bits that stay
    std::uint32_t first_column = 0;
    std::uint32_t columns = 0;
    SumTargets sums;
};

struct WidePart {
    const Sequence* sequence = nullptr;
    unsigned left = 0;
    Uint128 mask = 0;
};

/// 5 to 16 bytes that vary, as a big-endian number whose first byte is the most significant of 128 bits.
struct WideCell {
    std::uint16_t offset = 0;
    std::uint8_t width = 0;
    Uint128 base = 0;
    std::uint32_t first_part = 0;
    std::uint32_t parts = 0;
    SumTargets sums;
};

/// Two or four bytes that depend on the size alone: lengths and checksums of what else is constant.
struct VariantWrite {
    std::uint16_t offset = 0;
    std::uint8_t width = 2;
    const std::uint32_t* by_variant = nullptr;
};

/// Where a checksum's sum starts: what is constant for the packet's size.
struct SumStart {
    std::uint32_t constant = 0;
    const std::uint32_t* by_variant = nullptr;  ///< if not null, instead
};

struct ChecksumWrite {
    std::uint16_t offset = 0;
    std::uint16_t slot = 0;
    std::uint16_t shared = 0;  ///< slot whose sum is to be added; `slot` itself for none
    std::uint32_t zero = 0;    ///< what is written for a computed 0
    SumTargets sums;           ///< outer checksums that cover this one
};

/// A CRC32c over what was stamped, from `from` to `to`.
struct CrcWrite {
    std::uint16_t offset = 0;
    std::uint16_t from = 0;
    std::uint16_t to = 0;  ///< 0: to the end of the packet
    SumTargets sums;
};

/// Random bytes from `offset` to the end of the packet, or to its trailer.
struct RandomPayload {
    std::uint16_t offset = 0;
    std::uint64_t key = 0;
    SumTargets sums;
    std::uint16_t trailer = 0;
};

template <class T>
struct Array {
    const T* data = nullptr;
    std::uint32_t count = 0;
};

struct Plan {
    const Column* size = nullptr;            ///< variant of each packet; nullptr when all have one length
    bool size_in_order = false;              ///< tables by variant are in the order of packets, with slack
    const std::uint16_t* lengths = nullptr;  ///< by variant
    std::uint16_t fixed_length = 0;
    Array<SumStart> sums;
    Array<NarrowCell> narrow;
    Array<WideCell> wide;
    Array<VariantWrite> by_size;
    const RandomPayload* payload = nullptr;
    Array<CrcWrite> crcs;
    Array<ChecksumWrite> checksums;  ///< inner before outer
    const Column* columns = nullptr;
    const WidePart* wide_parts = nullptr;
    const SumTarget* targets = nullptr;
    const Rotation* rotation = nullptr;  ///< if not null, instead of all else but fixed_length
};

/// The code that executes a plan, for one instruction set.
struct Executor {
    const char* name;
    /// Stamps packets first..first+count-1 into frames that hold the plan's image.
    void (*stamp)(const Plan& plan, std::uint64_t first, std::uint32_t count,
                  std::uint8_t* const* frames) noexcept;
    /// Lengths of a plan whose sizes vary.
    void (*lengths)(const Plan& plan, std::uint64_t first, std::uint32_t count, std::uint16_t* out) noexcept;
};

/// Executors that this CPU can run, best last; the first is the baseline.
Array<Executor> executors();

// Slow values, computed by code that is compiled once. `out` has room for count values.
void compute_column(const Column& column, std::uint64_t first, std::uint32_t count,
                    std::uint32_t* out) noexcept;
/// Computes the CRC into a frame of that length and returns it as it is stored.
std::uint32_t write_crc(const CrcWrite& write, std::uint32_t length, std::uint8_t* frame) noexcept;
/// Values of a wide cell as they stand in memory, 16 bytes a packet in two halves.
void compute_wide(const Plan& plan, const WideCell& cell, std::uint64_t first, std::uint32_t count,
                  std::uint64_t* head, std::uint64_t* tail) noexcept;

}  // namespace volley::packet
