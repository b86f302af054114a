#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "packet/fields.h"
#include "packet/model.h"

namespace volley::packet {

/// What a field holds when neither the operator nor its neighbours say otherwise. A field without one is
/// zero.
struct Default {
    HeaderKind header;
    std::string_view field;
    Value value;
};

std::span<const Default> field_defaults();
std::optional<Value> default_of(HeaderKind header, std::string_view field);

}  // namespace volley::packet
