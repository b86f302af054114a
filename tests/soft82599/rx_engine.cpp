#include "soft82599/rx_engine.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace volley::soft82599 {
namespace {

// Status, low bits of the write-back's second quadword.
constexpr std::uint32_t done = 1U << 0;
constexpr std::uint32_t end_of_packet = 1U << 1;
constexpr std::uint32_t vlan_packet = 1U << 3;
constexpr std::uint32_t l4_checked = 1U << 5;
constexpr std::uint32_t ip_checked = 1U << 6;
constexpr std::uint32_t l4_bad = 1U << 30;
constexpr std::uint32_t ip_bad = 1U << 31;

std::uint32_t packet_type(const Headers& h) {
    std::uint32_t type = 0;
    if (h.l3 == Headers::L3::ipv4) type |= h.l3_extended ? 0x30U : 0x10U;
    if (h.l3 == Headers::L3::ipv6) type |= h.l3_extended ? 0xC0U : 0x40U;
    if (h.l4 == Headers::L4::tcp) type |= 0x100;
    if (h.l4 == Headers::L4::udp) type |= 0x200;
    if (h.l4 == Headers::L4::sctp) type |= 0x400;
    return type;
}

/// Checksum status and errors, datasheet 7.1.11: the IPv4 header, and TCP or UDP of an unfragmented datagram.
std::uint32_t checksum_status(Bytes frame, const Headers& h) {
    std::uint32_t status = 0;
    if (h.l3 == Headers::L3::ipv4) {
        status |= ip_checked;
        if (ones_sum(frame.subspan(h.l3_offset, h.l4_offset - h.l3_offset)) != 0xFFFF) status |= ip_bad;
    }
    const bool udp = h.l4 == Headers::L4::udp;
    if (h.l4 == Headers::L4::tcp || udp) {
        if (udp && load_be16(frame, h.l4_offset + 6) == 0) return status;  // sender made no checksum
        status |= l4_checked;
        const Bytes segment = frame.subspan(h.l4_offset, h.l3_end - h.l4_offset);
        if (ones_sum(segment, pseudo_header_sum(frame, h)) != 0xFFFF) status |= l4_bad;
    }
    return status;
}

reg::Offset register_of(RxError error) {
    switch (error) {
        case RxError::crc:
            return stat::crc_errors;
        case RxError::illegal_byte:
            return stat::illegal_bytes;
        case RxError::error_byte:
            return stat::error_bytes;
        case RxError::length:
            return stat::length_errors;
        case RxError::undersize:
            return stat::undersize;
        case RxError::oversize:
            return stat::oversize;
        case RxError::fragment:
            return stat::fragments;
        default:
            return stat::jabbers;
    }
}

}  // namespace

RxEngine::RxEngine(RegisterFile& registers, Statistics& statistics, Interrupts& interrupts)
    : registers_(registers),
      statistics_(statistics),
      interrupts_(interrupts),
      edited_(longest_frame + fcs_bytes) {}

RxEngine::Verdict RxEngine::deliver(Bytes frame) {
    const bool receiver_on = (registers_.load(reg::rxctrl) & 1) != 0;
    const Headers headers = parse(frame, static_cast<std::uint16_t>(registers_.load(reg::vlnctrl)));
    const std::uint32_t mrqc = registers_.load(reg::mrqc);
    const RssHash hash = mrqc == 0 ? RssHash{} : rss_hash(load_rss_key(registers_), mrqc, frame, headers);
    const unsigned queue = rss_queue(registers_, hash);
    const bool queue_on = (registers_.load(reg::rx_queue(queue) + reg::control) & reg::control_enable) != 0;
    if (!receiver_on || !queue_on) {
        ++port_.receiver_off;
        return Verdict::discarded;
    }
    if (arrives_bad(frame)) return Verdict::discarded;
    if (RxError error{}; !accepts_length(frame, headers, error)) {
        count_error(error, frame);
        return Verdict::discarded;
    }
    if (!accepts_address(frame) || !accepts_vlan(headers)) {
        count_arrival(frame);
        ++port_.filtered;
        return Verdict::discarded;
    }
    const std::uint32_t buffer = buffer_bytes(queue);
    const auto needed = static_cast<std::uint32_t>((frame.size() + buffer - 1) / buffer);
    if (overrun_ || free_descriptors(queue) < needed) {
        if (lossless_ && !overrun_) return Verdict::no_descriptor;
        count_arrival(frame);
        return miss(queue);
    }
    count_arrival(frame);
    store(queue, frame, headers, hash);
    count_stored(queue, frame);
    interrupts_.raise_rx(queue);
    return Verdict::stored;
}

