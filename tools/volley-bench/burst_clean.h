#pragma once

#include <vector>

#include "volley-bench/burst.h"

namespace volley::bench {

/// The second axis of a burst: descriptors that the NIC has sent come back when it reports them and the
/// driver looks, by the size of the ring and the driver's free threshold. On the soft 82599 in plain mode,
/// where reports come by a simulated clock, so rates and counts are exact; empty for any other device. The
/// EAL must be up and no port open on the device.
std::vector<Table> clean_up_tables(const BurstOptions& options);

}  // namespace volley::bench
