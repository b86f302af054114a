#include <algorithm>
#include <functional>

#include "packet/assemble.h"
#include "packet/checksum.h"

namespace volley::packet {
namespace {

constexpr std::size_t most_sums = 256;  // what stamping keeps on its stack

using Interval = ChecksumField::Interval;
using Table = std::vector<std::uint32_t>;

/// What a checksum depends on decides how it gets into the packet.
enum class Dependence : std::uint8_t { unknown, visiting, constant, size, index };

enum class Visit : std::uint8_t { no, now, done };

/// A checksum that stamping computes, with what it starts from by variant.
struct Slot {
    std::size_t checksum;
    Table start;
    std::vector<std::vector<bool>>
        sources;           ///< by thing that varies: swapped or not, once for each time it counts
    std::uint16_t shared;  ///< the slot whose sum is added to this one's; itself for none
};

class Summer {
  public:
    Summer(Assembly& out, const Layout& layout, const Sizes& sizes, std::uint32_t end,
           std::vector<Problem>& problems)
        : out_(out),
          layout_(layout),
          lengths_(sizes.lengths),
          end_(end),
          problems_(problems),
          dependence_(layout.checksums.size(), Dependence::unknown),
          crcs_done_(layout.crcs.size(), Visit::no),
          tables_(layout.checksums.size()) {}

    void run() {
        for (const auto& sum : layout_.checksums) out_.image[sum.at] = out_.image[sum.at + 1] = 0;
        if (layout_.checksums.size() > most_sums) {
            problems_.push_back(
                {"/headers", "more than " + std::to_string(most_sums) + " checksums; give some of them"});
            return;
        }
        for (const auto& field : layout_.lengths) add_length(field);
        for (std::size_t c = 0; c < layout_.crcs.size(); ++c) visit_crc(c);
        for (std::size_t c = 0; c < layout_.checksums.size(); ++c) visit(c);
        if (!problems_.empty()) return;
        for (const auto c : order_) add_checksum(c);
        find_sources();
        share_sums();
        std::size_t source = 0;
        for (auto& cell : out_.narrow) cell.sums = targets(source++);
        for (auto& cell : out_.wide) cell.sums = targets(source++);
        for (auto& payload : out_.payload) payload.sums = targets(source++);
        for (auto& crc : out_.crcs) crc.sums = targets(source++);
        for (auto& write : out_.checksums) write.sums = targets(source++);
        for (std::size_t slot = 0; slot < slots_.size(); ++slot) add_start(slot);
        fuse_by_size();
    }

  private:
    [[nodiscard]] bool varies() const { return lengths_.size() > 1; }
    [[nodiscard]] std::uint32_t end_of(std::size_t variant) const {
        return varies() ? lengths_[variant] : end_;
    }
    [[nodiscard]] static bool touches(const ChecksumField& sum, std::uint32_t begin, std::uint32_t length) {
        return std::any_of(sum.covered.begin(), sum.covered.end(), [&](const Interval& interval) {
            return begin < interval.end && interval.begin < begin + length;
        });
    }
    [[nodiscard]] static std::uint16_t stored(std::uint32_t number) {
        return swap_bytes(static_cast<std::uint16_t>(number));
    }

    void add_length(const LengthField& field);
    void visit_crc(std::size_t c);
    void add_crc(const CrcField& field);
    void visit(std::size_t c);
    [[nodiscard]] Dependence own_dependence(const ChecksumField& sum) const;
    void add_checksum(std::size_t c);
    [[nodiscard]] Table partial_sums(const ChecksumField& sum) const;
    void add_interval(const Interval& interval, const std::vector<std::uint8_t>& still,
                      std::vector<std::uint64_t>& sums) const;
    void find_sources();
    void find_sources(std::uint32_t offset, std::uint32_t length);
    void share_sums();
    SumTargets targets(std::size_t source);
    void add_start(std::size_t slot);
    void add_by_size(std::uint32_t at, const Table& values);
    void fuse_by_size();
    const std::uint32_t* keep(const Table& by_variant);

