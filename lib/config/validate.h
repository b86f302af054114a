#pragma once

#include "config/decoder.h"
#include "config/model.h"
#include "config/node.h"

namespace volley::config {

/// Checks that no single key can see: names, references, lcores, packets as they are built, rates and sizes.
/// Checks whose ground did not decode are left out, so that one slip is told once.
void check(Decoder& decoder, const Node& root, const Model& model);

}  // namespace volley::config
