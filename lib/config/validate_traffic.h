#pragma once

#include "config/decoder.h"
#include "config/model.h"
#include "config/node.h"

namespace volley::config {

/// Builds every stream's packet, tells what the builder finds at its place in the file, and checks sizes
/// against the ports' MTU and rates against their speed. Streams whose packet did not decode are left out.
void check_traffic(Decoder& decoder, const Node& root, const Model& model);

}  // namespace volley::config
