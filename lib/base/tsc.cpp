#include "base/tsc.h"

#include "base/clock.h"
#include "base/int128.h"
#include "base/tsc_drift.h"

namespace volley {
namespace {

struct Sample {
    Tsc tsc;
    std::uint64_t ns;
};

// The pair whose two TSC reads lie closest together: a pre-emption between the clocks would otherwise be
// taken for drift.
Sample sample() {
    Sample best{};
    Tsc best_width = ~Tsc{0};
    for (int i = 0; i < 64; ++i) {
        const Tsc before = tsc_now();
        const std::uint64_t ns = clock_ns(CLOCK_MONOTONIC_RAW);
        const Tsc after = tsc_now();
        if (after - before < best_width) {
            best_width = after - before;
            best = {before + (after - before) / 2, ns};
        }
    }
    return best;
}

struct Measured {
    Sample start;
    std::uint64_t hz;
};

Measured measure() {
    const Sample start = sample();
    timespec pause{0, 50'000'000};
    nanosleep(&pause, nullptr);
    const Sample end = sample();
    const auto ticks = static_cast<Uint128>(end.tsc - start.tsc) * 1'000'000'000ULL;
    return {start, static_cast<std::uint64_t>(ticks / (end.ns - start.ns))};
}

const Measured& measured() {
    static const Measured once = measure();
    return once;
}

}  // namespace

std::uint64_t tsc_hz() {
    return measured().hz;
}

TscDrift tsc_drift() {
    const Measured& then = measured();
    const Sample now = sample();
    const std::uint64_t span = now.ns - then.start.ns;
    const double expected = static_cast<double>(span) * 1e-9 * static_cast<double>(then.hz);
    return {span, (static_cast<double>(now.tsc - then.start.tsc) / expected - 1) * 1e6};
}

}  // namespace volley
