#pragma once

#include "config/decoder.h"
#include "config/model.h"
#include "config/node.h"

namespace volley::config {

/// What the time lines of streams have to agree on: chains, ends, and what does not go with what.
void check_schedule(Decoder& decoder, const Node& root, const Model& model);

}  // namespace volley::config
