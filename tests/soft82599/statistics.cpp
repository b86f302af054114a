#include "soft82599/statistics.h"

#include <algorithm>

#include "soft82599/register_file.h"

namespace volley::soft82599 {
namespace {

constexpr std::uint64_t largest_count = 0xFFFF'FFFF;
constexpr std::uint64_t largest_octets = 0xF'FFFF'FFFF;

}  // namespace

Statistics::Statistics() : slots_(1), slot_of_(RegisterFile::bytes / 4) {
    using namespace stat;
    for (const auto offset : {crc_errors,     illegal_bytes,  error_bytes,        short_discards,
                              local_faults,   remote_faults,  length_errors,      xon_received,
                              xoff_received,  good_received,  broadcast_received, multicast_received,
                              good_sent,      undersize,      fragments,          oversize,
                              jabbers,        total_received, total_sent,         multicast_sent,
                              broadcast_sent, checksum_errors}) {
        define(offset, false);
    }
    for (unsigned i = 0; i < 6; ++i) {
        define(rx_size + 4 * i, false);
        define(tx_size + 4 * i, false);
    }
    for (unsigned i = 0; i < 8; ++i) define(missed + 4 * i, false);
    for (unsigned i = 0; i < reg::stat_counters; ++i) {
        define(queue_received(i), false);
        define(queue_dropped(i), false);
        define(queue_sent(i), false);
        define(queue_octets_received(i), true);
        define(queue_octets_sent(i), true);
    }
    define(good_octets_received, true);
    define(good_octets_sent, true);
    define(total_octets_received, true);
}

void Statistics::define(reg::Offset offset, bool pair) {
    const auto slot = static_cast<std::uint16_t>(slots_.size());
    slots_.push_back({.pair = pair});
    slot_of_[offset / 4] = slot;
    if (pair) slot_of_[offset / 4 + 1] = slot;
}

void Statistics::add(reg::Offset offset, std::uint64_t n) noexcept {
    Slot& slot = slots_[slot_of_[offset / 4]];
    const std::uint64_t largest = slot.pair ? largest_octets : largest_count;
    slot.value = n > largest - slot.value ? largest : slot.value + n;
}

void Statistics::add_size(reg::Offset first, std::uint64_t bytes) noexcept {
    constexpr std::uint64_t last_of_class[] = {64, 127, 255, 511, 1023};
    const auto size_class = std::lower_bound(std::begin(last_of_class), std::end(last_of_class), bytes);
    add(first + 4 * static_cast<reg::Offset>(size_class - std::begin(last_of_class)), 1);
}

std::uint32_t Statistics::read(reg::Offset offset) noexcept {
    const std::uint16_t index = slot_of_[offset / 4];
    Slot& slot = slots_[index];
    const bool second_half = slot.pair && slot_of_[offset / 4 - 1] == index;
    if (second_half) return slot.high;
    const auto low = static_cast<std::uint32_t>(slot.value);
    slot.high = static_cast<std::uint32_t>(slot.value >> 32);
    slot.value = 0;
    return low;
}

void Statistics::clear() noexcept {
    for (Slot& slot : slots_) {
        slot.value = 0;
        slot.high = 0;
    }
}

}  // namespace volley::soft82599
