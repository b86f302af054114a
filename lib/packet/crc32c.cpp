#include "packet/crc32c.h"

#include <array>
#include <cstring>

namespace volley::packet {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // 0x1edc6f41, least significant bit first

constexpr auto table = [] {
    std::array<std::uint32_t, 256> out{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? polynomial : 0);
        out[byte] = crc;
    }
    return out;
}();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(const std::uint8_t* bytes,
                                                               std::uint32_t count) noexcept {
    std::uint64_t crc = 0xffffffff;
    for (; count >= 8; bytes += 8, count -= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes, sizeof word);
        crc = __builtin_ia32_crc32di(crc, word);
    }
    auto rest = static_cast<std::uint32_t>(crc);
    for (; count > 0; ++bytes, --count) rest = __builtin_ia32_crc32qi(rest, *bytes);
    return ~rest;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(const std::uint8_t* bytes, std::uint32_t count) noexcept {
    std::uint32_t crc = 0xffffffff;
    for (; count > 0; ++bytes, --count) crc = crc >> 8 ^ table[(crc ^ *bytes) & 0xff];
    return ~crc;
}

std::uint32_t crc32c(const std::uint8_t* bytes, std::uint32_t count) noexcept {
#if defined(__x86_64__)
    static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
    if (has_instruction) return by_instruction(bytes, count);
#endif
    return crc32c_by_table(bytes, count);
}

}  // namespace volley::packet
