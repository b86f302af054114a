#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "config/node.h"
#include "packet/fields.h"
#include "packet/model.h"
#include "packet/template.h"

namespace volley::config {

/// Bytes with FCS of the largest frame.
inline constexpr std::uint32_t largest_frame = packet::max_frame + fcs_bytes;
static_assert(largest_frame == 9728, "the tables of keys and the schema write it out");

/// A field's value as configuration writes it: a JSON number or "0x…" text for every type, and "10.0.0.1",
/// "2001:db8::1", "02:00:00:00:00:01" and "syn,ack" where the type is such. On failure sets `why`.
std::optional<packet::Value> parse_literal(packet::FieldType type, const Node& node, std::string& why);
/// The same for a variable, which has no type: any of the forms but flags.
std::optional<packet::Value> parse_untyped(const Node& node, std::string& why);

/// The usual form of the type: a JSON number where that is one, else packet::to_text.
Node literal_node(packet::FieldType type, packet::Value value);

/// "0xff00" or "ff 00" or "ff:00" as bytes; an odd number of digits is refused.
std::optional<std::vector<std::uint8_t>> parse_hex(std::string_view text, std::string& why);
std::string hex_text(const std::vector<std::uint8_t>& bytes);

}  // namespace volley::config
