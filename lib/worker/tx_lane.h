#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "base/tsc.h"
#include "base/units.h"
#include "worker/lane.h"
#include "worker/tx_pool.h"
#include "worker/tx_worker.h"

namespace volley::worker {

/// How far ahead of its due tick a burst may be emitted.
inline constexpr Duration horizon{200'000};

/// One TX queue of one port with everything that feeds it. Members in the order in which they need each
/// other.
struct TxLane {
    /// of_device: Port::tx_pool(), or nullptr for a pool of its own.
    TxLane(const TxWorker::Settings& settings, const std::string& name, std::uint32_t descriptors,
           std::uint32_t longest_frame, int socket, Tsc ahead, bool inline_dispatch,
           rte_mempool* of_device = nullptr)
        : pool(of_device != nullptr ? TxPool(*of_device)
                                    : TxPool("tx_" + name, descriptors, longest_frame, socket)),
          ring("ring_" + name, ring_capacity, socket),
          worker(settings, pool, ring),
          lane(ring, worker.bursts_done(), ahead, inline_dispatch) {
        worker.attach(lane, inline_dispatch);
        lane.count_in(worker.rows());
    }

    TxPool pool;
    BurstRing ring;
    TxWorker worker;
    Lane lane;
    LcoreId lcore{};
    std::uint32_t port = 0;   ///< index into the configuration's ports
    std::uint32_t index = 0;  ///< worker of that port
};

}  // namespace volley::worker
