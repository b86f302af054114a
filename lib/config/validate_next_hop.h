#pragma once

#include "config/decoder.h"
#include "config/model.h"
#include "config/node.h"

namespace volley::config {

/// Gateways, and streams that ask for their next hop: whom they ask for must follow from the file.
void check_next_hops(Decoder& decoder, const Node& root, const Model& model);

}  // namespace volley::config
