#include <array>
#include <bit>
#include <cstring>

#include "packet/crc32c.h"
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

namespace {

/// A sequence read packet after packet: the first costs divisions, the others count.
class Walker {
  public:
    Walker(const Sequence& sequence, std::uint64_t first)
        : sequence_(sequence),
          index_(first),
          counts_(sequence.kind == Sequence::Kind::linear && sequence.inner == Sequence::Transform{} &&
                  sequence.outer.shift == 0) {
        seek();
    }

    Value next() {
        const Value value = value_;
        ++index_;
        if (--flow_left_ == 0) {
            seek();
        } else if (--wait_ == 0) {
            wait_ = sequence_.every;
            ++number_;
            const bool end = sequence_.kind != Sequence::Kind::random && number_ == sequence_.cycle;
            number_ = end ? 0 : number_;
            if (counts_) {
                raw_ = end ? sequence_.from : raw_ + sequence_.step;
                value_ = (raw_ + sequence_.outer.add) & sequence_.outer.mask;
            } else {
                value_ = sequence_.transformed(sequence_.number(number_));
            }
        }
        return value;
    }

  private:
    void seek() {
        const std::uint64_t flow = sequence_.flow_packets;
        const std::uint64_t in_flow = flow == 0 ? index_ : index_ % flow;
        flow_left_ = flow == 0 ? 0 : flow - in_flow;  // counts down from 2^64 when there is no cap
        wait_ = sequence_.every == 0 ? 0 : sequence_.every - in_flow % sequence_.every;
        number_ = sequence_.position(index_);
        raw_ = sequence_.number(number_);
        value_ = sequence_.transformed(raw_);
    }

    const Sequence& sequence_;
    std::uint64_t index_;
    bool counts_;  ///< the next value is a step away
    std::uint64_t flow_left_ = 0;
    std::uint64_t wait_ = 0;
    std::uint64_t number_ = 0;
    Value raw_ = 0;    ///< before transforms
    Value value_ = 0;  ///< after them
};

}  // namespace

std::uint32_t write_crc(const CrcWrite& write, std::uint32_t length, std::uint8_t* frame) noexcept {
    std::memset(frame + write.offset, 0, 4);
    const std::uint32_t end = write.to != 0 ? write.to : length;
    const std::uint32_t crc = crc32c(frame + write.from, end - write.from);
    std::memcpy(frame + write.offset, &crc, sizeof crc);
    return crc;
}

void compute_column(const Column& column, std::uint64_t first, std::uint32_t count,
                    std::uint32_t* out) noexcept {
    Walker walker(*column.sequence, first);
    for (std::uint32_t k = 0; k < count; ++k) {
        out[k] = static_cast<std::uint32_t>((walker.next() - column.minus) << column.left) & column.mask;
    }
}

void compute_wide(const Plan& plan, const WideCell& cell, std::uint64_t first, std::uint32_t count,
                  std::uint64_t* head, std::uint64_t* tail) noexcept {
    for (std::uint32_t k = 0; k < count; ++k) {
        head[k] = static_cast<std::uint64_t>(cell.base >> 64);
        tail[k] = static_cast<std::uint64_t>(cell.base);
    }
    for (std::uint32_t p = 0; p < cell.parts; ++p) {
        const WidePart& part = plan.wide_parts[cell.first_part + p];
        Walker walker(*part.sequence, first);
        for (std::uint32_t k = 0; k < count; ++k) {
            const Value bits = (walker.next() << part.left) & part.mask;
            head[k] |= static_cast<std::uint64_t>(bits >> 64);
            tail[k] |= static_cast<std::uint64_t>(bits);
        }
    }
    for (std::uint32_t k = 0; k < count; ++k) {
        head[k] = __builtin_bswap64(head[k]);
        tail[k] = __builtin_bswap64(tail[k]);
    }
}

}  // namespace volley::packet
