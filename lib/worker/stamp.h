#pragma once

#include <rte_mempool.h>

#include <cstdint>

#include "traffic/burst.h"

struct rte_mbuf;

namespace volley::worker {

/// Takes burst.count buffers from the pool and makes them packets first_index.. of the burst's template,
/// ready for rte_eth_tx_burst. id_offset: content_id_offset(). lengths[k] is written when the template's
/// lengths vary, otherwise left alone. Returns false, with nothing taken, when the pool has too few. Pure
/// packet work: no counters.
bool stamp(const traffic::TemplateBurst& burst, rte_mempool* pool, int id_offset, rte_mbuf** out,
           std::uint16_t* lengths) noexcept;

}  // namespace volley::worker
