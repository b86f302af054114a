#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "packet/fields.h"
#include "packet/model.h"

namespace volley::packet {

/// A header's bytes before anything is filled in: versions, header lengths, flags that say which parts exist.
/// Options too long for the header come back in `why`.
std::vector<std::uint8_t> blank_header(const HeaderModel& header, std::string& why);

/// The field of `parent` that says what follows it ("type", "protocol"), or nullptr. A vlan's is its eth's.
const FieldInfo* next_field(HeaderKind parent);
/// What that field says for `child`; for nothing (no header follows) and for raw an experimental number.
std::optional<std::uint16_t> next_number(HeaderKind parent, std::optional<HeaderKind> child);
/// May `child` stand behind `parent`, which has no next field? If not, `instead` says what may.
bool carries(HeaderKind parent, HeaderKind child, std::string& instead);

/// UDP port that announces `child` (RFC 7348, RFC 8926, 3GPP TS 29.281, RFC 7510, RFC 8086, RFC 1035), or
/// nothing.
std::optional<std::uint16_t> udp_port(HeaderKind child);
/// IP protocol of a transport or IPv6 extension header; 0 for none, and for hop-by-hop options.
std::uint8_t ip_protocol(HeaderKind kind);

}  // namespace volley::packet
