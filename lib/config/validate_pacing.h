#pragma once

#include "config/decoder.h"
#include "config/model.h"

namespace volley::config {

/// Whether streams with "pacing": "hardware" can have the NIC's limiter: a device that has one, queues of
/// their own, one finite rate. What their rates are is checked with the rates.
void check_pacing(Decoder& decoder, const Node& root, const Model& model);

}  // namespace volley::config
