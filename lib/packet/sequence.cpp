#include "packet/sequence.h"

#include "packet/prf.h"

namespace volley::packet {
namespace {

constexpr Value two_to_32 = Value{1} << 32;

}  // namespace

std::uint64_t product_or_never(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? 0 : product;
}

Value Sequence::apply(const Transform& transform, Value value) {
    value += transform.add;
    value = transform.shift >= 0 ? value << transform.shift : value >> -transform.shift;
    return value & transform.mask;
}

Value Sequence::element(std::uint64_t j) const {
    if (!list.empty()) return list[j];
    return from + step * (set != 0 ? permuted(key ^ set_key, j, last) : j);
}

Value Sequence::number(std::uint64_t k) const {
    switch (kind) {
        case Kind::linear:
            return from + Value{k} * step;
        case Kind::list:
            return list[k];
        case Kind::random: {
            const Value most = set != 0 ? Value{set} - 1 : last;
            const Value drawn = most < two_to_32
                                    ? Value{scale(draw(key, k), static_cast<std::uint64_t>(most) + 1)}
                                    : draw_wide(key, k, most);
            return set != 0 ? element(static_cast<std::uint64_t>(drawn)) : from + step * drawn;
        }
        case Kind::hashed: {
            std::uint64_t hash = key;
            for (const Sequence& sequence : of) {
                const Value value = sequence.at(k);
                hash =
                    draw(hash ^ static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(value >> 64));
            }
            return from + scale(hash, static_cast<std::uint64_t>(last) + 1);
        }
        case Kind::permuted: {
            const Value most = set != 0 ? Value{set} - 1 : last;
            const Value place = permuted(key, k, most);
            return set != 0 ? element(static_cast<std::uint64_t>(place)) : from + step * place;
        }
    }
    return from;
}

std::uint64_t Sequence::position(std::uint64_t index) const {
    if (flow_packets != 0) index %= flow_packets;
    if (every != 1) index = every == 0 ? 0 : index / every;
    if (kind != Kind::random && cycle != 0) index %= cycle;
    return index;
}

std::uint64_t Sequence::period() const {
    const std::uint64_t own = kind == Kind::random ? 0 : product_or_never(every, cycle);
    if (flow_packets == 0) return own;
    return own != 0 && flow_packets % own == 0 ? own : flow_packets;
}

}  // namespace volley::packet
