#pragma once

#include <cstdint>
#include <optional>

namespace volley::soft82599 {

/// One 32-bit register access by an x86-64 instruction.
struct MmioAccess {
    bool store = false;
    bool immediate = false;  ///< store of `value`, else of register `gpr`
    std::uint8_t gpr = 0;    ///< 0-15 in encoding order: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ...
    std::uint32_t value = 0;
    std::uint8_t length = 0;  ///< bytes of the instruction
};

/// Decodes the four forms that compilers and the driver use for an aligned 32-bit access: MOV r32, m32 (8B),
/// MOV m32, r32 (89), MOV m32, imm32 (C7 /0) and MOVDIRI m32, r32 (0F 38 F9). Nothing for any other
/// instruction or operand size. Reads no byte past the instruction.
std::optional<MmioAccess> decode_mmio(const std::uint8_t* code) noexcept;

}  // namespace volley::soft82599
