// Compiled once for each instruction set, with VOLLEY_ISA as the name of the namespace. Nothing here may be
// shared with another object file as an inline function: the linker would keep one copy, perhaps the one for
// a newer CPU. So all helpers are in the unnamed namespace or always inlined, and no library templates are
// used.

#include <cstring>

#include "packet/plan.h"
#include "packet/prf.h"

namespace volley::packet::VOLLEY_ISA {

void stamp(const Plan& plan, std::uint64_t first, std::uint32_t count, std::uint8_t* const* frames) noexcept;
void lengths(const Plan& plan, std::uint64_t first, std::uint32_t count, std::uint16_t* out) noexcept;

namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 most_sums = 256;
constexpr u32 column_room = chunk + vector_group;

struct Scratch {
    alignas(64) u32 column[column_room];
    alignas(64) u32 other[column_room];
    alignas(64) u32 variant[column_room];
    alignas(64) u32 sums[most_sums][chunk];  // touched only as far as the plan has sums
};

[[gnu::always_inline]] inline u32 smaller(u64 a, u32 b) {
    return a < b ? static_cast<u32>(a) : b;
}
[[gnu::always_inline]] inline u32 grouped(u32 n) {
    return (n + vector_group - 1) / vector_group * vector_group;
}

[[gnu::always_inline]] inline u64 quotient(const Divider& by, u64 x) {
    const u64 q = static_cast<u64>(static_cast<Uint128>(x) * by.magic >> 64);
    return q + (x - q * by.divisor >= by.divisor);
}

[[gnu::always_inline]] inline u64 remainder(const Divider& by, u64 x) {
    return by.divisor == 0 ? x : x - quotient(by, x) * by.divisor;
}

/// x, x + step, … and from value number `turn` on, `jump` more.
void count_up(u32* __restrict out, u32 n, u32 x, u32 step, u32 turn, u32 jump, u32 mask, u32 base) {
    for (u32 g = 0; g < n; g += vector_group) {
        for (u32 j = 0; j < vector_group; ++j) {
            const u32 k = g + j;
            const u32 value = x + k * step + (k >= turn ? jump : 0);
            out[k] = (value & mask) | base;
        }
    }
}

void fill_linear(const Column& column, u64 first, u32 n, u32 base, u32* out) {
    const u64 number = remainder(column.cycle, first);
    const u64 left = column.cycle.divisor - number;  // without a cycle a huge number
    const u32 x = column.start + static_cast<u32>(number) * column.step;
    count_up(out, grouped(n), x, column.step, smaller(left, column_room), 0 - column.wrap, column.mask, base);
}

void fill_slow(const Column& column, u64 first, u32 n, u32 base, u32* out) {
    const u64 turns = quotient(column.every, first);
    const u64 left = column.every.divisor - (first - turns * column.every.divisor);
    const u64 number = remainder(column.cycle, turns);
    const u32 x = column.start + static_cast<u32>(number) * column.step;
    const u32 jump = number + 1 == column.cycle.divisor ? column.step - column.wrap : column.step;
    count_up(out, grouped(n), x, 0, smaller(left, column_room), jump, column.mask, base);
}

template <bool tabled>
void fill_stepped(const Column& column, u64 first, u32 n, u32 base, u32* __restrict out) {
    const u64 turns = quotient(column.every, first);
    const u32 every = smaller(column.every.divisor, ~u32{0});
    u64 wait = column.every.divisor - (first - turns * column.every.divisor);
    u64 number = remainder(column.cycle, turns);
    u32 x = column.start + static_cast<u32>(number) * column.step;
    for (u32 k = 0; k < n; ++k) {
        out[k] = (tabled ? column.table[number] : x & column.mask) | base;
        const bool turn = --wait == 0;
        wait = turn ? every : wait;
        number += turn;
        const bool end = number == column.cycle.divisor;
        x += (turn ? column.step : 0) - (end ? column.wrap : 0);
        number = end ? 0 : number;
    }
}

void fill_table(const Column& column, u64 first, u32 n, u32 base, u32* __restrict out) {
    const u32* __restrict table = column.table + remainder(column.cycle, first);
    for (u32 g = 0; g < n; g += vector_group) {
        for (u32 j = 0; j < vector_group; ++j) out[g + j] = table[g + j] | base;
    }
}

void fill_random(const Column& column, u64 first, u32 n, u32 base, u32* __restrict out) {
    const u64 key = column.key + first * golden;
    const u64 range = column.range;
    const u32 start = column.start;
    const u32 step = column.step;
    const u32 mask = column.mask;
    for (u32 g = 0; g < n; g += vector_group) {
        for (u32 j = 0; j < vector_group; ++j) {
            const u64 drawn = scale(mix(key + (g + j) * golden), range);
            out[g + j] = ((start + static_cast<u32>(drawn) * step) & mask) | base;
        }
    }
}

void fill_random_table(const Column& column, u64 first, u32 n, u32 base, u32* __restrict out) {
    for (u32 k = 0; k < n; ++k)
        out[k] = column.table[scale(draw(column.key, first + k), column.range)] | base;
}

void fill_run(const Column& column, u64 first, u32 n, u32 base, u32* out) {
    switch (column.kind) {
        case Column::Kind::linear:
            return fill_linear(column, first, n, base, out);
        case Column::Kind::slow:
            return fill_slow(column, first, n, base, out);
        case Column::Kind::stepped:
            return fill_stepped<false>(column, first, n, base, out);
        case Column::Kind::table:
            return fill_table(column, first, n, base, out);
        case Column::Kind::stepped_table:
            return fill_stepped<true>(column, first, n, base, out);
        case Column::Kind::random:
            return fill_random(column, first, n, base, out);
        case Column::Kind::random_table:
            return fill_random_table(column, first, n, base, out);
        case Column::Kind::computed:
            compute_column(column, first, n, out);
            for (u32 k = 0; k < n; ++k) out[k] |= base;
            return;
    }
}

/// Values of packets first..first+n-1. `out` has column_room; what lies behind the n values is undefined.
void fill(const Column& column, u64 first, u32 n, u32 base, u32* out) {
    if (column.flow.divisor == 0) return fill_run(column, first, n, base, out);
    u64 at = remainder(column.flow, first);
    while (n > 0) {
        const u32 run = smaller(column.flow.divisor - at, n);
        fill_run(column, at, run, base, out);
        out += run;
        n -= run;
        at = 0;
    }
}

template <u32 width>
void store(u8* const* frames, u32 n, u32 offset, const u32* values) {
    for (u32 k = 0; k < n; ++k) std::memcpy(frames[k] + offset, values + k, width);
}

void store_any(u8* const* frames, u32 n, u32 offset, u32 width, const u32* values) {
    switch (width) {
        case 1:
            return store<1>(frames, n, offset, values);
        case 2:
            return store<2>(frames, n, offset, values);
        case 3:
            return store<3>(frames, n, offset, values);
        default:
            return store<4>(frames, n, offset, values);
    }
}

[[gnu::always_inline]] inline u32 lanes(u32 stored) {
    return (stored & 0xffff) + (stored >> 16);
}
[[gnu::always_inline]] inline u32 folded(u32 sum) {
    return lanes(lanes(sum));
}

void add_swapped(u32* __restrict sum, const u32* __restrict stored, u32 n) {
    for (u32 k = 0; k < n; ++k) {
        const u32 word = folded(stored[k]);
        sum[k] += (word << 8 | word >> 8) & 0xffff;
    }
}

void add_straight(u32* __restrict sum, const u32* __restrict stored, u32 n) {
    for (u32 g = 0; g < n; g += vector_group) {
        for (u32 j = 0; j < vector_group; ++j) sum[g + j] += lanes(stored[g + j]);
    }
}

/// Adds what stands in memory as `stored` to every checksum that covers it.
void add_to_sums(const Plan& plan, SumTargets targets, const u32* stored, u32 n, Scratch& scratch) {
    const SumTarget* target = plan.targets + targets.first;
    for (u32 t = 0; t < targets.count; ++t) {
        u32* sum = scratch.sums[target[t].slot];
        if (target[t].swapped) {
            add_swapped(sum, stored, n);
        } else {
            add_straight(sum, stored, grouped(n));
        }
    }
}

void start_sums(const Plan& plan, u32 n, Scratch& scratch) {
    for (u32 s = 0; s < plan.sums.count; ++s) {
        const SumStart& start = plan.sums.data[s];
        u32* __restrict sum = scratch.sums[s];
        if (start.by_variant == nullptr) {
            for (u32 k = 0; k < grouped(n); ++k) sum[k] = start.constant;
        } else {
            for (u32 k = 0; k < n; ++k) sum[k] = start.by_variant[scratch.variant[k]];
        }
    }
}

void write_narrow(const Plan& plan, const NarrowCell& cell, u64 first, u32 n, u8* const* frames,
                  Scratch& scratch) {
    const Column* columns = plan.columns + cell.first_column;
    u32* __restrict value = scratch.column;
    fill(columns[0], first, n, cell.base, value);
    for (u32 c = 1; c < cell.columns; ++c) {
        const u32* __restrict other = scratch.other;
        fill(columns[c], first, n, 0, scratch.other);
        for (u32 k = 0; k < n; ++k) value[k] |= other[k];
    }
    for (u32 g = 0; g < grouped(n); g += vector_group) {
        for (u32 j = 0; j < vector_group; ++j) value[g + j] = __builtin_bswap32(value[g + j]);
    }
    add_to_sums(plan, cell.sums, value, n, scratch);
    store_any(frames, n, cell.offset, cell.width, value);
}

[[gnu::always_inline]] inline u32 lanes64(u64 stored) {
    return lanes(static_cast<u32>(stored)) + lanes(static_cast<u32>(stored >> 32));
}

void write_wide(const Plan& plan, const WideCell& cell, u64 first, u32 n, u8* const* frames,
                Scratch& scratch) {
    alignas(64) u64 halves[2][chunk];
    compute_wide(plan, cell, first, n, halves[0], halves[1]);
    for (u32 k = 0; k < n; ++k) {
        const u64 bytes[2] = {halves[0][k], halves[1][k]};
        std::memcpy(frames[k] + cell.offset, bytes, cell.width);
        scratch.column[k] = folded(lanes64(bytes[0]) + lanes64(bytes[1]));
    }
    add_to_sums(plan, cell.sums, scratch.column, n, scratch);
}

void write_by_size(const VariantWrite& write, u32 n, u8* const* frames, const Scratch& scratch) {
    for (u32 k = 0; k < n; ++k) {
        const u32 value = write.by_variant[scratch.variant[k]];
        if (write.width == 2) {
            std::memcpy(frames[k] + write.offset, &value, 2);
        } else {
            std::memcpy(frames[k] + write.offset, &value, 4);
        }
    }
}

void write_payload(const Plan& plan, u64 first, u32 n, u8* const* frames, Scratch& scratch) {
    const RandomPayload& payload = *plan.payload;
    for (u32 k = 0; k < n; ++k) {
        const u64 key = draw(payload.key, first + k);
        const u32 end = plan.size == nullptr ? plan.fixed_length : plan.lengths[scratch.variant[k]];
        u8* at = frames[k] + payload.offset;
        u64 sum = 0;
        u64 word = 0;
        u64 counter = 0;
        u32 left = end > payload.offset ? end - payload.offset : 0;
        for (; left >= 8; left -= 8, at += 8) {
            word = draw(key, counter++);
            std::memcpy(at, &word, 8);
            sum += (word & 0xffffffff) + (word >> 32);
        }
        if (left > 0) {
            word = draw(key, counter) & ((u64{1} << left * 8) - 1);
            std::memcpy(at, &word, left);
            sum += (word & 0xffffffff) + (word >> 32);
        }
        scratch.column[k] = folded(lanes64(sum));
    }
    add_to_sums(plan, payload.sums, scratch.column, n, scratch);
}

void write_checksum(const Plan& plan, const ChecksumWrite& write, u32 n, u8* const* frames,
                    Scratch& scratch) {
    u32* __restrict sum = scratch.sums[write.slot];
    for (u32 g = 0; g < grouped(n); g += vector_group) {
        for (u32 j = 0; j < vector_group; ++j) {
            const u32 checksum = ~folded(sum[g + j]) & 0xffff;
            sum[g + j] = checksum == 0 ? write.zero : checksum;
        }
    }
    store<2>(frames, n, write.offset, sum);
    add_to_sums(plan, write.sums, sum, n, scratch);
}

void stamp_chunk(const Plan& plan, u64 first, u32 n, u8* const* frames, Scratch& scratch) {
    if (plan.size != nullptr) fill(*plan.size, first, n, 0, scratch.variant);
    start_sums(plan, n, scratch);
    for (u32 c = 0; c < plan.narrow.count; ++c) {
        write_narrow(plan, plan.narrow.data[c], first, n, frames, scratch);
    }
    for (u32 c = 0; c < plan.wide.count; ++c) write_wide(plan, plan.wide.data[c], first, n, frames, scratch);
    for (u32 w = 0; w < plan.by_size.count; ++w) write_by_size(plan.by_size.data[w], n, frames, scratch);
    if (plan.payload != nullptr) write_payload(plan, first, n, frames, scratch);
    for (u32 c = 0; c < plan.checksums.count; ++c) {
        write_checksum(plan, plan.checksums.data[c], n, frames, scratch);
    }
}

}  // namespace

void stamp(const Plan& plan, u64 first, u32 count, u8* const* frames) noexcept {
    Scratch scratch;
    while (count > 0) {
        const u32 n = count < chunk ? count : chunk;
        stamp_chunk(plan, first, n, frames, scratch);
        first += n;
        frames += n;
        count -= n;
    }
}

void lengths(const Plan& plan, u64 first, u32 count, u16* out) noexcept {
    alignas(64) u32 variant[column_room];
    while (count > 0) {
        const u32 n = count < chunk ? count : chunk;
        fill(*plan.size, first, n, 0, variant);
        for (u32 k = 0; k < n; ++k) out[k] = plan.lengths[variant[k]];
        first += n;
        out += n;
        count -= n;
    }
}

}  // namespace volley::packet::VOLLEY_ISA
