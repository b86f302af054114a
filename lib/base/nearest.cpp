#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

namespace volley {
namespace {

std::string folded(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c != '_' && c != '-')
            out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
    return out;
}

std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
        }
    }
    return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
    const std::string wanted = folded(word);
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(2, wanted.size() / 3) + 1;
    for (const std::string_view candidate : candidates) {
        const std::string name = folded(candidate);
        const std::size_t d = distance(wanted, name);
        if (d < best_distance && d < std::max(name.size(), wanted.size())) {
            best_distance = d;
            best = candidate;
        }
    }
    return best;
}

}  // namespace volley
