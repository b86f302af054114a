#pragma once

#include <cstdint>
#include <ctime>

namespace volley {

/// Nanoseconds of one of the system's clocks, such as CLOCK_MONOTONIC; any thread (clock_gettime(2)).
inline std::uint64_t clock_ns(clockid_t clock) noexcept {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace volley
