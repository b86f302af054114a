#pragma once

#include <cstdint>

namespace volley {

/// How the counter has run since tsc_hz() was measured.
struct TscDrift {
    std::uint64_t span_ns = 0;  ///< of CLOCK_MONOTONIC_RAW, since then
    double ppm = 0;             ///< above 0: faster than tsc_hz() says. Off by at most about 0.1 s / span.
};
/// Looks at both clocks again; takes a few microseconds. Thread-safe.
TscDrift tsc_drift();

}  // namespace volley
