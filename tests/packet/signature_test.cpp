#include "packet/signature.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>

#include "checker.h"
#include "random_models.h"

namespace volley::packet {
namespace {

std::shared_ptr<const Signing> signing(std::uint16_t salt, std::uint32_t stream, std::uint8_t generation) {
    auto out = std::make_shared<Signing>();
    out->salt = salt;
    out->stream = stream;
    out->generation = generation;
    return out;
}

std::string text_of(const Checker& checker) {
    std::string out;
    for (const std::string& line : checker.complaints()) out += line + "\n";
    return out;
}

TEST(Signature, is_read_as_it_was_written) {
    std::array<std::uint8_t, signature_bytes> trailer{};
    for (const std::uint16_t salt : {std::uint16_t{1}, std::uint16_t{0x1234}, std::uint16_t{0xfffe}}) {
        const auto with = signing(salt, 0xabcdef, 0x77);
        for (const std::uint64_t index : {0ULL, 1ULL, 0xffffffffULL, 0x123456789abULL}) {
            write_signature(trailer.data(), *with, index, 0xfedcba987654ULL);
            Signature seen;
            ASSERT_TRUE(read_signature(trailer.data(), salt, seen));
            EXPECT_EQ(seen.stream(), 0xabcdefU);
            EXPECT_EQ(seen.generation(), 0x77U);
            EXPECT_EQ(seen.sequence, static_cast<std::uint32_t>(index));
            EXPECT_EQ(seen.time, 0xfedcba987654U);
        }
    }
}

TEST(Signature, another_salt_and_any_changed_byte_are_seen) {
    std::array<std::uint8_t, signature_bytes> trailer{};
    write_signature(trailer.data(), *signing(0x1234, 5, 1), 99, 123'456'789);
    Signature seen;
    for (std::uint32_t salt = 1; salt < 0xffff; ++salt) {
        ASSERT_EQ(read_signature(trailer.data(), static_cast<std::uint16_t>(salt), seen), salt == 0x1234);
    }
    for (auto& byte : trailer) {
        for (unsigned change = 1; change < 256; ++change) {
            byte = static_cast<std::uint8_t>(byte ^ change);
            ASSERT_FALSE(read_signature(trailer.data(), 0x1234, seen));
            byte = static_cast<std::uint8_t>(byte ^ change);
        }
    }
}

TEST(Signature, is_found_in_one_of_65535_random_trailers) {
    ModelMaker random(3);
    std::array<std::uint8_t, signature_bytes> trailer{};
    unsigned found = 0;
    for (int i = 0; i < 1'000'000; ++i) {
        for (auto& byte : trailer) byte = static_cast<std::uint8_t>(random.below(256));
        Signature seen;
        found += read_signature(trailer.data(), 0xabab, seen) ? 1 : 0;
    }
    EXPECT_LT(found, 60U);
}

TEST(SignedPacket, of_any_model_keeps_right_checksums_whatever_its_trailer_says) {
    unsigned checked = 0;
    for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
        ModelMaker maker(seed);
        const auto model = maker.make();
        const auto with = signing(static_cast<std::uint16_t>(1 + maker.below(0xfffe)),
                                  static_cast<std::uint32_t>(maker.below(most_signed_streams)),
                                  static_cast<std::uint8_t>(maker.below(256)));
        auto result = build(model, std::nullopt, with);
        auto* const made = std::get_if<0>(&result);
        if (made == nullptr) continue;
        ++checked;
        const PacketTemplate& packet = **made;
        std::vector<std::uint8_t> frame(packet.longest());
        for (int i = 0; i < 3; ++i) {
            const std::uint64_t index = maker.below(100'000);
            const std::uint16_t length = packet.write(index, frame.data());
            const std::span<const std::uint8_t> bytes(frame.data(), length);
            const Checker before(bytes, stack_of(model));
            ASSERT_TRUE(before.complaints().empty()) << "unsigned, seed " << seed << "\n" << text_of(before);
            write_signature(frame.data() + length - signature_bytes, *with, index, maker.below(1ULL << 48));
            const Checker after(bytes, stack_of(model));
            ASSERT_TRUE(after.complaints().empty()) << "signed, seed " << seed << "\n" << text_of(after);
        }
    }
    EXPECT_GT(checked, 1'000U);
}

TEST(SignedPacket, of_the_least_sizes_builds_and_one_byte_less_is_refused_with_the_size_needed) {
    struct Case {
        std::vector<HeaderModel> headers;
        unsigned least;
    };
    const auto eth = header(HeaderKind::eth);
    const auto udp = header(HeaderKind::udp);
    const std::vector<Case> cases{
        {{eth, header(HeaderKind::ipv4), udp}, 64},
        {{eth, header(HeaderKind::vlan), header(HeaderKind::ipv4), udp}, 66},
        {{eth, header(HeaderKind::ipv6), udp}, 82},
        {{eth, header(HeaderKind::ipv4), header(HeaderKind::tcp)}, 74},  // B22: no room in a 60-byte SYN
    };
    for (const Case& c : cases) {
        const auto with = signing(7, 1, 1);
        EXPECT_EQ(build(sized(packet(c.headers), literal(c.least)), std::nullopt, with).index(), 0U)
            << c.least;
        if (c.least == 64) continue;
        const auto refused = build(sized(packet(c.headers), literal(c.least - 1)), std::nullopt, with);
        ASSERT_EQ(refused.index(), 1U);
        const auto& problem = std::get<1>(refused).front();
        EXPECT_EQ(problem.pointer, "/frame_size");
        EXPECT_NE(problem.text.find("give frame_size " + std::to_string(c.least)), std::string::npos)
            << problem.text;
    }
}

TEST(SignedPacket, without_a_frame_size_grows_by_its_trailer) {
    const auto plain =
        build(packet({header(HeaderKind::eth), header(HeaderKind::ipv6), header(HeaderKind::udp)}));
    const auto made =
        build(packet({header(HeaderKind::eth), header(HeaderKind::ipv6), header(HeaderKind::udp)}),
              std::nullopt, signing(7, 1, 1));
    EXPECT_EQ(std::get<0>(made)->longest(), std::get<0>(plain)->longest() + signature_bytes);
}

}  // namespace
}  // namespace volley::packet
