#pragma once

#include <cstdint>

#include "base/ids.h"
#include "worker/rx_worker.h"

namespace volley::worker {

/// One RX queue of one port.
struct RxLane {
    RxLane(PortId id, QueueId queue) : worker(id, queue) {}

    RxWorker worker;
    LcoreId lcore{};
    std::uint32_t port = 0;   ///< index into the configuration's ports
    std::uint32_t index = 0;  ///< worker of that port
};

}  // namespace volley::worker
