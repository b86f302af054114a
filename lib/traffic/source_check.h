#pragma once

#include <string>
#include <vector>

#include "config/check.h"

namespace volley::traffic {

/// config::check_file, and the files that the configuration's streams name: each is read, and its frames must
/// fit their port. Throws nothing about content.
config::Report check_file(const std::string& path, const std::vector<std::string>& sets = {});

}  // namespace volley::traffic
