#pragma once

#include <string>

#include "config/node.h"
#include "config/problem.h"

namespace volley::config {

/// Applies "/json/pointer=value" to the tree: the value is JSON, else taken as a text. Missing object members
/// on the way are made; "-" or an array's length appends. What is wrong goes to `problems`, with "--set" as
/// its file.
void apply_edit(Node& root, const std::string& edit, Problems& problems);

}  // namespace volley::config
