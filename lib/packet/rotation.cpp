#include "packet/rotation.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "packet/assemble.h"
#include "packet/prf.h"
#include "packet/rotation_plan.h"

namespace volley::packet {
namespace {

constexpr std::uint64_t order_key = 0x0a11ce5e9ece0001;
constexpr std::uint32_t ahead = 4;  // members whose bytes are on their way while others are copied

/// Walks the members of consecutive packets; the division is paid once.
class Walk {
  public:
    Walk(const Rotation& rotation, std::uint64_t first) noexcept
        : rotation_(rotation), index_(first), place_(first % rotation.members.size()) {}

    [[nodiscard]] const Rotation::Member& member() const noexcept { return rotation_.members[position()]; }
    /// The index that the member's programs take.
    [[nodiscard]] std::uint64_t index() const noexcept {
        const bool own = rotation_.counting == Counting::own && rotation_.order == Order::sequence;
        return own ? index_ / rotation_.members.size() : index_;
    }
    void advance() noexcept {
        ++index_;
        if (++place_ == rotation_.members.size()) place_ = 0;
    }

  private:
    [[nodiscard]] std::size_t position() const noexcept {
        if (rotation_.order == Order::sequence) return place_;
        return scale(draw(order_key, index_), rotation_.members.size());
    }

    const Rotation& rotation_;
    std::uint64_t index_;
    std::size_t place_;
};

/// Short copies of unforeseen length: whole blocks, and the last one again to its end.
void copy(std::uint8_t* to, const std::uint8_t* from, std::size_t length) noexcept {
    constexpr std::size_t block = 16;
    if (length < block || length > 16 * block) {
        std::memcpy(to, from, length);
        return;
    }
    for (std::size_t at = 0; at + block <= length; at += block) std::memcpy(to + at, from + at, block);
    std::memcpy(to + length - block, from + length - block, block);
}

std::uint16_t length_of(const Rotation::Member& member, std::uint64_t index) noexcept {
    std::uint16_t length = member.length;
    if (member.varying != nullptr) member.varying->lengths(index, 1, &length);
    return length;
}

/// Exact while numerator and denominator fit; sizes of at most 9728 bytes over 2^32 members do.
Rational mean_of(const std::vector<Rational>& means) {
    Uint128 num = 0;
    Uint128 den = 1;
    for (const Rational& mean : means) {
        const std::uint64_t common = std::gcd(static_cast<std::uint64_t>(den), mean.den);
        num = num * (mean.den / common) + Uint128{mean.num} * (den / common);
        den *= mean.den / common;
        while (den >> 40 != 0) {
            num >>= 1;
            den >>= 1;
        }
    }
    den *= means.size();
    while (num >> 63 != 0 || den >> 63 != 0) {
        num >>= 1;
        den >>= 1;
    }
    return reduced(static_cast<std::uint64_t>(num), static_cast<std::uint64_t>(den));
}

std::unique_ptr<const PacketTemplate> finish(std::unique_ptr<Rotation> rotation, Rational mean,
                                             std::shared_ptr<const Signing> signing) {
    auto assembly = std::make_unique<Assembly>();
    if (signing != nullptr) {
        assembly->trailer = signature_bytes;
        assembly->trailer_sum = signing->trailer_sum();
    }
    std::uint16_t longest = 0;
    bool alike = true;
    for (const Rotation::Member& member : rotation->members) {
        longest = std::max(longest, member.length);
        const bool fixed = member.varying == nullptr || member.varying->fixed_length() != 0;
        alike = alike && fixed && member.length == rotation->members.front().length;
    }
    assembly->image.resize(longest);
    assembly->plan.fixed_length = alike ? longest : std::uint16_t{0};
    assembly->plan.rotation = rotation.get();
    assembly->rotation = std::move(rotation);
    return std::make_unique<const PacketTemplate>(std::move(assembly), mean, std::move(signing));
}

}  // namespace

void stamp_rotation(const Plan& plan, std::uint64_t first, std::uint32_t count,
                    std::uint8_t* const* frames) noexcept {
    Walk walk(*plan.rotation, first);
    Walk coming(*plan.rotation, first);
    for (std::uint32_t k = 0; k < std::min(ahead, count); ++k, coming.advance()) {
        __builtin_prefetch(coming.member().bytes);
    }
    for (std::uint32_t k = 0; k < count; ++k, walk.advance(), coming.advance()) {
        __builtin_prefetch(coming.member().bytes);
        const Rotation::Member& member = walk.member();
        copy(frames[k], member.bytes, member.length);
        if (member.varying != nullptr) member.varying->stamp(walk.index(), 1, &frames[k]);
    }
}

void lengths_of_rotation(const Plan& plan, std::uint64_t first, std::uint32_t count,
                         std::uint16_t* out) noexcept {
    Walk walk(*plan.rotation, first);
    for (std::uint32_t k = 0; k < count; ++k, walk.advance()) out[k] = length_of(walk.member(), walk.index());
}

std::unique_ptr<const PacketTemplate> rotate(std::vector<std::unique_ptr<const PacketTemplate>> members,
                                             Order order, Counting counting,
                                             std::shared_ptr<const Signing> signing) {
    auto rotation = std::make_unique<Rotation>();
    rotation->order = order;
    rotation->counting = counting;
    rotation->owned = std::move(members);
    std::vector<Rational> means;
    for (const auto& member : rotation->owned) {
        rotation->members.push_back(
            {member->image().data(), member->constant() ? nullptr : member.get(), member->longest()});
        means.push_back(member->mean_l2_bytes());
    }
    return finish(std::move(rotation), mean_of(means), std::move(signing));
}

std::unique_ptr<const PacketTemplate> rotate(FrameStore frames, Order order,
                                             std::shared_ptr<const Signing> signing) {
    auto rotation = std::make_unique<Rotation>();
    rotation->order = order;
    rotation->frames = std::move(frames);
    const FrameStore& store = rotation->frames;
    std::uint64_t total = 0;
    rotation->members.reserve(store.offsets.size());
    for (std::size_t i = 0; i < store.offsets.size(); ++i) {
        rotation->members.push_back({store.bytes.data() + store.offsets[i], nullptr, store.lengths[i]});
        total += std::uint64_t{store.lengths[i]} + fcs_bytes;
    }
    return finish(std::move(rotation), reduced(total, store.offsets.size()), std::move(signing));
}

}  // namespace volley::packet
