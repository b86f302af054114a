#include <algorithm>

#include "packet/assemble.h"
#include "packet/bits.h"

namespace volley::packet {
namespace {

constexpr std::uint32_t widest_cell = 16;

/// Bytes that are written together, and the parts whose bits lie in them.
struct Span {
    std::uint32_t begin;
    std::uint32_t end;
    std::vector<const Part*> parts;
};

unsigned bits_of(Value value) {
    unsigned bits = 0;
    for (; value != 0; value >>= 1) ++bits;
    return bits;
}

/// A range that crosses no multiple of 2^32 changes the low 32 bits alone, as most MAC and IPv6 ranges do.
void shrink(Part& part, std::vector<std::uint8_t>& image) {
    if (part.width <= 32) return;
    const auto& sequence = *part.sequence;
    const Value low = sequence.smallest + sequence.outer.add;
    const Value high = sequence.largest + sequence.outer.add;
    const bool plain = sequence.inner == Sequence::Transform{} && sequence.outer.shift == 0 && low <= high;
    const Value upper = part.mask & ~low_bits(32);
    if (upper != 0 && !(plain && bits_of(low ^ high) <= 32)) return;
    const Value old = get_bits(image, part.bit, part.width);
    put_bits(image, part.bit, part.width, (old & ~upper) | (low & upper));
    part.bit += part.width - 32;
    part.width = 32;
    part.mask &= low_bits(32);
}

Span span_of(const Part& part, const Layout& layout) {
    Span span{part.bit / 8, (part.bit + part.width + 7) / 8, {&part}};
    const auto& layer = layout.layers[part.layer];
    if (span.end - span.begin == 3 && layer.kind != HeaderKind::raw) {
        // Three bytes are cheaper to write as the whole word of the header that they lie in.
        span.begin = layer.offset + (span.begin - layer.offset) / 4 * 4;
        span.end = span.begin + 4;
    }
    return span;
}

std::vector<Span> spans_of(const Layout& layout) {
    std::vector<Span> spans;
    for (const auto& part : layout.parts) spans.push_back(span_of(part, layout));
    std::stable_sort(spans.begin(), spans.end(),
                     [](const Span& a, const Span& b) { return a.begin < b.begin; });
    std::vector<Span> merged;
    for (auto& span : spans) {
        if (!merged.empty() && span.begin < merged.back().end) {
            merged.back().end = std::max(merged.back().end, span.end);
            merged.back().parts.push_back(span.parts.front());
        } else {
            merged.push_back(std::move(span));
        }
    }
    return merged;
}

/// Where a part stands in a cell whose first byte is the most significant of `bits` bits.
unsigned left_of(const Part& part, const Span& span, unsigned bits) {
    return bits - (part.bit + part.width - span.begin * 8);
}

/// Bits of the cell that its parts write; two parts on one bit are refused.
Value written_bits(const Span& span, unsigned bits, std::vector<Problem>& problems) {
    Value written = 0;
    for (const auto* part : span.parts) {
        const Value mask = part->mask << left_of(*part, span, bits);
        if ((written & mask) != 0) {
            problems.push_back(
                {part->pointer, "two programs write the same bits; give each a mask of its own"});
        }
        written |= mask;
    }
    return written;
}

void add_narrow(Assembly& out, const Span& span, std::vector<Problem>& problems) {
    NarrowCell cell;
    const std::uint32_t width = span.end - span.begin;
    cell.offset = static_cast<std::uint16_t>(span.begin);
    cell.width = static_cast<std::uint8_t>(width);
    const auto old = static_cast<std::uint32_t>(get_bits(out.image, span.begin * std::size_t{8}, width * 8)
                                                << (32 - width * 8));
    cell.base = old & ~static_cast<std::uint32_t>(written_bits(span, 32, problems));
    cell.first_column = static_cast<std::uint32_t>(out.columns.size());
    cell.columns = static_cast<std::uint32_t>(span.parts.size());
    for (const auto* part : span.parts) {
        out.columns.push_back(
            make_column(*part->sequence, {0, left_of(*part, span, 32), part->mask}, out.storage));
    }
    out.narrow.push_back(cell);
}

void add_wide(Assembly& out, const Span& span, std::vector<Problem>& problems) {
    WideCell cell;
    const std::uint32_t width = span.end - span.begin;
    cell.offset = static_cast<std::uint16_t>(span.begin);
    cell.width = static_cast<std::uint8_t>(width);
    const Value old = get_bits(out.image, span.begin * std::size_t{8}, width * 8) << (128 - width * 8);
    cell.base = old & ~written_bits(span, 128, problems);
    cell.first_part = static_cast<std::uint32_t>(out.wide_parts.size());
    cell.parts = static_cast<std::uint32_t>(span.parts.size());
    for (const auto* part : span.parts) {
        const unsigned left = left_of(*part, span, 128);
        out.wide_parts.push_back(
            {&out.storage.sequences.emplace_back(*part->sequence), left, part->mask << left});
    }
    out.wide.push_back(cell);
}

/// What a cell writes must not be what is computed, and a sum takes a cell whole or not at all.
void check_cell(std::uint32_t offset, std::uint32_t width, const Layout& layout,
                std::vector<Problem>& problems) {
    const auto part = std::find_if(layout.parts.begin(), layout.parts.end(), [&](const Part& candidate) {
        return candidate.bit / 8 < offset + width && offset * 8 < candidate.bit + candidate.width;
    });
    const auto refuse = [&](const char* text) { problems.push_back({part->pointer, text}); };
    for (const auto& sum : layout.checksums) {
        if (sum.at < offset + width && offset < sum.at + 2)
            refuse("a program writes where a checksum is computed");
        for (const auto& interval : sum.covered) {
            const bool apart = offset >= interval.end || offset + width <= interval.begin;
            const bool inside = offset >= interval.begin && offset + width <= interval.end;
            if (!apart && !inside)
                refuse("a checksum covers some bytes of a program but not all; split the program");
        }
    }
}

}  // namespace

void add_cells(Assembly& out, Layout& layout, std::vector<Problem>& problems) {
    for (auto& part : layout.parts) shrink(part, out.image);
    for (const auto& span : spans_of(layout)) {
        if (span.end - span.begin > widest_cell) {
            problems.push_back({span.parts.back()->pointer,
                                "overlapping programs reach over more than 16 bytes; make them narrower"});
        } else if (span.end - span.begin > 4) {
            add_wide(out, span, problems);
        } else {
            add_narrow(out, span, problems);
        }
    }
    for (const auto& cell : out.narrow) check_cell(cell.offset, cell.width, layout, problems);
    for (const auto& cell : out.wide) check_cell(cell.offset, cell.width, layout, problems);
}

}  // namespace volley::packet