bool RxEngine::arrives_bad(Bytes frame) noexcept {
    const auto next =
        std::find_if(injected_.begin(), injected_.end(), [](auto frames) { return frames != 0; });
    if (next == injected_.end()) return false;
    --*next;
    count_error(static_cast<RxError>(next - injected_.begin()), frame);
    return true;
}

void RxEngine::count_error(RxError error, Bytes frame) noexcept {
    count_arrival(frame);
    statistics_.add(register_of(error), 1);
    ++port_.errors;
}

void RxEngine::count_arrival(Bytes frame) noexcept {
    statistics_.add(stat::total_received, 1);
    statistics_.add(stat::total_octets_received, frame.size() + fcs_bytes);
}

bool RxEngine::accepts_length(Bytes frame, const Headers& headers, RxError& error) const noexcept {
    // 1518 bytes with FCS, or what MAXFRS says for jumbo frames; a tag may come on top
    // (datasheet 8.2.3.22.8, 8.2.3.22.13).
    const bool jumbo = (registers_.load(reg::hlreg0) & reg::hlreg0_jumbo) != 0;
    const std::size_t largest =
        (jumbo ? registers_.load(reg::maxfrs) >> 16 : 1518U) + (headers.vlan ? 4U : 0U);
    error = frame.size() < shortest_frame ? RxError::undersize : RxError::oversize;
    return frame.size() >= shortest_frame && frame.size() + fcs_bytes <= largest;
}

bool RxEngine::accepts_address(Bytes frame) const noexcept {
    const std::uint32_t fctrl = registers_.load(reg::fctrl);
    if ((frame[0] & 1) == 0) return (fctrl & reg::fctrl_all_unicast) != 0 || matches_station(frame);
    const bool broadcast =
        std::all_of(frame.begin(), frame.begin() + 6, [](auto byte) { return byte == 0xFF; });
    if (broadcast) return (fctrl & reg::fctrl_broadcast) != 0;
    if ((fctrl & reg::fctrl_all_multicast) != 0 || matches_station(frame)) return true;
    // 12 bits of the address, which ones is MCSTCTRL.MO, index the table of 4096 bits (datasheet 7.1.1.1.3).
    const std::uint32_t mcstctrl = registers_.load(reg::mcstctrl);
    if ((mcstctrl & 4) == 0) return false;
    constexpr unsigned shifts[] = {4, 3, 2, 0};
    const std::uint32_t tail = frame[4] | static_cast<std::uint32_t>(frame[5]) << 8;
    const std::uint32_t bit = tail >> shifts[mcstctrl & 3] & 0xFFF;
    return (registers_.load(reg::mta + bit / 32 * 4) >> (bit % 32) & 1) != 0;
}

bool RxEngine::matches_station(Bytes frame) const noexcept {
    std::uint32_t low = 0;
    std::memcpy(&low, frame.data(), 4);
    const std::uint32_t high = frame[4] | static_cast<std::uint32_t>(frame[5]) << 8;
    for (unsigned i = 0; i < 128; ++i) {
        const reg::Offset at = (i < 16 ? reg::ral0 : reg::rar_high) + 8 * i;
        const std::uint32_t rah = registers_.load(at + 4);
        if ((rah & reg::rah_valid) != 0 && (rah & 0xFFFF) == high && registers_.load(at) == low) return true;
    }
    return false;
}

bool RxEngine::accepts_vlan(const Headers& headers) const noexcept {
    if (!headers.vlan || (registers_.load(reg::vlnctrl) & reg::vlnctrl_filter) == 0) return true;
    const std::uint32_t id = headers.vlan_tci & 0xFFF;
    return (registers_.load(reg::vfta + id / 32 * 4) >> (id % 32) & 1) != 0;
}

std::uint32_t RxEngine::free_descriptors(unsigned queue) const noexcept {
    const reg::Offset at = reg::rx_queue(queue);
    const std::uint32_t size =
        registers_.load(at + reg::length) / static_cast<std::uint32_t>(sizeof(Descriptor));
    if (size == 0) return 0;
    return (registers_.load(at + reg::tail) + size - registers_.load(at + reg::head)) % size;
}

