#pragma once

#include <cstdint>

#include "base/int128.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace volley {

/// Ticks of the invariant time-stamp counter. All schedules are kept in it; 2^64 ticks at 4 GHz are 146
/// years.
using Tsc = std::uint64_t;

/// Reads the counter without serialising: about 25 cycles on bare metal, more in a guest, so once a turn, not
/// once a packet.
inline Tsc tsc_now() noexcept {
    return __rdtsc();
}

/// Ticks per second of the counter, from the CPU or measured once against CLOCK_MONOTONIC_RAW for 50 ms.
/// Thread-safe; the first call may take those 50 ms.
std::uint64_t tsc_hz();

/// Ticks to nanoseconds by one multiplication, exact to 1 in 2^32: TX and RX times of one machine.
class TscClock {
  public:
    TscClock() : scale_((std::uint64_t{1'000'000'000} << 32) / tsc_hz()) {}
    [[nodiscard]] std::uint64_t ns(Tsc ticks) const noexcept {
        return static_cast<std::uint64_t>((static_cast<Uint128>(ticks) * scale_) >> 32);
    }

  private:
    std::uint64_t scale_;
};

}  // namespace volley
