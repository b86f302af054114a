#pragma once

#include <string_view>

namespace volley::service {

/// conf/volley.schema.json, as it was when this was built.
std::string_view configuration_schema();

}  // namespace volley::service
