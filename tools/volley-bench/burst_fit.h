#pragma once

#include <cstddef>
#include <vector>

namespace volley::bench {

/// Cost of a packet in a burst of b: a + d / b.
struct Fit {
    double a = 0;
    double d = 0;
};

/// By least squares over 1 / b. As many costs as bursts; one burst size alone tells no d.
inline Fit fit_burst(const std::vector<double>& bursts, const std::vector<double>& costs) {
    const auto n = static_cast<double>(bursts.size());
    double x = 0;
    double y = 0;
    double xx = 0;
    double xy = 0;
    for (std::size_t i = 0; i < bursts.size(); ++i) {
        const double inverse = 1 / bursts[i];
        x += inverse;
        y += costs[i];
        xx += inverse * inverse;
        xy += inverse * costs[i];
    }
    const double spread = n * xx - x * x;
    if (bursts.size() < 2 || spread <= 0) return {bursts.empty() ? 0 : y / n, 0};
    const double d = (n * xy - x * y) / spread;
    return {(y - d * x) / n, d};
}

}  // namespace volley::bench
