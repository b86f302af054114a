#pragma once

#include <cstdint>
#include <vector>

#include "telemetry/snapshot.h"

namespace volley::telemetry {

/// What a stream's receivers say of the run. Rates are not filled in. With final, the packets that nothing
/// has followed count as lost too: no packet is under way any more.
StreamRxView rx_view(const StreamRxTotals& base, const StreamRxTotals& now, bool final);

/// Differences of two readings of buckets; the result is as long as `now`.
std::vector<std::uint64_t> buckets_since(const std::vector<std::uint64_t>& base,
                                         const std::vector<std::uint64_t>& now);

}  // namespace volley::telemetry
