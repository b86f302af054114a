#pragma once

#include <optional>
#include <string>

#include "config/rows.h"
#include "config/value.h"

namespace volley::config {

/// A program while it is read, with the places that later checks point at.
struct ProgramDraft {
    const ValueSpec* spec = nullptr;
    packet::Program program;
    std::string forms;  ///< the program keys seen: "increment" and "list"
    int form_count = 0;
    std::optional<At> from;
    std::optional<At> to;
    std::optional<At> list;
};

/// Keys of a value that is an object: the programs, and what changes any program's value.
const Table<ProgramDraft>& program_table();

/// One literal of that kind of value; tells what is wrong and leaves `out` alone.
void decode_literal(Decoder& decoder, const At& at, const ValueSpec& spec, packet::Value& out);

}  // namespace volley::config
