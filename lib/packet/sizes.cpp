#include "packet/sizes.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "packet/template.h"
#include "packet/text.h"

namespace volley::packet {
namespace {

constexpr std::uint32_t smallest_frame = 64;  // IEEE 802.3 clause 4.4.2, with FCS
constexpr std::uint32_t largest_frame = max_frame + fcs_bytes;
constexpr std::uint32_t padded_length = smallest_frame - fcs_bytes;
constexpr std::uint64_t longest_cycle = 65536;

struct Mix {
    std::string_view name;
    std::vector<WeightedSize> sizes;
};

/// simple: Agilent's mix as CSIT and OTG send it; trex: its imix.py with FCS added; tolly and rpr: IETF 68
/// notes.
const std::array<Mix, 4>& mixes() {
    static const std::array<Mix, 4> all{{{"simple", {{64, 7}, {570, 4}, {1518, 1}}},
                                         {"trex", {{64, 7}, {594, 4}, {1518, 1}}},
                                         {"tolly", {{64, 55}, {78, 5}, {576, 17}, {1518, 23}}},
                                         {"rpr", {{64, 50}, {512, 15}, {1518, 15}, {9218, 20}}}}};
    return all;
}

std::string text(Value value) {
    return to_text(FieldType::number, value);
}

struct Checker {
    const PacketModel& model;
    std::size_t headers;
    std::size_t payload;
    std::vector<Problem>& problems;

    /// Every size lies between the two; `at` names the place.
    bool check(Value smallest, Value largest, const std::string& at) const {
        const std::size_t needed = headers + payload + fcs_bytes;
        const std::size_t before = problems.size();
        if (model.pad && smallest < smallest_frame) {
            problems.push_back(
                {at, "frame size " + text(smallest) + " is below " + text(smallest_frame) +
                         ", the smallest Ethernet frame with its FCS; \"pad\": false sends less"});
        } else if (smallest < needed) {
            problems.push_back({at, "frame size " + text(smallest) + " is too small: the headers" +
                                        (payload != 0 ? " and the payload" : "") + " need " + text(needed) +
                                        " with the FCS"});
        }
        if (largest > largest_frame) {
            problems.push_back({at, "frame size " + text(largest) + " is above " + text(largest_frame) +
                                        ", the largest frame with its FCS"});
        }
        return problems.size() == before;
    }
};

Sizes one_size(std::uint32_t length) {
    Sizes sizes;
    sizes.lengths.push_back(static_cast<std::uint16_t>(length));
    sizes.taken = sizes.lengths;
    sizes.mean_l2_bytes = {length + fcs_bytes, 1};
    return sizes;
}

Sizes weighted_sizes(const std::vector<WeightedSize>& weighted, const Checker& checker) {
    const auto order = interleaved(weighted);
    std::map<std::uint32_t, std::uint16_t> variants;
    bool good = true;
    for (std::size_t i = 0; i < weighted.size(); ++i) {
        const std::string at = "/frame_size/weighted/" + std::to_string(i);
        if (weighted[i].weight == 0) {
            checker.problems.push_back({at, "weight must be at least 1"});
            good = false;
        }
        good = checker.check(weighted[i].size, weighted[i].size, at) && good;
        variants[weighted[i].size] = 0;
    }
    if (good && order.empty()) {
        checker.problems.push_back({"/frame_size/weighted", "the weights add up to more than " +
                                                                text(longest_cycle) +
                                                                " packets a cycle; use smaller ones"});
    }
    if (!good || order.empty()) return one_size(padded_length);
    Sizes sizes;
    for (auto& [size, variant] : variants) {
        variant = static_cast<std::uint16_t>(sizes.lengths.size());
        sizes.lengths.push_back(static_cast<std::uint16_t>(size - fcs_bytes));
    }
    sizes.taken = sizes.lengths;
    std::uint64_t sum = 0;
    sizes.variant.kind = Sequence::Kind::list;
    for (const auto entry : order) {
        sizes.variant.list.push_back(variants[weighted[entry].size]);
        sum += weighted[entry].size;
    }
    sizes.variant.cycle = order.size();
    sizes.variant.largest = sizes.lengths.size() - 1;
    sizes.mean_l2_bytes = reduced(sum, order.size());
    return sizes;
}

/// Each value that the program takes, as often as in one cycle (for random draws: once each).
std::vector<Value> all_values(const Sequence& program) {
    const bool drawn = program.kind == Sequence::Kind::random;
    const std::uint64_t count = program.every == 0 ? 1
                                : drawn            ? static_cast<std::uint64_t>(program.last) + 1
                                                   : program.cycle;
    if (program.kind != Sequence::Kind::list && !drawn && (count == 0 || count > longest_cycle)) return {};
    if (drawn && program.list.empty() && (program.set != 0 || program.last >= longest_cycle)) return {};
    std::vector<Value> values;
    if (drawn && !program.list.empty()) {
        for (const Value value : program.list) values.push_back(program.transformed(value));
        return values;
    }
    for (std::uint64_t k = 0; k < count; ++k) {
        values.push_back(program.transformed(drawn ? program.from + k * program.step : program.number(k)));
    }
    return values;
}

Sizes program_sizes(const Sequence& program, const Checker& checker) {
    if (program.constant()) {
        const Value size = program.at(0);
        if (!checker.check(size, size, "/frame_size")) return one_size(padded_length);
        return one_size(static_cast<std::uint32_t>(size) - fcs_bytes);
    }
    const auto values = all_values(program);
    if (values.empty()) {
        // Too many values to be sizes: at least one of the ends is out of bounds.
        checker.check(program.smallest, program.largest, "/frame_size");
        return one_size(padded_length);
    }
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (!checker.check(*low, *high, "/frame_size")) return one_size(padded_length);
    Sizes sizes;
    for (Value size = *low; size <= *high; ++size) {
        sizes.lengths.push_back(static_cast<std::uint16_t>(size - fcs_bytes));
    }
    std::vector<Value> distinct = values;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const Value size : distinct) sizes.taken.push_back(static_cast<std::uint16_t>(size - fcs_bytes));
    sizes.variant = program;
    sizes.variant_base = *low;
    const Value sum = std::accumulate(values.begin(), values.end(), Value{0});
    sizes.mean_l2_bytes = reduced(static_cast<std::uint64_t>(sum), values.size());
    return sizes;
}

}  // namespace

