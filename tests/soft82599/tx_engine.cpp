#include "soft82599/tx_engine.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "soft82599/log.h"

namespace volley::soft82599 {
namespace {

// Command dword.
constexpr std::uint32_t type_mask = 0xFU << 20;
constexpr std::uint32_t type_context = 2U << 20;
constexpr std::uint32_t type_data = 3U << 20;
constexpr std::uint32_t end_of_packet = 1U << 24;
constexpr std::uint32_t report_status = 1U << 27;
constexpr std::uint32_t extended = 1U << 29;
constexpr std::uint32_t vlan_enable = 1U << 30;
constexpr std::uint32_t segmentation = 1U << 31;
// Status dword of a data descriptor.
constexpr std::uint32_t done = 1U << 0;
constexpr std::uint32_t insert_ip_checksum = 1U << 8;
constexpr std::uint32_t insert_l4_checksum = 1U << 9;
// Type dword of a context descriptor.
constexpr std::uint32_t l4_type_mask = 3U << 11;
constexpr std::uint32_t l4_type_udp = 0U << 11;
constexpr std::uint32_t l4_type_tcp = 1U << 11;

unsigned context_index(std::uint32_t status) {
    return status >> 4 & 1;
}

/// The datagram's end by its own length field, clipped to the frame.
std::size_t datagram_end(Bytes frame, std::size_t l3) {
    if (l3 + 20 > frame.size()) return frame.size();
    const bool v4 = frame[l3] >> 4 == 4;
    const std::size_t length = v4 ? load_be16(frame, l3 + 2) : 40U + load_be16(frame, l3 + 4);
    return std::min(frame.size(), l3 + length);
}

}  // namespace

TxEngine::TxEngine(RegisterFile& registers, Statistics& statistics, const char* port_name)
    : registers_(registers),
      statistics_(statistics),
      port_name_(port_name),
      frame_(longest_frame + shortest_frame) {}

void TxEngine::reset() noexcept {
    for (Queue& queue : queues_) queue.contexts = {};
}

TxEngine::Descriptor* TxEngine::ring(unsigned queue) const noexcept {
    return std::bit_cast<Descriptor*>(registers_.load_pair(reg::tx_queue(queue) + reg::base_low));
}

std::uint32_t TxEngine::ring_size(unsigned queue) const noexcept {
    return registers_.load(reg::tx_queue(queue) + reg::length) /
           static_cast<std::uint32_t>(sizeof(Descriptor));
}

bool TxEngine::ready(unsigned queue) const noexcept {
    const reg::Offset at = reg::tx_queue(queue);
    return !queues_[queue].stuck && (registers_.load(at + reg::control) & reg::control_enable) != 0 &&
           (registers_.load(reg::dmatxctl) & reg::dmatxctl_enable) != 0 &&
           registers_.load(at + reg::head) != registers_.load(at + reg::tail);
}

void TxEngine::tail_written(unsigned queue, std::uint32_t value) noexcept {
    const reg::Offset at = reg::tx_queue(queue);
    const std::uint32_t head = registers_.load(at + reg::head);
    const std::uint32_t before = registers_.load(at + reg::tail);
    registers_.store(at + reg::tail, value);
    // The driver initialises a ring with zeros: once disabled, once enabled with the head at 0.
    const bool enabled = (registers_.load(at + reg::control) & reg::control_enable) != 0;
    if (!enabled || (value == 0 && head == 0 && before == 0)) return;
    TxQueueCounters& counters = queues_[queue].counters;
    ++counters.tail_writes;
    const std::uint32_t size = ring_size(queue);
    const std::uint64_t batch = size == 0 ? 0 : (value + size - before) % size;
    counters.largest_batch = std::max(counters.largest_batch, batch);
}

std::optional<std::size_t> TxEngine::gather(unsigned queue) noexcept {
    const reg::Offset at = reg::tx_queue(queue);
    const std::uint32_t size = ring_size(queue);
    if (size == 0) return {};
    Queue& state = queues_[queue];
    for (;;) {
        const std::uint32_t head = registers_.load(at + reg::head);
        const std::uint32_t tail = registers_.load(at + reg::tail);
        if (head == tail || head >= size) return {};
        const Descriptor& first = ring(queue)[head];
        if ((first.command & (extended | type_mask)) == (extended | type_context)) {
            take_context(state, first);
            write_back(queue, (head + 1) % size);
            continue;
        }
        std::optional<Packet> packet = collect(queue, head, tail);
        if (!packet) return {};
        packet_end_ = packet->next;
        const Context& context = state.contexts[context_index(packet->first_status)];
        if (packet->problem == nullptr) packet->problem = insert_checksums(state, *packet, context);
        if (packet->problem != nullptr) {
            refuse(queue, *packet);
            continue;
        }
        if ((packet->first_command & vlan_enable) != 0) insert_vlan(state, context);
        if ((registers_.load(reg::hlreg0) & reg::hlreg0_pad) != 0 && length_ < shortest_frame) {
            std::memset(frame_.data() + length_, 0, shortest_frame - length_);
            length_ = shortest_frame;
        }
        return length_;
    }
}

std::optional<TxEngine::Packet> TxEngine::collect(unsigned queue, std::uint32_t head,
                                                  std::uint32_t tail) noexcept {
    const std::uint32_t size = ring_size(queue);
    Packet packet{.first_command = ring(queue)[head].command, .first_status = ring(queue)[head].status};
    length_ = 0;
    for (std::uint32_t i = head; i != tail; i = (i + 1) % size) {
        const Descriptor& descriptor = ring(queue)[i];
        append(descriptor, packet);
        if ((descriptor.command & end_of_packet) != 0) {
            packet.next = (i + 1) % size;
            if ((packet.first_command & segmentation) != 0) {
                packet.problem =
                    "it asks for TCP segmentation, which the model refuses: leave RTE_ETH_TX_OFFLOAD_TCP_TSO "
                    "off";
            }
            return packet;
        }
    }
    return {};  // the tail stands inside a packet: wait for the rest
}

void TxEngine::append(const Descriptor& descriptor, Packet& packet) noexcept {
    const std::uint32_t bytes = descriptor.command & 0xFFFF;
    if ((descriptor.command & (extended | type_mask)) != (extended | type_data)) {
        packet.problem = "a legacy or context descriptor stands inside a packet";
    } else if (bytes == 0) {
        packet.problem = "a descriptor has length 0, which hangs the chip";
    } else if (length_ + bytes > longest_frame) {
        packet.problem = "the packet is longer than 16 KiB";
    } else {
        std::memcpy(frame_.data() + length_, std::bit_cast<const void*>(descriptor.address), bytes);
        length_ += bytes;
    }
}

void TxEngine::take_context(Queue& queue, const Descriptor& descriptor) noexcept {
    ++queue.counters.contexts;
    queue.contexts[context_index(descriptor.status)] = {static_cast<std::uint32_t>(descriptor.address),
                                                        descriptor.command};
}

const char* TxEngine::insert_checksums(Queue& queue, const Packet& packet, const Context& context) noexcept {
    const bool ip = (packet.first_status & insert_ip_checksum) != 0;
    const bool l4_sum = (packet.first_status & insert_l4_checksum) != 0;
    if (!ip && !l4_sum) return nullptr;
    const std::size_t l3 = context.lengths >> 9 & 0x7F;
    const std::size_t l4 = l3 + (context.lengths & 0x1FF);
    if (l4 < l3 + 20 || l4 + 8 > length_)
        return "checksum insertion without a context whose header lengths fit it";
    const std::span<std::uint8_t> frame(frame_.data(), length_);
    if (ip) {
        store_be16(frame, l3 + 10, 0);
        store_be16(frame, l3 + 10, static_cast<std::uint16_t>(~ones_sum(frame.subspan(l3, l4 - l3))));
        ++queue.counters.ip_checksums;
    }
    if (!l4_sum) return nullptr;
    const std::uint32_t type = context.type & l4_type_mask;
    if (type != l4_type_tcp && type != l4_type_udp) return "only TCP and UDP checksums are modelled";
    const std::size_t at = l4 + (type == l4_type_tcp ? 16 : 6);
    const std::size_t end = datagram_end(frame, l3);
    if (at + 2 > end) return "checksum insertion past the end of the datagram";
    // Software left the pseudo header's sum in the field, so the field takes part.
    const auto sum = static_cast<std::uint16_t>(~ones_sum(frame.subspan(l4, end - l4)));
    store_be16(frame, at, sum == 0 && type == l4_type_udp ? std::uint16_t{0xFFFF} : sum);
    ++queue.counters.l4_checksums;
    return nullptr;
}

void TxEngine::insert_vlan(Queue& queue, const Context& context) noexcept {
    constexpr std::size_t addresses = 12;
    if (length_ < addresses || length_ + 4 > frame_.size()) return;
    std::memmove(frame_.data() + addresses + 4, frame_.data() + addresses, length_ - addresses);
    length_ += 4;
    const std::span<std::uint8_t> frame(frame_.data(), length_);
    store_be16(frame, addresses, static_cast<std::uint16_t>(registers_.load(reg::dmatxctl) >> 16));
    store_be16(frame, addresses + 2, static_cast<std::uint16_t>(context.lengths >> 16));
    ++queue.counters.vlan_tags;
}

void TxEngine::refuse(unsigned queue, const Packet& packet) noexcept {
    Queue& state = queues_[queue];
    const bool is_segmentation = (packet.first_command & segmentation) != 0;
    ++(is_segmentation ? state.counters.segmentation_refused : state.counters.bad_descriptors);
    if (!std::exchange(is_segmentation ? state.told_segmentation : state.told_bad, true)) {
        say("%s queue %u: packet dropped: %s", port_name_, queue, packet.problem);
    }
    write_back(queue, packet.next);
}

void TxEngine::write_back(unsigned queue, std::uint32_t end) noexcept {
    const reg::Offset at = reg::tx_queue(queue);
    const std::uint32_t size = ring_size(queue);
    TxQueueCounters& counters = queues_[queue].counters;
    for (std::uint32_t i = registers_.load(at + reg::head); i != end; i = (i + 1) % size) {
        Descriptor& descriptor = ring(queue)[i];
        ++counters.descriptors;
        const bool data = (descriptor.command & type_mask) == type_data;
        if (!data || (descriptor.command & report_status) == 0) continue;
        ++counters.reports;
        std::atomic_ref(descriptor.status).store(done, std::memory_order_release);
    }
    registers_.store(at + reg::head, end);
}

void TxEngine::complete(unsigned queue) noexcept {
    count_sent(queue);
    write_back(queue, packet_end_);
}

void TxEngine::count_sent(unsigned queue) noexcept {
    TxQueueCounters& counters = queues_[queue].counters;
    ++counters.packets;
    counters.bytes += length_;
    const std::uint64_t octets = length_ + fcs_bytes;
    statistics_.add(stat::good_sent, 1);
    statistics_.add(stat::total_sent, 1);
    statistics_.add(stat::good_octets_sent, octets);
    statistics_.add_size(stat::tx_size, octets);
    if (length_ >= 6 && (frame_[0] & 1) != 0) {
        const bool broadcast =
            std::all_of(frame_.begin(), frame_.begin() + 6, [](auto byte) { return byte == 0xFF; });
        statistics_.add(broadcast ? stat::broadcast_sent : stat::multicast_sent, 1);
    }
    const std::uint32_t counter = registers_.load(reg::tqsm + queue / 4 * 4) >> (8 * (queue % 4)) & 0xF;
    statistics_.add(stat::queue_sent(counter), 1);
    statistics_.add(stat::queue_octets_sent(counter), octets);
}

}  // namespace volley::soft82599
