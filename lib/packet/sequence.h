#pragma once

#include <cstdint>
#include <vector>

#include "packet/model.h"

namespace volley::packet {

/// Separates the draw of a set's members from the draws among them: its key is `key` xor this.
inline constexpr std::uint64_t set_key = 0x5de4b1a7c3f09e21;

/// A value that follows from the packet index alone: a program with its names resolved and its cycle known.
/// This is the plain definition; plan.h holds the faster forms that stamping uses where one fits.
struct Sequence {
    enum class Kind : std::uint8_t {
        linear,    ///< value number k is from + k * step modulo 2^128
        list,      ///< list[k]
        random,    ///< a draw per value number, from `list`, from a set of `set` values, or from the whole
                   ///< range
        hashed,    ///< from + a hash of what `of` hold for packet k, modulo last + 1
        permuted,  ///< each of the range's (or the set's) values once, in random order, then again
    };
    struct Transform {
        Value add = 0;
        int shift = 0;  ///< left when positive
        Value mask = ~Value{0};
        bool operator==(const Transform&) const = default;
    };

    Kind kind = Kind::linear;
    Value from = 0;
    Value step = 0;
    Value last = 0;      ///< random, permuted: the range is from + j * step for j in 0..last
    Value smallest = 0;  ///< of all values, before transforms
    Value largest = 0;
    std::vector<Sequence> of;  ///< hashed
    std::vector<Value> list;   ///< list; random and permuted: the set when it is small enough to hold
    std::uint64_t set = 0;     ///< random, permuted: size of the set; 0 for the whole range
    std::uint64_t key = 0;     ///< random, permuted
    std::uint64_t every = 1;   ///< packets that share a value, nesting included; 0 when it never advances
    std::uint64_t cycle = 1;   ///< values before the first comes again; 0 when never within 2^64 packets
    std::uint64_t flow_packets = 0;  ///< the index counts modulo this; 0 for no cap on flows
    Transform inner;                 ///< a variable's own
    Transform outer;                 ///< the field's

    /// Value number k before transforms.
    [[nodiscard]] Value number(std::uint64_t k) const;
    /// What packet `index` carries.
    [[nodiscard]] Value at(std::uint64_t index) const { return transformed(number(position(index))); }
    /// Which value number packet `index` carries.
    [[nodiscard]] std::uint64_t position(std::uint64_t index) const;
    [[nodiscard]] Value transformed(Value value) const { return apply(outer, apply(inner, value)); }
    static Value apply(const Transform& transform, Value value);

    /// Packets before everything repeats; 0 when never within 2^64 packets (and for random draws).
    [[nodiscard]] std::uint64_t period() const;
    /// The same value for every packet.
    [[nodiscard]] bool constant() const { return every == 0 || smallest == largest; }

  private:
    [[nodiscard]] Value element(std::uint64_t j) const;
};

/// a * b, or 0 when it does not fit 64 bits; 0 (never) times anything is 0.
std::uint64_t product_or_never(std::uint64_t a, std::uint64_t b);

}  // namespace volley::packet
