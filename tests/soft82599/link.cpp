#include "soft82599/link.h"

#include <utility>

namespace volley::soft82599 {

void Link::reset(RegisterFile& registers) const noexcept {
    if (id_ == DeviceId::sfp) {
        registers.store(reg::autoc, 0x0000'6000);   // link mode 10G serial
        registers.store(reg::autoc2, 0x0002'0000);  // its PMA is SFI
    } else {
        registers.store(reg::autoc, 0xC000'8000);  // link mode KX4/KX/KR, offering KX4 and KX
    }
    registers.store(reg::anlp1, 0x000F'0000);  // auto-negotiation state machine is not idle
    registers.store(reg::rxpbsize, 512U << 10);
}

bool Link::set_up(bool up) noexcept {
    return std::exchange(up_, up) != up;
}

std::uint32_t Link::links_register() const noexcept {
    if (!up_) return 0;
    constexpr std::uint32_t negotiated = 1U << 31;
    constexpr std::uint32_t link_up = 1U << 30;
    constexpr std::uint32_t speed_10g = 3U << 28;
    constexpr std::uint32_t speed_1g = 2U << 28;
    switch (speed_) {
        case LinkSpeed::ten_gigabit:
            return negotiated | link_up | speed_10g;
        case LinkSpeed::one_gigabit:
            return negotiated | link_up | speed_1g;
        default:
            return negotiated | link_up;
    }
}

}  // namespace volley::soft82599
