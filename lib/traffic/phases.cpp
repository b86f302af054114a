#include "traffic/phases.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

namespace volley::traffic {
namespace {

struct Gap {
    Tsc width;
    Tsc from;
    // The widest first; of equal ones the earliest.
    bool operator<(const Gap& other) const {
        return std::tie(width, other.from) < std::tie(other.width, from);
    }
};

// 0, 1/2, 1/4, 3/4, 1/8, …: every prefix is spread about evenly over [0, 1).
double van_der_corput(std::size_t i) {
    double value = 0;
    double digit = 0.5;
    for (; i != 0; i >>= 1, digit /= 2) {
        if (i & 1) value += digit;
    }
    return value;
}

// (at + add) mod period, for a period that need not be whole ticks.
Tsc wrapped(Tsc at, const PhaseSeat& seat) {
    const Uint128 period = seat.interval.num * seat.burst;
    return static_cast<Tsc>(static_cast<Uint128>(at) * seat.interval.den % period / seat.interval.den);
}

void seat_evenly(std::span<PhaseSeat*> group, double period, double offset) {
    const double spacing = period / static_cast<double>(group.size());
    for (std::size_t i = 0; i < group.size(); ++i) {
        group[i]->phase = static_cast<Tsc>(offset + spacing * static_cast<double>(i));
    }
}

// Positions on the common grid of period ticks; those that are running hold theirs.
void seat_between(std::span<PhaseSeat*> group, Tsc period) {
    std::vector<Tsc> taken;
    for (const PhaseSeat* seat : group) {
        if (seat->kept) taken.push_back(wrapped(seat->start + seat->phase, *seat));
    }
    std::sort(taken.begin(), taken.end());
    std::priority_queue<Gap> gaps;
    for (std::size_t i = 0; i < taken.size(); ++i) {
        const bool last = i + 1 == taken.size();
        gaps.push({(last ? taken[0] + period : taken[i + 1]) - taken[i], taken[i]});
    }
    for (PhaseSeat* seat : group) {
        if (seat->kept) continue;
        const Gap widest = gaps.top();
        gaps.pop();
        const Tsc half = widest.width / 2;
        gaps.push({half, widest.from});
        gaps.push({widest.width - half, widest.from + half});
        const Tsc position = (widest.from + half) % std::max<Tsc>(period, 1);
        const Tsc start = wrapped(seat->start, *seat);
        seat->phase = position >= start ? position - start : position + period - start;
    }
}

}  // namespace

void assign_phases(std::span<PhaseSeat> seats) {
    using Key = std::tuple<Uint128, std::uint64_t, std::uint32_t, std::uint64_t, bool>;
    std::map<Key, std::size_t> index;
    std::vector<std::vector<PhaseSeat*>> groups;  // in order of their first stream
    double bursts_per_tick = 0;
    for (PhaseSeat& seat : seats) {
        const Key key{seat.interval.num, seat.interval.den, seat.burst, seat.delay_ns, seat.placed};
        const auto [found, fresh] = index.emplace(key, groups.size());
        if (fresh) groups.emplace_back();
        groups[found->second].push_back(&seat);
        bursts_per_tick += 1 / (approximate(seat.interval) * seat.burst);
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
        std::vector<PhaseSeat*>& group = groups[g];
        const double period = approximate(group[0]->interval) * group[0]->burst;
        if (std::any_of(group.begin(), group.end(), [](const PhaseSeat* seat) { return seat->kept; })) {
            seat_between(group, static_cast<Tsc>(std::min(period, 1e18)));
        } else {
            const double spacing = period / static_cast<double>(group.size());
            const double most = 8 * static_cast<double>(g) / bursts_per_tick;
            seat_evenly(group, period, group[0]->placed ? 0 : std::min(van_der_corput(g) * spacing, most));
        }
    }
}

}  // namespace volley::traffic
