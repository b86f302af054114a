#pragma once

#include <string_view>
#include <vector>

namespace volley::service {

/// A file of the dashboard, part of the program.
struct Asset {
    std::string_view path;  ///< "/", "/assets/volley.js"
    std::string_view type;
    std::string_view etag;  ///< with its quotes
    std::string_view text;
};

/// web/ as it was when this was built, and uPlot when the build had npm.
const std::vector<Asset>& assets();

}  // namespace volley::service
