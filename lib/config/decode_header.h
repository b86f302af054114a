#pragma once

#include <cstdint>
#include <vector>

#include "config/decoder.h"
#include "config/node.h"
#include "packet/model.h"

namespace volley::config {

/// packet.headers: an array of {"name": {fields}}; `raw` takes bytes instead of fields.
void decode_headers(Decoder& decoder, const At& at, packet::PacketModel& out);
Node encode_headers(const packet::PacketModel& packet);
/// The keys of `raw`.
void append_header_keys(std::vector<KeyInfo>& out);

/// "0xff00" as bytes, and the bytes of a text; at most a largest frame of them.
void decode_hex(Decoder& decoder, const At& at, std::vector<std::uint8_t>& out);
void decode_bytes_of_text(Decoder& decoder, const At& at, std::vector<std::uint8_t>& out);

}  // namespace volley::config
