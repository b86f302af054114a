#include "worker/responder.h"

#include <algorithm>
#include <cstring>

#include "packet/checksum.h"
#include "worker/wire.h"

namespace volley::worker {
namespace {

constexpr std::uint16_t type_arp = 0x0806;
constexpr std::uint16_t type_ipv4 = 0x0800;
constexpr std::uint16_t type_ipv6 = 0x86dd;
constexpr std::uint16_t type_vlan = 0x8100;
constexpr std::uint16_t type_service_vlan = 0x88a8;
constexpr std::uint32_t drop_eligible = 0x1000;  // a switch on the way here has set it, if it was set
constexpr std::uint8_t protocol_icmp = 1;
constexpr std::uint8_t protocol_icmpv6 = 58;
constexpr std::uint32_t arp_length = 28;
constexpr std::uint32_t ipv6_length = 40;
constexpr std::uint32_t advertisement_length = 32;  // with the option that holds our address
constexpr std::uint32_t least_frame = 60;

void put_word(std::uint8_t* at, std::uint32_t value) noexcept {
    at[0] = static_cast<std::uint8_t>(value >> 8);
    at[1] = static_cast<std::uint8_t>(value);
}

// RFC 1071 over memory-order words; `more` is a sum of what else is covered.
void put_checksum(std::uint8_t* at, std::span<const std::uint8_t> covered, std::uint64_t more = 0) noexcept {
    at[0] = at[1] = 0;
    const auto sum = static_cast<std::uint16_t>(~packet::fold(packet::sum_of(covered) + more));
    std::memcpy(at, &sum, sizeof sum);
}

// The pseudo header of RFC 8200 section 8.1, for an IPv6 header at `ip`.
std::uint64_t pseudo_sum(const std::uint8_t* ip, std::uint32_t length) noexcept {
    std::uint8_t rest[4]{};
    put_word(rest, length);
    rest[3] = protocol_icmpv6;
    return packet::sum_of({ip + 8, 32}) + packet::sum_of({rest, 4});
}

std::uint32_t padded(std::uint8_t* frame, std::uint32_t length) noexcept {
    if (length >= least_frame) return length;
    std::memset(frame + length, 0, least_frame - length);
    return least_frame;
}

void put_ipv6(std::uint8_t* ip, std::uint32_t payload, std::span<const std::uint8_t> from,
              std::span<const std::uint8_t> to) noexcept {
    std::memset(ip, 0, ipv6_length);
    ip[0] = 0x60;
    put_word(ip + 4, payload);
    ip[6] = protocol_icmpv6;
    ip[7] = 255;
    std::copy(from.begin(), from.end(), ip + 8);
    std::copy(to.begin(), to.end(), ip + 24);
}

}  // namespace

/// A frame taken apart as far as every protocol needs it.
struct Responder::Seen {
    const std::uint8_t* source;  ///< MAC address
    const std::uint8_t* payload;
    std::uint32_t length;
    std::uint16_t type;
    std::uint32_t tag;  ///< TPID and TCI as they came; 0: it came untagged
};

Responder::Responder(std::uint64_t mac, std::optional<std::uint16_t> vlan, std::vector<IpAddress> addresses)
    : vlan_(vlan),
      addresses_(std::move(addresses)),
      neighbours_(std::make_unique<Neighbour[]>(most_neighbours)) {
    for (std::size_t i = 0; i < 6; ++i) mac_[i] = static_cast<std::uint8_t>(mac >> (40 - 8 * i));
}

namespace {

std::array<std::uint64_t, 2> words_of(std::span<const std::uint8_t> address) noexcept {
    std::array<std::uint64_t, 2> out{};
    std::memcpy(out.data(), address.data(), std::min(address.size(), sizeof out));
    return out;
}

}  // namespace

// Only control changes whether the place is used, but a receiver may write the MAC address in between.
void Neighbour::give_back() noexcept {
    const std::uint64_t use = word_.load(std::memory_order_relaxed) >> mac_bits;
    word_.store((use + 1) << mac_bits, std::memory_order_relaxed);
}

// A receiver that reads any of the address's new words acquires that the place was given back before, so that
// its exchange fails.
void Neighbour::use(const IpAddress& address) noexcept {
    const auto words = words_of({address.bytes.data(), address.length});
    length_.store(address.length, std::memory_order_release);  // this and the next two acquired by is()
    address_[0].store(words[0], std::memory_order_release);
    address_[1].store(words[1], std::memory_order_release);
    const std::uint64_t use = word_.load(std::memory_order_relaxed) >> mac_bits;
    word_.store((use + 1) << mac_bits, std::memory_order_release);  // acquired by learn()
}

bool Neighbour::is(std::span<const std::uint8_t> address) const noexcept {
    const auto words = words_of(address);
    return length_.load(std::memory_order_acquire) == address.size() &&
           address_[0].load(std::memory_order_acquire) == words[0] &&
           address_[1].load(std::memory_order_acquire) == words[1];
}

void Neighbour::learn(std::span<const std::uint8_t> address, std::uint64_t mac) noexcept {
    std::uint64_t word = word_.load(std::memory_order_acquire);
    if (!is_used(word) || !is(address)) return;
    const std::uint64_t use = word >> mac_bits;
    // Another receiver may learn at the same time: either is right. Only control changes the use.
    while (!word_.compare_exchange_weak(word, use << mac_bits | mac, std::memory_order_relaxed)) {
        if (word >> mac_bits != use) return;
    }
}

Neighbour* Responder::add_neighbour(const IpAddress& address) {
    const std::uint32_t known = known_.load(std::memory_order_relaxed);
    Neighbour* free = known < most_neighbours ? &neighbours_[known] : nullptr;
    for (std::uint32_t i = 0; i < known; ++i) {
        Neighbour& neighbour = neighbours_[i];
        if (!neighbour.used()) {
            free = &neighbour;
        } else if (neighbour.is({address.bytes.data(), address.length})) {
            return &neighbour;
        }
    }
    if (free == nullptr) return nullptr;
    free->use(address);
    if (known < most_neighbours && free == &neighbours_[known])
        known_.store(known + 1, std::memory_order_release);  // acquired by learn()
    return free;
}

bool Responder::ours(std::span<const std::uint8_t> address) const noexcept {
    return std::any_of(addresses_.begin(), addresses_.end(), [&](const IpAddress& own) {
        return own.length == address.size() && std::equal(address.begin(), address.end(), own.bytes.begin());
    });
}

void Responder::learn(std::span<const std::uint8_t> address, const std::uint8_t* mac) const noexcept {
    const std::uint32_t known = known_.load(std::memory_order_acquire);
    if ((mac[0] & 1) != 0) return;  // a group's address is nobody's
    std::uint64_t value = 0;
    for (int k = 0; k < 6; ++k) value = value << 8 | mac[k];
    for (std::uint32_t i = 0; i < known; ++i) neighbours_[i].learn(address, value);
}

// Neighbours answer those of their own network.
const IpAddress* Responder::asker(const IpAddress& address) const noexcept {
    const IpAddress* out = nullptr;
    for (const IpAddress& own : addresses_) {
        if (own.length != address.length) continue;
        bool same = true;
        for (unsigned bit = 0; same && bit < own.prefix; ++bit)
            same = ((own.bytes[bit / 8] ^ address.bytes[bit / 8]) >> (7 - bit % 8) & 1) == 0;
        if (same && own.prefix != 0) return &own;
        if (out == nullptr) out = &own;
    }
    return out;
}

std::uint32_t Responder::own_tag() const noexcept {
    return std::uint32_t{type_vlan} << 16 | vlan_.value_or(0);
}

std::uint32_t Responder::answer_tag(std::uint32_t seen) const noexcept {
    return seen != 0 ? seen & ~drop_eligible : own_tag();
}

std::uint32_t Responder::put_ethernet(const std::uint8_t* destination, std::uint16_t type, std::uint32_t tag,
                                      std::uint8_t* out) const noexcept {
    std::copy_n(destination, 6, out);
    std::copy(mac_.begin(), mac_.end(), out + 6);
    std::uint32_t at = 12;
    if (vlan_) {
        put_word(out + at, tag >> 16);
        put_word(out + at + 2, tag);
        at += 4;
    }
    put_word(out + at, type);
    return at + 2;
}

bool Responder::concerns(std::span<const std::uint8_t> frame) const noexcept {
    if (frame.size() < 42) return false;
    if ((frame[0] & 1) == 0 && !std::equal(mac_.begin(), mac_.end(), frame.begin())) return false;
    std::size_t at = 12;
    if (const std::uint16_t type = word(&frame[at]); type == type_vlan || type == type_service_vlan) at += 4;
    switch (word(&frame[at])) {
        case type_arp:  // what others ask each other is most of it
            return frame.size() >= at + 2 + arp_length &&
                   (word(&frame[at + 2 + 6]) != 1 || ours({&frame[at + 2 + 24], 4}));
        case type_ipv4:
            return frame[at + 2 + 9] == protocol_icmp;
        case type_ipv6:
            return frame[at + 2 + 6] == protocol_icmpv6;
        default:
            return false;
    }
}

std::uint32_t Responder::reply(std::span<const std::uint8_t> frame, std::uint8_t* out) const noexcept {
    if (frame.size() < 14 || frame.size() > longest_reply) return 0;
    const bool to_us = std::equal(mac_.begin(), mac_.end(), frame.begin());
    const bool to_many = (frame[0] & 1) != 0;
    if (!to_us && !to_many) return 0;
    std::uint32_t at = 12;
    std::uint32_t tag = 0;
    if (const std::uint16_t type = word(&frame[at]); type == type_vlan || type == type_service_vlan) {
        if (frame.size() < 18) return 0;
        tag = std::uint32_t{type} << 16 | word(&frame[at + 2]);
        at += 4;
    }
    if ((tag & 0xfff) != vlan_.value_or(0)) return 0;
    Seen seen{&frame[6], frame.data() + at + 2, static_cast<std::uint32_t>(frame.size()) - at - 2,
              word(&frame[at]), tag};
    if (seen.type == type_arp) return reply_arp(seen, out);
    if (seen.type == type_ipv4 && to_us) return reply_ipv4(seen, out);
    if (seen.type == type_ipv6) return reply_ipv6(seen, out);
    return 0;
}

std::uint32_t Responder::reply_arp(const Seen& seen, std::uint8_t* out) const noexcept {
    const std::uint8_t* const arp = seen.payload;
    constexpr std::array<std::uint8_t, 6> ethernet_ipv4{0, 1, 8, 0, 6, 4};
    if (seen.length < arp_length || !std::equal(ethernet_ipv4.begin(), ethernet_ipv4.end(), arp)) return 0;
    const std::uint16_t operation = word(arp + 6);
    if (operation == 2) learn({arp + 14, 4}, arp + 8);
    if (operation != 1 || !ours({arp + 24, 4})) return 0;
    const std::uint32_t at = put_ethernet(arp + 8, type_arp, answer_tag(seen.tag), out);
    std::uint8_t* const answer = out + at;
    std::copy(ethernet_ipv4.begin(), ethernet_ipv4.end(), answer);
    put_word(answer + 6, 2);
    std::copy(mac_.begin(), mac_.end(), answer + 8);
    std::copy_n(arp + 24, 4, answer + 14);
    std::copy_n(arp + 8, 10, answer + 18);
    return padded(out, at + arp_length);
}

// Fragments are left alone: an echo that comes in parts would have to be put together.
std::uint32_t Responder::reply_ipv4(const Seen& seen, std::uint8_t* out) const noexcept {
    const std::uint8_t* const ip = seen.payload;
    if (seen.length < 20 || ip[0] >> 4 != 4) return 0;
    const std::uint32_t header = (ip[0] & 0xfU) * 4;
    const std::uint32_t total = word(ip + 2);
    if (header < 20 || total < header + 8 || total > seen.length || ip[9] != protocol_icmp) return 0;
    if ((word(ip + 6) & 0x3fff) != 0 || !ours({ip + 16, 4}) || ip[header] != 8 || ip[header + 1] != 0)
        return 0;
    if (packet::fold(packet::sum_of({ip + header, total - header})) != 0xffff) return 0;
    const std::uint32_t at = put_ethernet(seen.source, type_ipv4, answer_tag(seen.tag), out);
    std::uint8_t* const answer = out + at;
    std::copy_n(ip, total, answer);
    std::copy_n(ip + 16, 4, answer + 12);
    std::copy_n(ip + 12, 4, answer + 16);
    answer[8] = 64;
    put_checksum(answer + 10, {answer, header});
    answer[header] = 0;
    put_checksum(answer + header + 2, {answer + header, total - header});
    return padded(out, at + total);
}

std::uint32_t Responder::reply_ipv6(const Seen& seen, std::uint8_t* out) const noexcept {
    const std::uint8_t* const ip = seen.payload;
    if (seen.length < ipv6_length + 8 || ip[0] >> 4 != 6 || ip[6] != protocol_icmpv6) return 0;
    const std::uint32_t length = word(ip + 4);
    if (length < 8 || length + ipv6_length > seen.length) return 0;
    const std::uint8_t* const icmp = ip + ipv6_length;
    if (packet::fold(packet::sum_of({icmp, length}) + pseudo_sum(ip, length)) != 0xffff) return 0;
    const bool from_the_link = ip[7] == 255 && icmp[1] == 0;  // RFC 4861 section 7.1
    if (icmp[0] == 136 && from_the_link && length >= 32 && icmp[24] == 2 && icmp[25] == 1) {
        learn({icmp + 8, 16}, icmp + 26);
        return 0;
    }
    if (icmp[0] == 135 && from_the_link && length >= 24 && ours({icmp + 8, 16})) {
        const bool unspecified = std::all_of(ip + 8, ip + 24, [](std::uint8_t byte) { return byte == 0; });
        // To one who has no address yet, the answer goes to all nodes.
        constexpr std::array<std::uint8_t, 16> all_nodes{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
        constexpr std::array<std::uint8_t, 6> all_nodes_mac{0x33, 0x33, 0, 0, 0, 1};
        const std::uint32_t at = put_ethernet(unspecified ? all_nodes_mac.data() : seen.source, type_ipv6,
                                              answer_tag(seen.tag), out);
        std::uint8_t* const answer = out + at;
        put_ipv6(answer, advertisement_length, {icmp + 8, 16},
                 unspecified ? std::span<const std::uint8_t>(all_nodes) : std::span(ip + 8, 16));
        std::uint8_t* const body = answer + ipv6_length;
        std::memset(body, 0, advertisement_length);
        body[0] = 136;
        body[4] = unspecified ? 0x20 : 0x60;  // override; solicited
        std::copy_n(icmp + 8, 16, body + 8);
        body[24] = 2;
        body[25] = 1;
        std::copy(mac_.begin(), mac_.end(), body + 26);
        put_checksum(body + 2, {body, advertisement_length}, pseudo_sum(answer, advertisement_length));
        return padded(out, at + ipv6_length + advertisement_length);
    }
    if (icmp[0] != 128 || icmp[1] != 0 || !ours({ip + 24, 16})) return 0;
    const std::uint32_t at = put_ethernet(seen.source, type_ipv6, answer_tag(seen.tag), out);
    std::uint8_t* const answer = out + at;
    put_ipv6(answer, length, {ip + 24, 16}, {ip + 8, 16});
    answer[7] = 64;
    std::uint8_t* const body = answer + ipv6_length;
    std::copy_n(icmp, length, body);
    body[0] = 129;
    put_checksum(body + 2, {body, length}, pseudo_sum(answer, length));
    return padded(out, at + ipv6_length + length);
}

std::uint32_t Responder::ask(const IpAddress& address, std::uint8_t* out) const noexcept {
    const IpAddress* const own = asker(address);
    if (own == nullptr) return 0;
    if (address.length == 4) {
        constexpr std::array<std::uint8_t, 6> everybody{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
        const std::uint32_t at = put_ethernet(everybody.data(), type_arp, own_tag(), out);
        std::uint8_t* const arp = out + at;
        constexpr std::array<std::uint8_t, 8> request{0, 1, 8, 0, 6, 4, 0, 1};
        std::copy(request.begin(), request.end(), arp);
        std::copy(mac_.begin(), mac_.end(), arp + 8);
        std::copy_n(own->bytes.begin(), 4, arp + 14);
        std::memset(arp + 18, 0, 6);
        std::copy_n(address.bytes.begin(), 4, arp + 24);
        return padded(out, at + arp_length);
    }
    // To the solicited-node group of the address (RFC 4291 section 2.7.1).
    std::array<std::uint8_t, 16> group{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
    std::copy_n(address.bytes.begin() + 13, 3, group.begin() + 13);
    const std::array<std::uint8_t, 6> group_mac{0x33, 0x33, group[12], group[13], group[14], group[15]};
    const std::uint32_t at = put_ethernet(group_mac.data(), type_ipv6, own_tag(), out);
    std::uint8_t* const ip = out + at;
    put_ipv6(ip, advertisement_length, own->bytes, group);
    std::uint8_t* const body = ip + ipv6_length;
    std::memset(body, 0, advertisement_length);
    body[0] = 135;
    std::copy_n(address.bytes.begin(), 16, body + 8);
    body[24] = 1;
    body[25] = 1;
    std::copy(mac_.begin(), mac_.end(), body + 26);
    put_checksum(body + 2, {body, advertisement_length}, pseudo_sum(ip, advertisement_length));
    return padded(out, at + ipv6_length + advertisement_length);
}

}  // namespace volley::worker
