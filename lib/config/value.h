#pragma once

#include <optional>
#include <string>

#include "config/decoder.h"
#include "config/literal.h"
#include "config/node.h"
#include "packet/model.h"

namespace volley::config {

/// What a place takes for values: a named field, the frame size or a variable.
struct ValueSpec {
    packet::FieldType type = packet::FieldType::number;
    bool untyped = false;  ///< a variable: any form of literal
    packet::Value low = 0;
    packet::Value high = 0;
    std::string name;  ///< "ipv4.ttl", for messages
};

ValueSpec spec_of(const packet::FieldInfo& field);
ValueSpec variable_spec(std::string name);
ValueSpec frame_size_spec();

/// A literal or a program with its mask, shift and add; nothing when it is wrong.
std::optional<packet::Program> decode_value(Decoder& decoder, const At& at, const ValueSpec& spec);
/// The same, but only an object with a program.
std::optional<packet::Program> decode_program(Decoder& decoder, const At& at, const ValueSpec& spec);
Node encode_value(const packet::Program& program, const ValueSpec& spec);

/// "increment", "list", …; empty for a literal.
std::string_view key_of(packet::Program::Kind kind);
/// The value of a source (variable, list entry, bound) as the program writes it: added to and shifted, not
/// masked.
packet::Value transformed(const packet::Program& program, packet::Value source);

}  // namespace volley::config
