#include "soft82599/mmio.h"

#include <cstring>

namespace volley::soft82599 {
namespace {

struct ModRm {
    std::uint8_t reg;
    std::uint8_t bytes;  ///< ModRM, SIB and displacement
};

/// Intel SDM volume 2, 2.1.3 and 2.1.5. Nothing for a register operand (mod 3).
std::optional<ModRm> decode_modrm(const std::uint8_t* at) {
    const unsigned mod = at[0] >> 6;
    const unsigned rm = at[0] & 7;
    if (mod == 3) return {};
    unsigned bytes = 1;
    unsigned base = rm;
    if (rm == 4) {
        base = at[1] & 7;
        ++bytes;
    }
    if (mod == 1) bytes += 1;
    if (mod == 2 || (mod == 0 && base == 5)) bytes += 4;  // also RIP-relative, and SIB without a base
    return ModRm{static_cast<std::uint8_t>(at[0] >> 3 & 7), static_cast<std::uint8_t>(bytes)};
}

}  // namespace

std::optional<MmioAccess> decode_mmio(const std::uint8_t* code) noexcept {
    unsigned at = 0;
    unsigned rex = 0;
    if ((code[at] & 0xF0) == 0x40) rex = code[at++];
    if ((rex & 8) != 0) return {};  // 64-bit operand
    MmioAccess access;
    const std::uint8_t opcode = code[at++];
    if (opcode == 0x0F) {
        if (code[at] != 0x38 || code[at + 1] != 0xF9) return {};
        at += 2;
        access.store = true;
    } else if (opcode == 0x89 || opcode == 0xC7) {
        access.store = true;
        access.immediate = opcode == 0xC7;
    } else if (opcode != 0x8B) {
        return {};
    }
    const auto modrm = decode_modrm(code + at);
    if (!modrm || (access.immediate && modrm->reg != 0)) return {};
    at += modrm->bytes;
    access.gpr = static_cast<std::uint8_t>(modrm->reg + ((rex & 4) != 0 ? 8 : 0));
    if (access.immediate) {
        std::memcpy(&access.value, code + at, sizeof(access.value));
        at += sizeof(access.value);
    }
    access.length = static_cast<std::uint8_t>(at);
    return access;
}

}  // namespace volley::soft82599
