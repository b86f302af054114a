#pragma once

#include <string>

#include "packet/fields.h"
#include "packet/model.h"

namespace volley::packet {

/// A value as people write it: "10.0.0.1", "2001:db8::1" (RFC 5952), "02:00:00:00:00:01", "syn,ack" or a
/// number.
std::string to_text(FieldType type, Value value);

}  // namespace volley::packet