std::uint32_t RxEngine::buffer_bytes(unsigned queue) const noexcept {
    const std::uint32_t kilobytes = registers_.load(reg::srrctl(queue)) & 0x1F;
    return kilobytes == 0 ? 2048 : kilobytes << 10;
}

RxEngine::Verdict RxEngine::miss(unsigned queue) {
    ++queues_[queue].missed;
    constexpr std::uint32_t drop_enable = 1U << 28;
    if ((registers_.load(reg::srrctl(queue)) & drop_enable) != 0) {
        const std::uint32_t counter = registers_.load(reg::rqsmr + queue / 4 * 4) >> (8 * (queue % 4)) & 0xF;
        statistics_.add(stat::queue_dropped(counter), 1);
    } else {
        statistics_.add(stat::missed, 1);
        interrupts_.raise(reg::cause_rx_miss);
    }
    return Verdict::missed;
}

/// The model keeps no FCS: where the driver asked for it (CRC stripping off) its four bytes are zero.
Bytes RxEngine::edit(Bytes frame, bool strip_tag, bool keep_fcs) noexcept {
    if (!strip_tag && !keep_fcs) return frame;
    const Bytes rest = frame.subspan(strip_tag ? 16 : 12);
    auto end = std::copy_n(frame.begin(), 12, edited_.begin());
    end = std::copy(rest.begin(), rest.end(), end);
    if (keep_fcs) end = std::fill_n(end, fcs_bytes, std::uint8_t{0});
    return {edited_.begin(), end};
}

void RxEngine::store(unsigned queue, Bytes frame, const Headers& headers, const RssHash& hash) noexcept {
    const reg::Offset at = reg::rx_queue(queue);
    std::uint32_t status = done | checksum_status(frame, headers);
    if ((status & l4_bad) != 0) statistics_.add(stat::checksum_errors, 1);
    if (headers.vlan) status |= vlan_packet;
    const bool strip = headers.vlan && (registers_.load(at + reg::control) & reg::rxdctl_vlan_strip) != 0;
    const std::uint64_t tag = strip ? headers.vlan_tci : 0;
    frame = edit(frame, strip, (registers_.load(reg::hlreg0) & reg::hlreg0_strip_crc) == 0);
    auto* ring = std::bit_cast<Descriptor*>(registers_.load_pair(at + reg::base_low));
    const std::uint32_t size =
        registers_.load(at + reg::length) / static_cast<std::uint32_t>(sizeof(Descriptor));
    const std::size_t buffer = buffer_bytes(queue);
    std::uint32_t head = registers_.load(at + reg::head);
    while (!frame.empty()) {
        const Bytes part = frame.first(std::min(buffer, frame.size()));
        frame = frame.subspan(part.size());
        Descriptor& descriptor = ring[head];
        std::memcpy(std::bit_cast<void*>(descriptor.first), part.data(), part.size());
        if (frame.empty()) status |= end_of_packet;
        descriptor.first = packet_type(headers) | hash.type | static_cast<std::uint64_t>(hash.hash) << 32;
        const std::uint64_t second = status | part.size() << 32 | tag << 48;
        std::atomic_ref(descriptor.second).store(second, std::memory_order_release);
        head = (head + 1) % size;
    }
    registers_.store(at + reg::head, head);
}

void RxEngine::count_stored(unsigned queue, Bytes frame) noexcept {
    ++queues_[queue].packets;
    queues_[queue].bytes += frame.size();
    // With CRC stripping the good and the queue octet counters leave the FCS out, which is what the driver
    // expects.
    const bool strips = (registers_.load(reg::hlreg0) & reg::hlreg0_strip_crc) != 0;
    const std::uint64_t octets = frame.size() + (strips ? 0 : fcs_bytes);
    statistics_.add(stat::good_received, 1);
    statistics_.add(stat::good_octets_received, octets);
    statistics_.add_size(stat::rx_size, frame.size() + fcs_bytes);
    if ((frame[0] & 1) != 0) {
        const bool broadcast =
            std::all_of(frame.begin(), frame.begin() + 6, [](auto byte) { return byte == 0xFF; });
        statistics_.add(broadcast ? stat::broadcast_received : stat::multicast_received, 1);
    }
    const std::uint32_t counter = registers_.load(reg::rqsmr + queue / 4 * 4) >> (8 * (queue % 4)) & 0xF;
    statistics_.add(stat::queue_received(counter), 1);
    statistics_.add(stat::queue_octets_received(counter), octets);
}

}  // namespace volley::soft82599
