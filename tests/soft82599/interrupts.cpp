#include "soft82599/interrupts.h"

#include <bit>

namespace volley::soft82599 {
namespace {

constexpr std::uint32_t queue_half = 0xFFFF;  ///< the causes that EICR shares with the extended registers
constexpr std::uint32_t entry_valid = 0x80;
constexpr std::uint32_t entry_vector = 0x3F;

/// EIMS_EX(i) and EIMC_EX(i) hold causes 32 i to 32 i + 31.
std::uint64_t extended(std::uint32_t value, reg::Offset offset, reg::Offset first) {
    return static_cast<std::uint64_t>(value) << (offset == first ? 0 : 32);
}

}  // namespace

void Interrupts::reset() noexcept {
    queue_cause_ = 0;
    queue_mask_ = 0;
    other_cause_ = 0;
    other_mask_ = 0;
    other_fired_ = 0;
}

void Interrupts::raise(std::uint32_t cause) {
    other_cause_ |= cause & ~queue_half;
    other_fired_ &= ~cause;
    fire_pending();
}

void Interrupts::raise_rx(unsigned queue) {
    const std::uint32_t entry = registers_.load(reg::ivar + 4 * (queue / 2)) >> (16 * (queue & 1)) & 0xFF;
    if ((entry & entry_valid) == 0) return;
    queue_cause_ |= std::uint64_t{1} << (entry & entry_vector);
    fire_pending();
}

void Interrupts::fire_pending() {
    if ((other_cause_ & other_mask_ & ~other_fired_) != 0) {
        const std::uint32_t entry = registers_.load(reg::ivar_misc) >> 8 & 0xFF;
        other_fired_ |= other_cause_ & other_mask_;  // they stay pending until the handler reads EICR
        if (!msix()) {
            fire(0);
        } else if ((entry & entry_valid) != 0) {
            fire(entry & entry_vector);
        }
    }
    for (std::uint64_t ready = queue_cause_ & queue_mask_; ready != 0; ready &= ready - 1) {
        const auto vector = static_cast<unsigned>(std::countr_zero(ready));
        const std::uint64_t bit = std::uint64_t{1} << vector;
        fire(msix() ? vector : 0);
        if (!msix()) continue;
        queue_cause_ &= ~bit;  // the message was sent: MSI-X causes clear themselves (EIAC)
        const std::uint32_t auto_mask = registers_.load(reg::eiam_ex + 4 * (vector / 32)) >> (vector % 32);
        if ((auto_mask & 1) != 0 && (registers_.load(reg::gpie) & reg::gpie_auto_mask) != 0)
            queue_mask_ &= ~bit;
    }
}

void Interrupts::fire(unsigned vector) {
    fired_[vector].fetch_add(1, std::memory_order_relaxed);
    if (sink_) sink_(vector);
}

bool Interrupts::covers(reg::Offset offset) noexcept {
    return offset == reg::eicr || offset == reg::eics || offset == reg::eims || offset == reg::eimc ||
           (offset >= reg::eims_ex && offset < reg::eims_ex + 8) ||
           (offset >= reg::eimc_ex && offset < reg::eimc_ex + 8);
}

std::uint32_t Interrupts::read(reg::Offset offset) noexcept {
    switch (offset) {
        case reg::eicr: {  // read to clear
            const std::uint32_t value = other_cause_ | static_cast<std::uint32_t>(queue_cause_ & queue_half);
            other_cause_ = 0;
            other_fired_ = 0;
            queue_cause_ &= ~std::uint64_t{queue_half};
            return value;
        }
        case reg::eims:
            return other_mask_ | static_cast<std::uint32_t>(queue_mask_ & queue_half);
        case reg::eims_ex:
            return static_cast<std::uint32_t>(queue_mask_);
        case reg::eims_ex + 4:
            return static_cast<std::uint32_t>(queue_mask_ >> 32);
        default:
            return 0;
    }
}

void Interrupts::write(reg::Offset offset, std::uint32_t value) {
    switch (offset) {
        case reg::eicr:  // write 1 to clear
            other_cause_ &= ~value;
            other_fired_ &= ~value;
            queue_cause_ &= ~std::uint64_t{value & queue_half};
            return;
        case reg::eics:
            other_cause_ |= value & ~queue_half;
            other_fired_ &= ~value;
            queue_cause_ |= value & queue_half;
            break;
        case reg::eims:
            other_mask_ |= value & ~queue_half;
            other_fired_ &= ~value;
            queue_mask_ |= value & queue_half;
            break;
        case reg::eimc:
            other_mask_ &= ~value;
            queue_mask_ &= ~std::uint64_t{value & queue_half};
            return;
        case reg::eims_ex:
        case reg::eims_ex + 4:
            queue_mask_ |= extended(value, offset, reg::eims_ex);
            break;
        default:
            queue_mask_ &= ~extended(value, offset, reg::eimc_ex);
            return;
    }
    fire_pending();
}

}  // namespace volley::soft82599
