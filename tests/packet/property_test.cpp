#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "checker.h"
#include "packet/plan.h"
#include "packet/resolve.h"
#include "random_models.h"

namespace volley::packet {
namespace {

constexpr std::uint64_t seeds = 4000;

constexpr std::uint64_t edges[] = {0,
                                   1,
                                   63,
                                   64,
                                   511,
                                   65535,
                                   (std::uint64_t{1} << 32) - 3,
                                   std::uint64_t{1} << 32,
                                   (std::uint64_t{1} << 63) - 2};

std::uint64_t any_index(ModelMaker& maker) {
    return maker.chance(50) ? edges[maker.below(std::size(edges))] : maker.below(100000);
}

Value bits_at(const std::vector<std::uint8_t>& bytes, std::size_t bit, unsigned width) {
    Value value = 0;
    for (std::size_t at = bit; at < bit + width; ++at)
        value = value * 2 + ((bytes[at / 8] >> (7 - at % 8)) & 1U);
    return value;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return text;
}

/// Field by field, as far as the model tells the value without drawing it.
void check_fields(const PacketModel& model, const Checker& checker, const std::vector<std::uint8_t>& bytes,
                  std::uint64_t index) {
    for (std::size_t h = 0; h < model.headers.size(); ++h) {
        for (const auto& [field, program] : model.headers[h].fields) {
            const auto expected = expected_value(model, program, identifies_flow(*field), index);
            if (!expected) continue;
            const auto written = program.mask.value_or(~Value{0});
            const auto at = checker.layers()[h].offset * 8 + field->bit_offset;
            ASSERT_TRUE((bits_at(bytes, at, field->bit_width) & written) == (*expected & written))
                << name_of(field->header) << "." << field->name << " of header " << h << " in packet "
                << index;
        }
    }
}

/// The few generated models that are refused are too small for their frame size or overflow with their mask
/// absent.
std::unique_ptr<const PacketTemplate> try_build(const PacketModel& model) {
    auto result = build(model);
    auto* const good = std::get_if<0>(&result);
    return good != nullptr ? std::move(*good) : nullptr;
}

TEST(AnyPacket, has_right_lengths_checksums_and_fields_at_any_index) {
    unsigned checked = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        ModelMaker maker(seed);
        const auto model = maker.make();
        const auto packet = try_build(model);
        if (packet == nullptr) continue;
        ++checked;
        for (int i = 0; i < 6; ++i) {
            const auto index = any_index(maker);
            const auto bytes = bytes_of(*packet, index);
            const Checker checker(bytes, stack_of(model));
            ASSERT_TRUE(checker.complaints().empty()) << "seed " << seed << " packet " << index << "\n"
                                                      << joined(checker.complaints()) << hex(bytes);
            check_fields(model, checker, bytes, index);
            if (HasFatalFailure()) FAIL() << "seed " << seed << "\n" << hex(bytes);
        }
    }
    EXPECT_GT(checked, seeds / 2);
}

/// Stamps [first, first + count) in bursts of any size into the same frames, as buffers are reused.
TEST(AnyPacket, is_the_same_however_a_run_is_cut_into_bursts_and_on_every_instruction_set) {
    const auto isas = executors();
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        ModelMaker maker(seed);
        const auto packet = try_build(maker.make());
        if (packet == nullptr || packet->constant()) continue;
        const auto& isa = isas.data[seed % isas.count];
        std::vector<std::vector<std::uint8_t>> frames(max_burst,
                                                      {packet->image().begin(), packet->image().end()});
        std::vector<std::uint8_t*> pointers;
        for (auto& frame : frames) pointers.push_back(frame.data());
        auto first = any_index(maker);
        for (int burst = 0; burst < 4; ++burst) {
            const auto count = static_cast<std::uint32_t>(1 + maker.below(maker.chance(30) ? max_burst : 40));
            std::vector<std::uint16_t> lengths(count);
            isa.stamp(packet->plan(), first, count, pointers.data());
            packet->lengths(first, count, lengths.data());
            for (std::uint32_t k = 0; k < count; ++k) {
                const auto alone = bytes_of(*packet, first + k);
                ASSERT_EQ(lengths[k], alone.size()) << "seed " << seed;
                ASSERT_TRUE(std::equal(alone.begin(), alone.end(), frames[k].begin()))
                    << isa.name << " seed " << seed << " first " << first << " k " << k << "\n"
                    << hex(alone) << "\n"
                    << hex({frames[k].begin(), frames[k].begin() + lengths[k]});
            }
            first += count;
        }
    }
}

/// The first `packets` packets in bursts that the workers take in turn, each into frames of its own that it
/// uses again; in the order of the workers, then sorted.
std::vector<std::vector<std::uint8_t>> sent_by(std::uint32_t workers, const PacketTemplate& packet,
                                               std::uint32_t burst, std::uint32_t packets) {
    std::vector<std::vector<std::uint8_t>> out;
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
        std::vector<std::vector<std::uint8_t>> frames(burst, {packet.image().begin(), packet.image().end()});
        std::vector<std::uint8_t*> pointers;
        for (auto& frame : frames) pointers.push_back(frame.data());
        for (std::uint32_t first = worker * burst; first < packets; first += workers * burst) {
            const std::uint32_t count = std::min(burst, packets - first);
            std::vector<std::uint16_t> lengths(count);
            packet.stamp(first, count, pointers.data());
            packet.lengths(first, count, lengths.data());
            for (std::uint32_t k = 0; k < count; ++k)
                out.emplace_back(frames[k].begin(), frames[k].begin() + lengths[k]);
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

TEST(AnyPacket, of_a_stream_is_sent_once_by_1_2_3_or_8_workers) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        ModelMaker maker(seed);
        const auto packet = try_build(maker.make());
        if (packet == nullptr) continue;
        const auto burst = static_cast<std::uint32_t>(1 + maker.below(33));
        const auto alone = sent_by(1, *packet, burst, 200);
        for (const std::uint32_t workers : {2U, 3U, 8U}) {
            ASSERT_TRUE(sent_by(workers, *packet, burst, 200) == alone) << "seed " << seed << " " << workers;
        }
    }
}

TEST(AnyPacket, has_the_mean_size_that_it_says) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        ModelMaker maker(seed);
        const auto model = maker.make();
        const auto packet = try_build(model);
        if (packet == nullptr) continue;
        const bool random = model.frame_size && model.frame_size->program &&
                            model.frame_size->program->kind == Program::Kind::random;
        const auto mean = packet->mean_l2_bytes();
        if (random) continue;
        // Every cycle of the generated sizes divides this many packets.
        std::uint64_t cycle = 1;
        if (model.frame_size && model.frame_size->program) {
            const auto& size = *model.frame_size->program;
            cycle = size.kind == Program::Kind::list ? 4
                    : size.kind == Program::Kind::literal
                        ? 1
                        : size.every * static_cast<std::uint64_t>((size.to - size.from) / size.step + 1);
        } else if (model.frame_size) {
            cycle = 0;
            for (const auto& entry : model.frame_size->weighted) cycle += entry.weight;
        }
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < cycle; ++i) {
            std::uint16_t length = 0;
            packet->lengths(i, 1, &length);
            sum += length + 4U;
        }
        EXPECT_EQ(mean, reduced(sum, cycle)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace volley::packet
