#pragma once

#include "config/model.h"

namespace volley::config {

/// Adds for each stream with `reverse` the stream of the other direction behind all others: NAME.reverse,
/// from that port, every source and destination exchanged. Both have one place in the file.
void add_reversed_streams(Model& model);

}  // namespace volley::config
