#include "worker/verifier.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "packet/signature.h"

namespace volley::worker {
namespace {

using packet::HeaderKind;

std::shared_ptr<const packet::PacketTemplate> made(packet::Value source, bool varies) {
    packet::PacketModel model;
    packet::Program size;
    size.from = 100;
    if (varies) {
        size.kind = packet::Program::Kind::increment;
        size.to = 300;
    }
    model.frame_size = packet::SizeModel{size, {}};
    packet::Program address;
    address.kind = packet::Program::Kind::increment;
    address.from = source;
    address.to = source + 1'000;
    for (const HeaderKind kind : {HeaderKind::eth, HeaderKind::ipv4, HeaderKind::udp})
        model.headers.emplace_back().kind = kind;
    model.headers[1].fields = {{packet::find_field(HeaderKind::ipv4, "src"), address}};
    model.payload.kind = packet::Payload::Kind::random;
    auto signing = std::make_shared<packet::Signing>();
    signing->salt = 99;
    auto built = packet::build(model, std::nullopt, signing);
    return std::move(std::get<0>(built));
}

// Packets 0 .. 31 of a template as they come from the wire, signed.
class AnyVerifier : public testing::TestWithParam<bool> {
  protected:
    AnyVerifier() : packet_(made(0x0a000001, GetParam())) {
        with_.one_in = 1;
        with_.templates = {packet_};
        for (std::uint32_t k = 0; k < Verifier::run; ++k) {
            store_[k].resize(packet_->longest());
            lengths_[k] = packet_->write(k, store_[k].data());
            packet::write_signature(store_[k].data() + lengths_[k] - packet::signature_bytes,
                                    *packet_->signing(), k, 1'000'000 * k);
            frames_[k] = store_[k].data();
        }
    }
    std::uint32_t compare() {
        return verifier_.compare(with_, 3, 0, Verifier::run, frames_.data(), lengths_.data());
    }

    std::shared_ptr<const packet::PacketTemplate> packet_;
    Verification with_;
    std::array<std::vector<std::uint8_t>, Verifier::run> store_;
    std::array<const std::uint8_t*, Verifier::run> frames_{};
    std::array<std::uint32_t, Verifier::run> lengths_{};
    Verifier verifier_;
};

TEST_P(AnyVerifier, finds_nothing_wrong_with_what_was_sent) {
    EXPECT_EQ(compare(), 0U);
    EXPECT_EQ(compare(), 0U);
    EXPECT_EQ(verifier_.kept(), 0U);
}

TEST_P(AnyVerifier, finds_every_changed_byte_that_no_router_changes_and_keeps_the_first_packets) {
    std::uint32_t found = 0;
    const std::uint32_t end = lengths_[7] - packet::signature_bytes;
    for (std::uint32_t at = 0; at < end; ++at) {
        store_[7][at] ^= 0x10;
        const bool routed = at < 12 || at == 22 || at == 24 || at == 25;
        EXPECT_EQ(compare(), routed ? 0U : 1U) << "byte " << at;
        store_[7][at] ^= 0x10;
        found += routed ? 0 : 1;
    }
    ASSERT_EQ(verifier_.kept(), std::min(found, Verifier::most_kept));
    const CorruptedPacket& first = verifier_.kept(0);
    EXPECT_EQ(first.slot, 3U);
    EXPECT_EQ(first.index, 7U);
    EXPECT_EQ(first.offset, 12U);
    EXPECT_EQ(first.bytes[12] ^ first.expected[12], 0x10);
    verifier_.begin_run();
    EXPECT_EQ(verifier_.kept(), 0U);
    lengths_[3] -= 1;
    EXPECT_EQ(compare(), 1U);
    ASSERT_EQ(verifier_.kept(), 1U) << "the next run's are kept as those of the first were";
    EXPECT_EQ(verifier_.kept(0).index, 3U);
}

TEST_P(AnyVerifier, finds_a_packet_that_was_cut) {
    lengths_[3] -= 1;
    EXPECT_EQ(compare(), 1U);
}

TEST_P(AnyVerifier, accepts_what_the_template_before_a_reload_made) {
    with_.templates = {made(0x0a000002, GetParam()), packet_};
    EXPECT_EQ(compare(), 0U);
    with_.templates.pop_back();
    EXPECT_EQ(compare(), Verifier::run);
}

INSTANTIATE_TEST_SUITE_P(OfFixedAndOfVaryingSize, AnyVerifier, testing::Bool());

}  // namespace
}  // namespace volley::worker
