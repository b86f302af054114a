#include "import/rewrite.h"

#include <algorithm>

#include "import/dissect.h"
#include "packet/bits.h"
#include "packet/checksum.h"
#include "packet/plan.h"

namespace volley::imports {
namespace {

using packet::LayerField;
using packet::Program;
using packet::RawChecksum;
using packet::Value;

/// Bytes that a rewrite touches.
struct Touched {
    std::uint32_t begin;
    std::uint32_t end;
};

bool meets(const Touched& touched, std::uint32_t begin, std::uint32_t end) {
    return touched.begin < end && begin < touched.end;
}

/// Where the last address of an IPv6 pseudo-header stands; nothing where that is not known.
std::optional<std::uint32_t> final_address(const RawChecksum& sum) {
    if (sum.final_address == unknown_address) return std::nullopt;
    return sum.final_address != 0 ? sum.final_address : sum.ip + 24U;
}

bool covers(const RawChecksum& sum, const Touched& touched) {
    if (meets(touched, sum.from, *sum.to)) return true;
    if (sum.pseudo == RawChecksum::Pseudo::ipv4) return meets(touched, sum.ip + 12U, sum.ip + 20U);
    if (sum.pseudo != RawChecksum::Pseudo::ipv6) return false;
    const auto last = final_address(sum);
    return meets(touched, sum.ip + 8U, sum.ip + 24U) || (last && meets(touched, *last, *last + 16));
}

std::uint32_t width_of(const RawChecksum& sum) {
    return sum.pseudo == RawChecksum::Pseudo::crc32c ? 4 : 2;
}

/// The sum of what a checksum covers, itself counted as zero, as memory-order words.
std::uint64_t covered_sum(std::span<const std::uint8_t> frame, const RawChecksum& sum) {
    const auto part = [&](std::uint32_t begin, std::uint32_t end) {
        return packet::sum_of(frame.subspan(begin, end - begin));
    };
    std::uint64_t total = part(sum.from, *sum.to);
    const std::uint64_t itself = part(sum.offset, sum.offset + 2U);
    total += ~std::uint64_t{packet::fold(itself)} & 0xffff;
    if (sum.pseudo == RawChecksum::Pseudo::none) return total;
    if (sum.pseudo == RawChecksum::Pseudo::ipv4) {
        total += part(sum.ip + 12U, sum.ip + 20U);
    } else {
        const auto last = final_address(sum);
        total += part(sum.ip + 8U, sum.ip + 24U) + (last ? part(*last, *last + 16) : 0);
    }
    total += std::uint64_t{sum.protocol} << 8U;
    return total + packet::swap_bytes(static_cast<std::uint16_t>(*sum.to - sum.from));
}

void store(std::span<std::uint8_t> frame, const RawChecksum& sum, std::uint16_t value) {
    if (value == 0 && sum.protocol == 17) value = 0xffff;
    frame[sum.offset] = static_cast<std::uint8_t>(value);
    frame[sum.offset + 1U] = static_cast<std::uint8_t>(value >> 8U);
}

std::uint16_t stored(std::span<const std::uint8_t> frame, const RawChecksum& sum) {
    return static_cast<std::uint16_t>(frame[sum.offset] | frame[sum.offset + 1U] << 8U);
}

std::uint16_t complement(std::uint64_t sum) {
    return static_cast<std::uint16_t>(~packet::fold(sum));
}

Value literal_of(const LayerField& rewrite, Value old) {
    const Program& program = rewrite.program;
    Value value = program.from + program.add;
    value = program.shift >= 0 ? value << static_cast<unsigned>(program.shift)
                               : value >> static_cast<unsigned>(-program.shift);
    const Value mask = program.mask.value_or(~Value{0});
    return (old & ~mask) | (value & mask);
}

class FrameRewriter {
  public:
    FrameRewriter(std::span<std::uint8_t> frame, std::span<const LayerField> rewrites,
                  std::vector<std::uint64_t>& found)
        : frame_(frame), dissected_(dissect(frame)) {
        old_.assign(frame.begin(), frame.end());
        for (std::size_t r = 0; r < rewrites.size(); ++r) {
            if (set(rewrites[r])) ++found[r];
        }
        // The inner ones first: outer sums cover them.
        for (auto sum = dissected_.checksums.rbegin(); sum != dissected_.checksums.rend(); ++sum)
            follow(*sum);
    }

  private:
    bool set(const LayerField& rewrite) {
        bool any = false;
        for (const FoundLayer& layer : dissected_.layers) {
            if (layer.name != rewrite.layer || layer.kind != rewrite.field->header) continue;
            const auto bit = bit_of(layer, *rewrite.field, frame_);
            if (!bit) continue;
            any = true;
            const unsigned width = rewrite.field->bit_width;
            const Value old = packet::get_bits(frame_, *bit, width);
            packet::put_bits(frame_, *bit, width, literal_of(rewrite, old));
            touched_.push_back({*bit / 8, (*bit + width + 7) / 8});
        }
        return any;
    }

