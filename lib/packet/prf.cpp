#include "packet/prf.h"

#include "packet/bits.h"

namespace volley::packet {
namespace {

constexpr unsigned rounds = 6;

unsigned width_of(Uint128 value) {
    unsigned width = 0;
    for (; value != 0; value >>= 1) ++width;
    return width;
}

}  // namespace

std::uint64_t key_of(std::uint64_t seed, const char* name, std::size_t length) {
    std::uint64_t hash = mix(seed + golden);
    for (std::size_t i = 0; i < length; ++i) hash = mix(hash ^ static_cast<std::uint8_t>(name[i])) + golden;
    return hash;
}

Uint128 draw_wide(std::uint64_t key, std::uint64_t counter, Uint128 last) {
    const Uint128 mask = low_bits(width_of(last));
    const std::uint64_t root = draw(key, counter);
    for (std::uint64_t attempt = 0;; attempt += 2) {
        const Uint128 bits = static_cast<Uint128>(draw(root, attempt)) << 64 | draw(root, attempt + 1);
        if ((bits & mask) <= last) return bits & mask;
    }
}

Uint128 permuted(std::uint64_t key, Uint128 x, Uint128 last) {
    if (last == 0) return 0;
    const unsigned half = (width_of(last) + 1) / 2;
    const auto mask = static_cast<std::uint64_t>(low_bits(half));
    do {
        auto left = static_cast<std::uint64_t>(x >> half);
        auto right = static_cast<std::uint64_t>(x) & mask;
        for (unsigned round = 0; round < rounds; ++round) {
            const std::uint64_t next = left ^ (mix(key + round * golden + right) & mask);
            left = right;
            right = next;
        }
        x = static_cast<Uint128>(left) << half | right;
    } while (x > last);
    return x;
}

}  // namespace volley::packet
