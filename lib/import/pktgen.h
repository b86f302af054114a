#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/error.h"

namespace volley::imports {

/// What a script sets of one device of the kernel's packet generator.
struct PktgenDevice {
    std::string name;
    std::map<std::string, std::string> parameters;  ///< "pkt_size" → "60"; the last one holds
    std::set<std::string> flags;                    ///< in force at the end
};

struct PktgenScript {
    std::vector<PktgenDevice> devices;  ///< in the order of their first mention
    std::vector<std::string> notes;     ///< "LINE: what was not understood"
};

/// Reads the pgset, pg_set and echo lines of a script for the kernel's pktgen, with its variables, defaults
/// (`[ -z "$X" ] && X=… || X=…`, `${X:-…}`, `read … <<< $(parse_addr …)`), tests and `if`; nothing is
/// executed. Loops are read once, with their variable as it begins. variables: what the sample scripts'
/// options set (DEV, PKT_SIZE, …). Throws Error when no device is set up.
PktgenScript parse_pktgen(std::string_view text, std::map<std::string, std::string> variables);

}  // namespace volley::imports
