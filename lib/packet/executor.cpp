#include <array>
#include <bit>

#include "packet/plan.h"
#include "packet/sequence.h"

namespace volley::packet {

#define VOLLEY_DECLARE(isa)                                                                                \
    namespace isa {                                                                                        \
    void stamp(const Plan& plan, std::uint64_t first, std::uint32_t count,                                 \
               std::uint8_t* const* frames) noexcept;                                                      \
    void lengths(const Plan& plan, std::uint64_t first, std::uint32_t count, std::uint16_t* out) noexcept; \
    }
VOLLEY_DECLARE(baseline)
#if defined(__x86_64__)
VOLLEY_DECLARE(avx2)
VOLLEY_DECLARE(avx512)
#endif
#undef VOLLEY_DECLARE

Array<Executor> executors() {
    static constexpr std::array all {
        Executor{"baseline", baseline::stamp, baseline::lengths},
#if defined(__x86_64__)
            Executor{"avx2", avx2::stamp, avx2::lengths}, Executor{"avx512", avx512::stamp, avx512::lengths},
#endif
    };
    static const std::uint32_t usable = [] {
        std::uint32_t count = 1;
#if defined(__x86_64__)
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0) count = 2;
        if (count == 2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
            __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0) {
            count = 3;
        }
#endif
        return count;
    }();
    return {all.data(), usable};
}

void compute_column(const Column& column, std::uint64_t first, std::uint32_t count,
                    std::uint32_t* out) noexcept {
    for (std::uint32_t k = 0; k < count; ++k) {
        const Uint128 value = column.sequence->at(first + k) - column.minus;
        out[k] = static_cast<std::uint32_t>(value << column.left) & column.mask;
    }
}

void compute_wide(const Plan& plan, const WideCell& cell, std::uint64_t first, std::uint32_t count,
                  std::uint64_t* head, std::uint64_t* tail) noexcept {
    for (std::uint32_t k = 0; k < count; ++k) {
        Uint128 value = cell.base;
        for (std::uint32_t p = 0; p < cell.parts; ++p) {
            const WidePart& part = plan.wide_parts[cell.first_part + p];
            value |= (part.sequence->at(first + k) << part.left) & part.mask;
        }
        head[k] = __builtin_bswap64(static_cast<std::uint64_t>(value >> 64));
        tail[k] = __builtin_bswap64(static_cast<std::uint64_t>(value));
    }
}

}  // namespace volley::packet
