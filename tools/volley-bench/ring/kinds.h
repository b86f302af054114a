#pragma once

#include <string>
#include <vector>

#include "volley-bench/ring/runs.h"

namespace volley::bench {

/// Who may be on a side at once.
enum class Sharing { spsc, spmc, mpmc };

/// A queue with all that can be measured of it. The functions are instances of the templates in runs.h.
struct RingKind {
    std::string name;
    Sharing sharing = Sharing::spsc;
    std::string thread_name;  ///< as the 2016 thread calls it, for --kernel-format
    double (*same_cpu)(const PairSpec&) = nullptr;
    PairRun (*pair)(const PairSpec&) = nullptr;
    double (*near_empty)(const PairSpec&) = nullptr;
    double (*one_way)(const PairSpec&) = nullptr;
    double (*empty_poll)(const PairSpec&) = nullptr;
    double (*shared)(const PairSpec&, unsigned threads) = nullptr;  ///< mpmc only
};

const std::vector<RingKind>& ring_kinds();

}  // namespace volley::bench