    Assembly& out_;
    const Layout& layout_;
    const std::vector<std::uint16_t>& lengths_;
    std::uint32_t end_;
    std::vector<Problem>& problems_;
    std::vector<Dependence> dependence_;
    std::vector<Visit> crcs_done_;
    std::vector<Table> tables_;       ///< by checksum: values by variant, when they depend on the size alone
    std::vector<std::size_t> order_;  ///< covered before covering
    std::vector<Slot> slots_;
};

/// Puts values by variant into the order that stamping reads them in.
const std::uint32_t* Summer::keep(const Table& by_variant) {
    if (out_.size_order.empty()) return out_.storage.tables.emplace_back(by_variant).data();
    Table ordered;
    for (const auto variant : out_.size_order) ordered.push_back(by_variant[variant]);
    return out_.storage.tables.emplace_back(std::move(ordered)).data();
}

void Summer::add_length(const LengthField& field) {
    Table values;
    for (std::size_t v = 0; v < lengths_.size(); ++v) values.push_back(stored(end_of(v) - field.from));
    if (varies()) {
        add_by_size(field.at, values);
    } else {
        out_.image[field.at] = static_cast<std::uint8_t>(values[0]);
        out_.image[field.at + 1] = static_cast<std::uint8_t>(values[0] >> 8);
    }
}

/// A CRC that covers another is computed after it, both here and by stamping.
void Summer::visit_crc(std::size_t c) {
    const CrcField& field = layout_.crcs[c];
    if (crcs_done_[c] == Visit::now) {
        problems_.push_back({field.pointer, "two CRC32c cover each other; give one of them"});
        crcs_done_[c] = Visit::done;
    }
    if (crcs_done_[c] != Visit::no) return;
    crcs_done_[c] = Visit::now;
    for (std::size_t other = 0; other < layout_.crcs.size(); ++other) {
        const std::uint32_t at = layout_.crcs[other].at;
        if (other != c && at < field.to && field.from < at + 4) visit_crc(other);
    }
    add_crc(field);
    crcs_done_[c] = Visit::done;
}

/// A CRC of bytes that do not vary stands in the image; any other is computed packet by packet.
void Summer::add_crc(const CrcField& field) {
    const ChecksumField covers{field.at, {{field.from, field.to}}, 0, std::nullopt, false};
    for (const auto& sum : layout_.checksums) {
        if (!touches(covers, sum.at, 2)) continue;
        problems_.push_back({field.pointer, "covers another checksum; give one of them"});
        return;
    }
    CrcWrite write;
    write.offset = static_cast<std::uint16_t>(field.at);
    write.from = static_cast<std::uint16_t>(field.from);
    if (field.to != to_the_end || !varies()) write.to = static_cast<std::uint16_t>(std::min(field.to, end_));
    if (own_dependence(covers) == Dependence::constant) {
        write_crc(write, end_, out_.image.data());
    } else {
        out_.crcs.push_back(write);
    }
}

Dependence Summer::own_dependence(const ChecksumField& sum) const {
    bool index = false;
    for (const auto& cell : out_.narrow) index |= touches(sum, cell.offset, cell.width);
    for (const auto& cell : out_.wide) index |= touches(sum, cell.offset, cell.width);
    for (const auto& payload : out_.payload) index |= touches(sum, payload.offset, 1);
    for (const auto& crc : out_.crcs) index |= touches(sum, crc.offset, 4);
    if (index) return Dependence::index;
    bool size = sum.length_from.has_value();
    for (const auto& interval : sum.covered) size |= interval.end == to_the_end;
    for (const auto& field : layout_.lengths) size |= touches(sum, field.at, 2);
    return varies() && size ? Dependence::size : Dependence::constant;
}

/// A checksum that covers another is computed after it and depends on all that the other does.
void Summer::visit(std::size_t c) {
    const auto& sum = layout_.checksums[c];
    if (dependence_[c] == Dependence::visiting) {
        problems_.push_back({"/headers", "two checksums cover each other; give one of them"});
        dependence_[c] = Dependence::constant;
    }
    if (dependence_[c] != Dependence::unknown) return;
    dependence_[c] = Dependence::visiting;
    auto all = own_dependence(sum);
    for (std::size_t other = 0; other < layout_.checksums.size(); ++other) {
        if (other == c || !touches(sum, layout_.checksums[other].at, 2)) continue;
        visit(other);
        all = std::max(all, dependence_[other]);
    }
    dependence_[c] = all;
    order_.push_back(c);
}

void Summer::add_interval(const Interval& interval, const std::vector<std::uint8_t>& still,
                          std::vector<std::uint64_t>& sums) const {
    std::uint64_t sum = 0;
    std::uint32_t at = interval.begin;
    for (std::size_t v = 0; v < sums.size(); ++v) {
        const bool trailer = out_.trailer != 0 && interval.end >= end_of(v);
        const std::uint32_t content = end_of(v) - (trailer ? out_.trailer : 0);
        for (const std::uint32_t stop = std::min(interval.end, content); at < stop; ++at) {
            sum += static_cast<std::uint64_t>(still[at]) << ((at - interval.begin) % 2 * 8);
        }
        sums[v] += sum;
        if (!trailer) continue;
        sums[v] += (content - interval.begin) % 2 == 0 ? out_.trailer_sum : swap_bytes(out_.trailer_sum);
    }
}

/// By variant: the sum, not complemented, of all that does not depend on the packet index.
Table Summer::partial_sums(const ChecksumField& sum) const {
    auto still = out_.image;
    const auto clear = [&](std::uint32_t begin, std::uint32_t length) {
        std::fill_n(still.begin() + begin, length, std::uint8_t{0});
    };
    for (const auto& cell : out_.narrow) clear(cell.offset, cell.width);
    for (const auto& cell : out_.wide) clear(cell.offset, cell.width);
    for (const auto& crc : out_.crcs) clear(crc.offset, 4);
    clear(sum.at, 2);
    std::vector<std::uint64_t> sums(lengths_.size(), sum.constant);
    const auto add_word = [&](std::uint32_t at, std::size_t v, std::uint16_t word) {
        for (const auto& interval : sum.covered) {
            if (at >= interval.begin && at < interval.end) {
                sums[v] += (at - interval.begin) % 2 == 0 ? word : swap_bytes(word);
            }
        }
    };
    if (varies()) {
        for (const auto& field : layout_.lengths) {
            clear(field.at, 2);
            for (std::size_t v = 0; v < sums.size(); ++v)
                add_word(field.at, v, stored(end_of(v) - field.from));
        }
    }
    for (std::size_t other = 0; other < tables_.size(); ++other) {
        if (dependence_[other] == Dependence::constant) continue;
        clear(layout_.checksums[other].at, 2);
        if (dependence_[other] != Dependence::size || &layout_.checksums[other] == &sum) continue;
        for (std::size_t v = 0; v < tables_[other].size(); ++v) {
            add_word(layout_.checksums[other].at, v, static_cast<std::uint16_t>(tables_[other][v]));
        }
    }
    for (const auto& interval : sum.covered) add_interval(interval, still, sums);
    Table folded;
    for (std::size_t v = 0; v < sums.size(); ++v) {
        if (sum.length_from) sums[v] += stored(end_of(v) - *sum.length_from);
        folded.push_back(fold(sums[v]));
    }
    return folded;
}

void Summer::add_checksum(std::size_t c) {
    const auto& sum = layout_.checksums[c];
    auto partial = partial_sums(sum);
    if (dependence_[c] == Dependence::index) {
        const auto slot = static_cast<std::uint16_t>(slots_.size());
        out_.checksums.push_back(
            {static_cast<std::uint16_t>(sum.at), slot, slot, sum.zero_is_ffff ? 0xffffU : 0U, {}});
        slots_.push_back({c, std::move(partial), {}, slot});
        return;
    }
    for (auto& value : partial) {
        value = ~value & 0xffff;
        if (value == 0 && sum.zero_is_ffff) value = 0xffff;
    }
    const auto last = partial.back();
    out_.image[sum.at] = static_cast<std::uint8_t>(last);
    out_.image[sum.at + 1] = static_cast<std::uint8_t>(last >> 8);
    if (dependence_[c] == Dependence::size) {
        add_by_size(sum.at, partial);
        tables_[c] = std::move(partial);
    }
}

void Summer::find_sources() {
    for (const auto& cell : out_.narrow) find_sources(cell.offset, cell.width);
    for (const auto& cell : out_.wide) find_sources(cell.offset, cell.width);
    for (const auto& payload : out_.payload) find_sources(payload.offset, 1);
    for (const auto& crc : out_.crcs) find_sources(crc.offset, 4);
    for (const auto& write : out_.checksums) find_sources(write.offset, 2);
}

void Summer::find_sources(std::uint32_t offset, std::uint32_t length) {
    for (auto& slot : slots_) {
        const auto& sum = layout_.checksums[slot.checksum];
        auto& found = slot.sources.emplace_back();
        if (sum.at == offset && length == 2) continue;  // a checksum counts as zero in itself
        for (const auto& interval : sum.covered) {
            if (offset >= interval.end || offset + length <= interval.begin) continue;
            found.push_back((offset - interval.begin) % 2 != 0);
        }
    }
}

/// A sum that takes in all that another does (UDP's the addresses that IPv4's has) starts from the other's,
/// so that what they share is added once. Only sums that do not lean on others are leant on.
void Summer::share_sums() {
    std::vector<std::pair<std::size_t, std::size_t>> by_size;  // sources, slot
    for (std::size_t s = 0; s < slots_.size(); ++s) {
        const auto& sources = slots_[s].sources;
        by_size.emplace_back(
            std::count_if(sources.begin(), sources.end(), [](const auto& f) { return !f.empty(); }), s);
    }
    std::sort(by_size.begin(), by_size.end());
    for (std::size_t i = 0; i < by_size.size(); ++i) {
        auto& slot = slots_[by_size[i].second];
        for (std::size_t j = i; j-- > 0 && slot.shared == by_size[i].second;) {
            const auto& other = slots_[by_size[j].second];
            if (other.shared != by_size[j].second || by_size[j].first == 0) continue;
            bool contained = true;
            for (std::size_t source = 0; source < other.sources.size(); ++source) {
                contained = contained &&
                            (other.sources[source].empty() || other.sources[source] == slot.sources[source]);
            }
            if (contained) slot.shared = static_cast<std::uint16_t>(by_size[j].second);
        }
    }
}

SumTargets Summer::targets(std::size_t source) {
    SumTargets range{static_cast<std::uint32_t>(out_.targets.size()), 0};
    for (std::size_t s = 0; s < slots_.size(); ++s) {
        const auto& slot = slots_[s];
        if (slot.shared != s && !slots_[slot.shared].sources[source].empty()) continue;
        for (const bool swapped : slot.sources[source]) {
            out_.targets.push_back({static_cast<std::uint16_t>(s), swapped});
            ++range.count;
        }
    }
    return range;
}

/// What the other sum starts with is taken off again, by adding its complement.
void Summer::add_start(std::size_t s) {
    const auto& slot = slots_[s];
    Table start = slot.start;
    if (slot.shared != s) {
        const Table& other = slots_[slot.shared].start;
        for (std::size_t v = 0; v < start.size(); ++v) start[v] = fold(start[v] + (~other[v] & 0xffff));
        out_.checksums[s].shared = slot.shared;
    }
    const bool same = std::equal(start.begin() + 1, start.end(), start.begin());
    out_.sums.push_back({start[0], same ? nullptr : keep(start)});
}

void Summer::add_by_size(std::uint32_t at, const Table& values) {
    out_.by_size.push_back({static_cast<std::uint16_t>(at), 2, keep(values)});
}

/// Two neighbours, as UDP's length and checksum are, go into the packet with one store.
void Summer::fuse_by_size() {
    auto& writes = out_.by_size;
    std::sort(writes.begin(), writes.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    std::vector<VariantWrite> fused;
    for (const auto& write : writes) {
        if (!fused.empty() && fused.back().width == 2 && fused.back().offset + 2 == write.offset) {
            Table both(out_.lengths.size());
            for (std::size_t e = 0; e < both.size(); ++e) {
                both[e] = fused.back().by_variant[e] | write.by_variant[e] << 16;
            }
            fused.back().width = 4;
            fused.back().by_variant = out_.storage.tables.emplace_back(std::move(both)).data();
        } else {
            fused.push_back(write);
        }
    }
    writes = std::move(fused);
}

}  // namespace

void add_sums(Assembly& out, const Layout& layout, const Sizes& sizes, std::uint32_t end,
              std::vector<Problem>& problems) {
    Summer(out, layout, sizes, end, problems).run();
}

}  // namespace volley::packet
