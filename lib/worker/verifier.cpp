#include "worker/verifier.h"

#include <smmintrin.h>

#include <algorithm>
#include <cstring>

#include "packet/signature.h"

namespace volley::worker {
namespace {

// Frames lie a little more than their largest length apart, so that they do not share cache sets.
constexpr std::size_t stride = ((packet::max_frame + 63) / 64 + 1) * 64;

// The first byte that differs in a way that no router does; `end` when there is none.
std::uint32_t first_difference(const std::uint8_t* got, const std::uint8_t* expected, std::uint32_t end,
                               const packet::PacketTemplate& packet) noexcept {
    for (std::uint32_t i = 0; i < end; ++i) {
        if (got[i] == expected[i]) continue;
        const auto routed = packet.routed();
        const bool allowed = std::any_of(routed.begin(), routed.end(), [&](const auto& part) {
            return i >= part.first && i < part.first + part.second;
        });
        if (!allowed) return i;
    }
    return end;
}

// As memcmp, but inline and without an early end: nearly all packets are equal.
inline bool equal(const std::uint8_t* a, const std::uint8_t* b, std::uint32_t bytes) noexcept {
    if (bytes < 16) return std::memcmp(a, b, bytes) == 0;
    const auto difference = [&](std::uint32_t at) {
        return _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + at)),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + at)));
    };
    __m128i differs = difference(bytes - 16);
    for (std::uint32_t at = 0; at + 16 < bytes; at += 16) differs = _mm_or_si128(differs, difference(at));
    return _mm_testz_si128(differs, differs) != 0;
}

inline bool same(const std::uint8_t* got, std::uint32_t length, const std::uint8_t* expected,
                 std::uint32_t expected_length, const packet::PacketTemplate& packet) noexcept {
    if (length != expected_length) return false;
    const std::uint32_t end = length - packet::signature_bytes;
    return equal(got, expected, end) || first_difference(got, expected, end, packet) == end;
}

}  // namespace

Verifier::Verifier() : room_((run + 1) * stride), packets_(most_kept) {
    for (std::uint32_t k = 0; k < run; ++k) frames_[k] = room_.data() + k * stride;
    other_ = room_.data() + run * stride;
}

// Frames that hold the image already need only what varies: nothing at all for a constant packet.
const std::uint16_t* Verifier::make(const packet::PacketTemplate& packet, std::uint64_t first,
                                    std::uint32_t count) noexcept {
    for (std::uint32_t k = 0; k < count; ++k) {
        if (holds_[k] == packet.content_id()) continue;
        std::memcpy(frames_[k], packet.image().data(), packet.image().size());
        holds_[k] = packet.content_id();
    }
    packet.stamp(first, count, frames_.data());
    packet.lengths(first, count, lengths_.data());
    return lengths_.data();
}

std::uint32_t Verifier::compare(const Verification& with, std::uint32_t slot, std::uint64_t first,
                                std::uint32_t count, const std::uint8_t* const* frames,
                                const std::uint32_t* lengths) noexcept {
    const packet::PacketTemplate& packet = *with.templates.front();
    const std::uint16_t* const expected = make(packet, first, count);
    std::uint32_t wrong = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
        if (same(frames[k], lengths[k], frames_[k], expected[k], packet)) [[likely]]
            continue;
        if (as_another(with, first + k, frames[k], lengths[k])) continue;
        if (wrong++ == 0)
            first_wrong_ = {k, first_difference(frames[k], frames_[k],
                                                std::min<std::uint32_t>(lengths[k], expected[k]), packet)};
        keep(slot, first + k, frames[k], lengths[k], frames_[k], expected[k], packet);
    }
    return wrong;
}

bool Verifier::as_another(const Verification& with, std::uint64_t index, const std::uint8_t* frame,
                          std::uint32_t length) noexcept {
    for (std::size_t t = 1; t < with.templates.size(); ++t) {
        const packet::PacketTemplate& packet = *with.templates[t];
        const std::uint16_t expected = packet.write(index, other_);
        if (same(frame, length, other_, expected, packet)) return true;
    }
    return false;
}

void Verifier::keep(std::uint32_t slot, std::uint64_t index, const std::uint8_t* frame, std::uint32_t length,
                    const std::uint8_t* expected, std::uint32_t expected_length,
                    const packet::PacketTemplate& packet) noexcept {
    const std::uint32_t at = kept_.load(std::memory_order_relaxed);
    if (at == most_kept) return;
    CorruptedPacket& out = packets_[at];
    out.slot = slot;
    out.index = index;
    out.length = length;
    out.expected_length = expected_length;
    out.offset = first_difference(frame, expected, std::min(length, expected_length), packet);
    std::copy_n(frame, std::min(length, CorruptedPacket::most_bytes), out.bytes.data());
    std::copy_n(expected, std::min(expected_length, CorruptedPacket::most_bytes), out.expected.data());
    kept_.store(at + 1, std::memory_order_release);  // acquired by kept()
}

}  // namespace volley::worker
