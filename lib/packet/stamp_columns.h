#pragma once

// The values of a column for a pass of packets. For stamp.cpp alone, as stamp_lanes.h is.

#include "packet/stamp_lanes.h"

namespace volley::packet {
namespace {

/// x, x + step, … and from value number `turn` on, `jump` more.
template <class Sink>
[[gnu::always_inline]] inline void count_up(const Sink& sink, u32 n, u32 x, u32 step, u32 turn, u32 jump,
                                            u32 mask, u32 base) {
    Vector k = load(counting);
    for (u32 g = 0; g < n; g += lanes) {
        const Vector late = reinterpret_cast<Vector>(k >= turn);
        sink(g, (((x + k * step) + (late & jump)) & mask) | base);
        k += lanes;
    }
}

template <class Sink>
[[gnu::always_inline]] inline void fill_linear(const Column& column, u64 first, u32 n, u32 base,
                                               const Sink& sink) {
    const u64 number = remainder(column.cycle, first);
    const u64 left = column.cycle.divisor - number;  // without a cycle there is no wrap either
    const u32 x = column.start + static_cast<u32>(number) * column.step;
    count_up(sink, n, x, column.step, smaller(left, chunk), 0 - column.wrap, column.mask, base);
}

template <class Sink>
[[gnu::always_inline]] inline void fill_slow(const Column& column, u64 first, u32 n, u32 base,
                                             const Sink& sink) {
    const u64 turns = quotient(column.every, first);
    const u64 left = column.every.divisor - (first - turns * column.every.divisor);
    const u64 number = remainder(column.cycle, turns);
    const u32 x = column.start + static_cast<u32>(number) * column.step;
    const u32 jump = number + 1 == column.cycle.divisor ? column.step - column.wrap : column.step;
    count_up(sink, n, x, 0, smaller(left, chunk), jump, column.mask, base);
}

template <class Sink>
[[gnu::always_inline]] inline void fill_table(const Column& column, u64 first, u32 n, u32 base,
                                              const Sink& sink) {
    const u32* table = column.table + remainder(column.cycle, first);
    for (u32 g = 0; g < n; g += lanes) sink(g, load(table + g) | base);
}

#if defined(__AVX2__)
template <bool whole, class Sink>
[[gnu::always_inline]] inline void fill_random(const Column& column, u64 first, u32 n, u32 base,
                                               const Sink& sink) {
    constexpr u32 half = lanes / 2;
    const Vector64 range = Vector64{} + column.range;
    Vector64 counter =
        *reinterpret_cast<const Vector64*>(counting64) * golden + (column.key + first * golden);
    for (u32 g = 0; g < n; g += lanes) {
        Half drawn[2];
        for (auto& part : drawn) {
            const Vector64 bits = mixed(counter);
            Vector64 scaled = bits >> 32;
            if (!whole) scaled = (product_of_low(scaled, range) + (product_of_low(bits, range) >> 32)) >> 32;
            part = __builtin_convertvector(scaled, Half);
            counter += half * golden;
        }
        Vector value;
        __builtin_memcpy(&value, drawn, sizeof value);
        sink(g, ((value * column.step + column.start) & column.mask) | base);
    }
}
#else
template <bool whole, class Sink>
[[gnu::always_inline]] inline void fill_random(const Column& column, u64 first, u32 n, u32 base,
                                               const Sink& sink) {
    for (u32 g = 0; g < n; g += lanes) {
        Vector value{};
        for (u32 j = 0; j < lanes; ++j) {
            const u64 bits = draw(column.key, first + g + j);
            value[j] = static_cast<u32>(whole ? bits >> 32 : scale(bits, column.range));
        }
        sink(g, ((value * column.step + column.start) & column.mask) | base);
    }
}
#endif

/// The kinds that work in groups of lanes. False: the column is of another kind.
template <class Sink>
bool fill_groups(const Column& column, u64 first, u32 n, u32 base, const Sink& sink) {
    switch (column.kind) {
        case Column::Kind::linear:
            fill_linear(column, first, n, base, sink);
            return true;
        case Column::Kind::slow:
            fill_slow(column, first, n, base, sink);
            return true;
        case Column::Kind::table:
            fill_table(column, first, n, base, sink);
            return true;
        case Column::Kind::random:
            if (column.range >> 32 != 0) {
                fill_random<true>(column, first, n, base, sink);
            } else {
                fill_random<false>(column, first, n, base, sink);
            }
            return true;
        default:
            return false;
    }
}

template <bool tabled>
void fill_stepped(const Column& column, u64 first, u32 n, u32 base, u32* out) {
    const u64 turns = quotient(column.every, first);
    u64 wait = column.every.divisor - (first - turns * column.every.divisor);
    u64 number = remainder(column.cycle, turns);
    u32 x = column.start + static_cast<u32>(number) * column.step;
    for (u32 k = 0; k < n; ++k) {
        out[k] = (tabled ? column.table[number] : x & column.mask) | base;
        const bool turn = --wait == 0;
        wait = turn ? column.every.divisor : wait;
        number += turn;
        const bool end = number == column.cycle.divisor;
        x += (turn ? column.step : 0) - (end ? column.wrap : 0);
        number = end ? 0 : number;
    }
}

void fill_run(const Column& column, u64 first, u32 n, u32 base, u32* out) {
    if (fill_groups(column, first, n, base, Plain{out})) return;
    switch (column.kind) {
        case Column::Kind::stepped:
            return fill_stepped<false>(column, first, n, base, out);
        case Column::Kind::stepped_table:
            return fill_stepped<true>(column, first, n, base, out);
        case Column::Kind::random_table:
            for (u32 k = 0; k < n; ++k) {
                out[k] = column.table[scale(draw(column.key, first + k), column.range)] | base;
            }
            return;
        default:
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

}  // namespace
}  // namespace volley::packet
