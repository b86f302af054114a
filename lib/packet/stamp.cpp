// Compiled once for each instruction set, with VOLLEY_ISA as the name of the namespace. Nothing here may be
// shared with another object file as an inline function: the linker would keep one copy, perhaps the one for
// a newer CPU. So all helpers are in the unnamed namespace or always inlined, and no library templates are
// used.

#include <cstring>

#include "packet/stamp_columns.h"

namespace volley::packet {
namespace {

constexpr u32 most_sums = 256;
constexpr u32 column_room = chunk + vector_group;
/// Columns of one width that wait to be written. All that wait are written in one loop over the packets,
/// because then a frame's address is loaded once and the loop's own cost is paid once.
constexpr u32 most_waiting = 4;

alignas(64) constexpr u32 no_values[chunk] = {};

struct Waiting {
    alignas(64) u32 values[most_waiting][column_room];
    u32 offsets[most_waiting];
    u32 count = 0;
};

struct Pass {
    const Plan& plan;
    u64 first;
    u32 n;
    u8* const* frames;
};

struct Scratch {
    Waiting fours;
    Waiting twos;
    alignas(64) u32 other[column_room];
    alignas(64) u32 variant[column_room];
    alignas(64) u32 sums[most_sums][chunk];  // touched only as far as the plan has sums
};

// ---- writing columns into frames

template <u32 fours, u32 twos>
void write_columns(const Pass& pass, const Scratch& scratch) {
    // Copies, for the compiler must assume that a store to a frame changes what it cannot see.
    u8* const* frames = pass.frames;
    const u32 n = pass.n;
    u32 at4[most_waiting];
    u32 at2[most_waiting];
    for (u32 c = 0; c < fours; ++c) at4[c] = scratch.fours.offsets[c];
    for (u32 c = 0; c < twos; ++c) at2[c] = scratch.twos.offsets[c];
    const auto write = [&](u32 k) __attribute__((always_inline)) {
        u8* frame = frames[k];
        for (u32 c = 0; c < fours; ++c) std::memcpy(frame + at4[c], &scratch.fours.values[c][k], 4);
        for (u32 c = 0; c < twos; ++c) std::memcpy(frame + at2[c], &scratch.twos.values[c][k], 2);
    };
    u32 k = 0;
    for (; k + 4 <= n; k += 4) {
        for (u32 j = 0; j < 4; ++j) write(k + j);
    }
    for (; k < n; ++k) write(k);
}

template <u32 fours>
void write_twos(const Pass& pass, const Scratch& scratch) {
    switch (scratch.twos.count) {
        case 0:
            return write_columns<fours, 0>(pass, scratch);
        case 1:
            return write_columns<fours, 1>(pass, scratch);
        case 2:
            return write_columns<fours, 2>(pass, scratch);
        case 3:
            return write_columns<fours, 3>(pass, scratch);
        default:
            return write_columns<fours, 4>(pass, scratch);
    }
}

void write_waiting(const Pass& pass, Scratch& scratch) {
    switch (scratch.fours.count) {
        case 0:
            write_twos<0>(pass, scratch);
            break;
        case 1:
            write_twos<1>(pass, scratch);
            break;
        case 2:
            write_twos<2>(pass, scratch);
            break;
        case 3:
            write_twos<3>(pass, scratch);
            break;
        default:
            write_twos<4>(pass, scratch);
            break;
    }
    scratch.fours.count = 0;
    scratch.twos.count = 0;
}

/// A column that is written at `offset` with the next write_waiting.
u32* next_column(const Pass& pass, Waiting& waiting, u32 offset, Scratch& scratch) {
    if (waiting.count == most_waiting) write_waiting(pass, scratch);
    waiting.offsets[waiting.count] = offset;
    return waiting.values[waiting.count++];
}

template <u32 width>
void write_odd(const Pass& pass, u32 offset, const u32* values) {
    for (u32 k = 0; k < pass.n; ++k) std::memcpy(pass.frames[k] + offset, values + k, width);
}

// ---- sums

void add_words(u32* sum, const u32* stored, u32 n) {
    for (u32 g = 0; g < n; g += lanes) save(sum + g, load(sum + g) + words_of(load(stored + g)));
}

void add_swapped_words(u32* sum, const u32* stored, u32 n) {
    for (u32 g = 0; g < n; g += lanes) {
        const Vector word = words_of(words_of(load(stored + g)));
        save(sum + g, load(sum + g) + ((word << 8 | word >> 8) & 0xffff));
    }
}

/// Adds what stands in memory as `stored` to every checksum that covers it.
void add_to_sums(const Pass& pass, SumTargets targets, const u32* stored, Scratch& scratch) {
    const SumTarget* target = pass.plan.targets + targets.first;
    for (u32 t = 0; t < targets.count; ++t) {
        u32* sum = scratch.sums[target[t].slot];
        if (target[t].swapped) {
            add_swapped_words(sum, stored, pass.n);
        } else {
            add_words(sum, stored, pass.n);
        }
    }
}

void by_size(const Pass& pass, const u32* table, u32* out, const Scratch& scratch) {
    if (pass.plan.size_in_order) {
        table += scratch.variant[0];
        for (u32 g = 0; g < pass.n; g += lanes) save(out + g, load(table + g));
    } else {
        for (u32 k = 0; k < pass.n; ++k) out[k] = table[scratch.variant[k]];
    }
}

void start_sums(const Pass& pass, Scratch& scratch) {
    for (u32 s = 0; s < pass.plan.sums.count; ++s) {
        const SumStart& start = pass.plan.sums.data[s];
        if (start.by_variant != nullptr) {
            by_size(pass, start.by_variant, scratch.sums[s], scratch);
        } else {
            for (u32 g = 0; g < pass.n; g += lanes) save(scratch.sums[s] + g, Vector{} + start.constant);
        }
    }
}

// ---- what varies

/// The common cells in one loop: one program, and one checksum or none.
bool fill_stored(const Pass& pass, const NarrowCell& cell, u32* value, Scratch& scratch) {
    const Column& column = pass.plan.columns[cell.first_column];
    const SumTarget* target = pass.plan.targets + cell.sums.first;
    if (cell.columns != 1 || cell.sums.count > 1 || column.flow.divisor != 0) return false;
    if (cell.sums.count == 0) return fill_groups(column, pass.first, pass.n, cell.base, Stored{value});
    if (target->swapped) return false;
    return fill_groups(column, pass.first, pass.n, cell.base, Summed{value, scratch.sums[target->slot]});
}

void write_narrow(const Pass& pass, const NarrowCell& cell, Scratch& scratch) {
    const Column* columns = pass.plan.columns + cell.first_column;
    u32* value = cell.width == 4   ? next_column(pass, scratch.fours, cell.offset, scratch)
                 : cell.width == 2 ? next_column(pass, scratch.twos, cell.offset, scratch)
                                   : scratch.other;
    if (!fill_stored(pass, cell, value, scratch)) {
        alignas(64) u32 more[column_room];
        fill(columns[0], pass.first, pass.n, cell.base, value);
        for (u32 c = 1; c < cell.columns; ++c) {
            fill(columns[c], pass.first, pass.n, 0, more);
            for (u32 g = 0; g < pass.n; g += lanes) save(value + g, load(value + g) | load(more + g));
        }
        for (u32 g = 0; g < pass.n; g += lanes) save(value + g, swapped_bytes(load(value + g)));
        add_to_sums(pass, cell.sums, value, scratch);
    }
    if (cell.width == 1) write_odd<1>(pass, cell.offset, value);
    if (cell.width == 3) write_odd<3>(pass, cell.offset, value);
}

void write_wide(const Pass& pass, const WideCell& cell, Scratch& scratch) {
    alignas(64) u64 halves[2][chunk];
    compute_wide(pass.plan, cell, pass.first, pass.n, halves[0], halves[1]);
    for (u32 k = 0; k < pass.n; ++k) {
        const u64 bytes[2] = {halves[0][k], halves[1][k]};
        u8* at = pass.frames[k] + cell.offset;
        switch (cell.width) {
            case 6:  // a MAC address
                std::memcpy(at, bytes, 6);
                break;
            case 16:
                std::memcpy(at, bytes, 16);
                break;
            default:
                std::memcpy(at, bytes, cell.width);
                break;
        }
        scratch.other[k] = folded(bytes[0]) + folded(bytes[1]);
    }
    add_to_sums(pass, cell.sums, scratch.other, scratch);
}

void write_by_size(const Pass& pass, const VariantWrite& write, Scratch& scratch) {
    u32* value = next_column(pass, write.width == 4 ? scratch.fours : scratch.twos, write.offset, scratch);
    by_size(pass, write.by_variant, value, scratch);
}

u64 write_random_bytes(u8* at, u64 key, u32 left) {
    u64 sum = 0;
    u64 counter = 0;
    for (; left >= 8; left -= 8, at += 8) {
        const u64 word = draw(key, counter++);
        std::memcpy(at, &word, 8);
        sum += (word & 0xffffffff) + (word >> 32);
    }
    if (left > 0) {
        const u64 word = draw(key, counter) & ((u64{1} << left * 8) - 1);
        std::memcpy(at, &word, left);
        sum += (word & 0xffffffff) + (word >> 32);
    }
    return sum;
}

void write_payload(const Pass& pass, Scratch& scratch) {
    const RandomPayload& payload = *pass.plan.payload;
    for (u32 k = 0; k < pass.n; ++k) {
        const u32 length =
            pass.plan.size == nullptr ? pass.plan.fixed_length : pass.plan.lengths[scratch.variant[k]];
        const u32 end = length - payload.trailer;
        const u32 bytes = end > payload.offset ? end - payload.offset : 0;
        const u64 key = draw(payload.key, pass.first + k);
        scratch.other[k] = folded(write_random_bytes(pass.frames[k] + payload.offset, key, bytes));
    }
    add_to_sums(pass, payload.sums, scratch.other, scratch);
}

/// Reads what all other writes but checksums left, so these are done before.
void write_crcs(const Pass& pass, const CrcWrite& write, Scratch& scratch) {
    for (u32 k = 0; k < pass.n; ++k) {
        const u32 length =
            pass.plan.size == nullptr ? pass.plan.fixed_length : pass.plan.lengths[scratch.variant[k]];
        scratch.other[k] = write_crc(write, length, pass.frames[k]);
    }
    add_to_sums(pass, write.sums, scratch.other, scratch);
}

void write_checksum(const Pass& pass, const ChecksumWrite& write, Scratch& scratch) {
    const u32* sum = scratch.sums[write.slot];
    const u32* shared = write.shared == write.slot ? no_values : scratch.sums[write.shared];
    u32* value = next_column(pass, scratch.twos, write.offset, scratch);
    for (u32 g = 0; g < pass.n; g += lanes) {
        const Vector checksum = ~words_of(words_of(load(sum + g) + load(shared + g))) & 0xffff;
        const Vector none = reinterpret_cast<Vector>(checksum == 0);
        save(value + g, checksum | (none & write.zero));
    }
    add_to_sums(pass, write.sums, value, scratch);
}

void set_variants(const Pass& pass, Scratch& scratch) {
    const Plan& plan = pass.plan;
    if (!plan.size_in_order) return fill(*plan.size, pass.first, pass.n, 0, scratch.variant);
    const u32 at = static_cast<u32>(remainder(plan.size->cycle, pass.first));
    for (u32 g = 0; g < pass.n; g += lanes) save(scratch.variant + g, load(counting) + (at + g));
}

void stamp_pass(const Pass& pass, Scratch& scratch) {
    const Plan& plan = pass.plan;
    if (plan.size != nullptr) set_variants(pass, scratch);
    start_sums(pass, scratch);
    for (u32 c = 0; c < plan.narrow.count; ++c) write_narrow(pass, plan.narrow.data[c], scratch);
    for (u32 c = 0; c < plan.wide.count; ++c) write_wide(pass, plan.wide.data[c], scratch);
    for (u32 w = 0; w < plan.by_size.count; ++w) write_by_size(pass, plan.by_size.data[w], scratch);
    if (plan.payload != nullptr) write_payload(pass, scratch);
    if (plan.crcs.count != 0) write_waiting(pass, scratch);
    for (u32 c = 0; c < plan.crcs.count; ++c) write_crcs(pass, plan.crcs.data[c], scratch);
    for (u32 c = 0; c < plan.checksums.count; ++c) write_checksum(pass, plan.checksums.data[c], scratch);
    write_waiting(pass, scratch);
}

// g++ 12 leaves it out where the last of the vectors' work is in a branch. Whoever called goes on with SSE
// instructions, which wait for the dirty upper halves: 10 to 20 cycles a packet.
[[gnu::always_inline]] inline void leave_vectors() {
#if defined(__AVX2__)
    _mm256_zeroupper();
#endif
}

}  // namespace

namespace VOLLEY_ISA {

void stamp(const Plan& plan, u64 first, u32 count, u8* const* frames) noexcept;
void lengths(const Plan& plan, u64 first, u32 count, u16* out) noexcept;

void stamp(const Plan& plan, u64 first, u32 count, u8* const* frames) noexcept {
    Scratch scratch;
    while (count > 0) {
        const u32 n = count < chunk ? count : chunk;
        stamp_pass({plan, first, n, frames}, scratch);
        first += n;
        frames += n;
        count -= n;
    }
    leave_vectors();
}

void lengths(const Plan& plan, u64 first, u32 count, u16* out) noexcept {
    alignas(64) u32 variant[column_room];
    while (count > 0) {
        const u32 n = count < chunk ? count : chunk;
        if (plan.size_in_order) {
            std::memcpy(out, plan.lengths + remainder(plan.size->cycle, first), n * sizeof *out);
        } else {
            fill(*plan.size, first, n, 0, variant);
            for (u32 k = 0; k < n; ++k) out[k] = plan.lengths[variant[k]];
        }
        first += n;
        out += n;
        count -= n;
    }
    leave_vectors();
}

}  // namespace VOLLEY_ISA
}  // namespace volley::packet