    void follow(const FoundChecksum& found) {
        const Touched own{found.sum.offset, found.sum.offset + width_of(found.sum)};
        const auto is_own = [&](const Touched& t) { return t.begin == own.begin && t.end == own.end; };
        if (std::any_of(touched_.begin(), touched_.end(), is_own)) return;  // given, right or wrong
        const auto inside = [&](const Touched& t) { return covers(found.sum, t); };
        if (std::none_of(touched_.begin(), touched_.end(), inside)) return;
        if (found.sum.pseudo == RawChecksum::Pseudo::crc32c) {
            if (!found.whole) return;  // a CRC does not follow by the difference alone
            const packet::CrcWrite write{found.sum.offset, found.sum.from, *found.sum.to, {}};
            packet::write_crc(write, 0, frame_.data());
        } else if (found.whole) {
            store(frame_, found.sum, complement(covered_sum(frame_, found.sum)));
        } else {
            const std::uint64_t before = complement(covered_sum(old_, found.sum));
            const std::uint64_t now = packet::fold(covered_sum(frame_, found.sum));
            const std::uint64_t sum = std::uint64_t{complement(stored(old_, found.sum))} + before + now;
            store(frame_, found.sum, complement(sum));
        }
        touched_.push_back(own);
    }

    std::span<std::uint8_t> frame_;
    Dissected dissected_;
    std::vector<std::uint8_t> old_;
    std::vector<Touched> touched_;
};

/// The program for the bits that a field takes of whole bytes.
packet::RawProgram raw_program(std::uint32_t bit, const LayerField& rewrite) {
    packet::RawProgram out;
    out.offset = static_cast<std::uint16_t>(bit / 8);
    out.first_bit = static_cast<std::uint8_t>(bit % 8);
    out.width = static_cast<std::uint8_t>((bit % 8 + rewrite.field->bit_width + 7) / 8);
    out.bits = static_cast<std::uint8_t>(rewrite.field->bit_width);
    out.program = rewrite.program;
    return out;
}

}  // namespace

bool all_literal(std::span<const LayerField> rewrites) {
    return std::all_of(rewrites.begin(), rewrites.end(),
                       [](const LayerField& rewrite) { return rewrite.program.constant(); });
}

std::vector<std::uint64_t> rewrite(Capture& capture, std::span<const LayerField> rewrites) {
    std::vector<std::uint64_t> found(rewrites.size());
    for (std::size_t i = 0; i < capture.frames.size(); ++i) {
        const FrameRewriter rewriter(capture.frame(i), rewrites, found);
    }
    return found;
}

packet::PacketModel model_of(std::span<const std::uint8_t> frame, std::span<const LayerField> rewrites,
                             std::span<std::uint64_t> found) {
    packet::HeaderModel header;
    header.kind = packet::HeaderKind::raw;
    header.raw.assign(frame.begin(), frame.end());
    const Dissected dissected = dissect(frame);
    std::vector<Touched> touched;
    for (std::size_t r = 0; r < rewrites.size(); ++r) {
        for (const FoundLayer& layer : dissected.layers) {
            if (layer.name != rewrites[r].layer || layer.kind != rewrites[r].field->header) continue;
            const auto bit = bit_of(layer, *rewrites[r].field, frame);
            if (!bit) continue;
            ++found[r];
            header.programs.push_back(raw_program(*bit, rewrites[r]));
            touched.push_back({*bit / 8, (*bit + rewrites[r].field->bit_width + 7) / 8});
        }
    }
    // From the innermost out, for a checksum that is computed is one more change to what covers it.
    for (auto found_sum = dissected.checksums.rbegin(); found_sum != dissected.checksums.rend();
         ++found_sum) {
        const RawChecksum& sum = found_sum->sum;
        const std::uint32_t end = sum.offset + width_of(sum);
        const auto given = [&](const Touched& t) { return meets(t, sum.offset, end); };
        if (!found_sum->whole || std::any_of(touched.begin(), touched.end(), given)) continue;
        if (std::none_of(touched.begin(), touched.end(), [&](const Touched& t) { return covers(sum, t); })) {
            continue;
        }
        header.checksums.push_back(sum);
        touched.push_back({sum.offset, end});
    }
    packet::PacketModel model;
    model.headers.push_back(std::move(header));
    return model;
}

std::string layers_of(const Capture& capture) {
    std::string names;
    if (capture.frames.empty()) return names;
    for (const FoundLayer& layer : dissect(capture.frame(0)).layers) {
        names += (names.empty() ? "" : ", ") + layer.name;
    }
    return names;
}

}  // namespace volley::imports