Sizes resolve_sizes(const PacketModel& model, const Sequence* program, std::size_t headers,
                    std::size_t payload, std::vector<Problem>& problems) {
    const Checker checker{model, headers, payload, problems};
    if (model.frame_size && !model.frame_size->weighted.empty()) {
        return weighted_sizes(model.frame_size->weighted, checker);
    }
    if (program != nullptr) return program_sizes(*program, checker);
    const std::size_t content = headers + payload;
    if (content == 0) problems.push_back({"/headers", "the packet is empty; give it at least one header"});
    if (content > max_frame) {
        problems.push_back({"/headers", "the headers and the payload take " + text(content + fcs_bytes) +
                                            " bytes with the FCS; the largest frame has " +
                                            text(largest_frame)});
        return one_size(padded_length);
    }
    const auto length = static_cast<std::uint32_t>(content);
    return one_size(model.pad ? std::max(length, padded_length) : length);
}

std::vector<std::uint16_t> interleaved(std::span<const WeightedSize> sizes) {
    std::uint64_t divisor = 0;
    std::uint64_t total = 0;
    for (const auto& entry : sizes) {
        divisor = std::gcd(divisor, std::uint64_t{entry.weight});
        total += entry.weight;
    }
    if (divisor == 0 || total / divisor > longest_cycle || sizes.size() > longest_cycle) return {};
    total /= divisor;
    // Each packet is of the size that has fallen furthest behind its share.
    std::vector<std::int64_t> credit(sizes.size());
    std::vector<std::uint16_t> order;
    order.reserve(total);
    for (std::uint64_t i = 0; i < total; ++i) {
        std::size_t best = 0;
        for (std::size_t s = 0; s < sizes.size(); ++s) {
            credit[s] += static_cast<std::int64_t>(sizes[s].weight / divisor);
            if (credit[s] > credit[best]) best = s;
        }
        credit[best] -= static_cast<std::int64_t>(total);
        order.push_back(static_cast<std::uint16_t>(best));
    }
    return order;
}

std::string genome(std::span<const WeightedSize> sizes) {
    // RFC 6985 section 4, table 1; z, the MTU, is left out because it is not a size.
    static constexpr std::array<std::uint32_t, 10> letters{64,   128,  256,  512,  1024,
                                                           1280, 1518, 2112, 9000, 16000};
    std::map<std::uint32_t, char> capitals;
    std::string text;
    for (const auto entry : interleaved(sizes)) {
        const auto size = sizes[entry].size;
        const auto* const known = std::find(letters.begin(), letters.end(), size);
        if (known != letters.end()) {
            text += static_cast<char>('a' + (known - letters.begin()));
            continue;
        }
        if (capitals.size() == 26 && !capitals.contains(size)) {  // the letters are used up
            text += "(" + std::to_string(size) + ")";
            continue;
        }
        text += capitals.emplace(size, static_cast<char>('A' + capitals.size())).first->second;
    }
    std::map<char, std::uint32_t> legend;
    for (const auto& [size, letter] : capitals) legend[letter] = size;
    for (const auto& [letter, size] : legend) {
        text += (letter == legend.begin()->first ? " [" : " ") + std::string(1, letter) + "=" +
                std::to_string(size);
    }
    return legend.empty() ? text : text + "]";
}

std::vector<WeightedSize> named_mix(std::string_view name) {
    for (const auto& mix : mixes()) {
        if (mix.name == name) return mix.sizes;
    }
    return {};
}

std::span<const std::string_view> mix_names() {
    static constexpr std::array<std::string_view, 4> names{"simple", "trex", "tolly", "rpr"};
    return names;
}

}  // namespace volley::packet
