#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/model.h"

namespace volley::config {

/// What a reload has to do. The effect of each key stands in the table of keys (docs/configuration.md).
struct Change {
    enum class Kind : std::uint8_t {
        nothing,        ///< the same configuration, whatever its layout
        traffic_only,   ///< a new plan, or settings of the next run
        needs_restart,  ///< at least one key is wired into the process
    };
    Kind kind = Kind::nothing;
    std::vector<std::string> live;      ///< pointers in the new file that the next plan carries
    std::vector<std::string> next_run;  ///< pointers whose value counts from the next run on
    std::vector<std::string>
        restart;  ///< pointers that need a restart; a port that is gone is named in words
    bool operator==(const Change&) const = default;
};

/// Pure. Ports are matched by name, so their order says nothing.
Change classify(const Model& running, const Model& fresh);

}  // namespace volley::config
