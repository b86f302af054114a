#include "soft82599/rss.h"

#include <algorithm>
#include <span>

namespace volley::soft82599 {
namespace {

// MRQC field bits.
constexpr std::uint32_t ipv4_tcp = 1U << 16;
constexpr std::uint32_t ipv4 = 1U << 17;
constexpr std::uint32_t ipv6 = 1U << 20;
constexpr std::uint32_t ipv6_tcp = 1U << 21;
constexpr std::uint32_t ipv4_udp = 1U << 22;
constexpr std::uint32_t ipv6_udp = 1U << 23;

struct Choice {
    std::uint8_t type;
    bool ports;
};

Choice choose(std::uint32_t mrqc, const Headers& h) {
    if (h.l3 == Headers::L3::ipv4) {
        if (h.l4 == Headers::L4::tcp && (mrqc & ipv4_tcp) != 0) return {1, true};
        if (h.l4 == Headers::L4::udp && (mrqc & ipv4_udp) != 0) return {7, true};
        if ((mrqc & ipv4) != 0) return {2, false};
    }
    if (h.l3 == Headers::L3::ipv6) {
        if (h.l4 == Headers::L4::tcp && (mrqc & ipv6_tcp) != 0) return {3, true};
        if (h.l4 == Headers::L4::udp && (mrqc & ipv6_udp) != 0) return {8, true};
        if ((mrqc & ipv6) != 0) return {5, false};
    }
    return {0, false};
}

}  // namespace

std::uint32_t toeplitz(const RssKey& key, Bytes input) noexcept {
    std::uint32_t hash = 0;
    std::uint64_t window = 0;  // the upper 32 bits are the key bits under the current input bit
    for (unsigned i = 0; i < 8; ++i) window = window << 8 | key[i];
    for (std::size_t i = 0; i < input.size(); ++i) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            if ((input[i] << bit & 0x80) != 0) hash ^= static_cast<std::uint32_t>(window >> (32 - bit));
        }
        window = window << 8 | (i + 8 < key.size() ? key[i + 8] : 0);
    }
    return hash;
}

RssKey load_rss_key(const RegisterFile& registers) noexcept {
    RssKey key{};
    for (unsigned i = 0; i < key.size(); ++i) {
        key[i] = static_cast<std::uint8_t>(registers.load(reg::rssrk + i / 4 * 4) >> (8 * (i % 4)));
    }
    return key;
}

RssHash rss_hash(const RssKey& key, std::uint32_t mrqc, Bytes frame, const Headers& h) noexcept {
    const Choice choice = choose(mrqc, h);
    if (choice.type == 0) return {};
    const bool v4 = h.l3 == Headers::L3::ipv4;
    const Bytes addresses = frame.subspan(h.l3_offset + (v4 ? 12 : 8), v4 ? 8 : 32);
    std::array<std::uint8_t, 36> input{};
    auto end = std::copy(addresses.begin(), addresses.end(), input.begin());
    if (choice.ports) {
        const Bytes ports = frame.subspan(h.l4_offset, 4);
        end = std::copy(ports.begin(), ports.end(), end);
    }
    return {toeplitz(key, {input.begin(), end}), choice.type};
}

unsigned rss_queue(const RegisterFile& registers, const RssHash& hash) noexcept {
    const bool on = (registers.load(reg::mrqc) & 0xF) == 1;  // RSS only, no DCB or VMDq
    if (!on || hash.type == 0) return 0;
    const std::uint32_t entry = hash.hash & 0x7F;
    return registers.load(reg::reta + entry / 4 * 4) >> (8 * (entry % 4)) & 0xF;
}

}  // namespace volley::soft82599
