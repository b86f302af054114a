#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace volley::config {

/// What a change of a key does to a running process when the file is reloaded.
enum class Effect : std::uint8_t {
    none,      ///< says nothing about traffic or process
    live,      ///< the next plan carries it; nothing stops
    next_run,  ///< counts from the next run on; the one that goes on keeps the old value
    restart,   ///< needs a new process
};
std::string_view name_of(Effect effect);

/// One key of the configuration: the decoder's row and the documentation's.
struct Key {
    std::string_view name;
    std::string_view type;  ///< as the documentation prints it: "integer 1..256", "duration"
    std::string_view
        standard;  ///< default as JSON; "required"; or empty when absence means something of its own
    std::string_view unit;
    Effect effect = Effect::live;
    std::string_view description;
};

/// A key that is named for a later version. It is refused unless it holds `standard`, which asks for nothing.
struct LaterKey {
    std::string_view object;
    std::string_view name;
    std::string_view standard;  ///< JSON; empty: always refused
    std::string_view description;
};

struct KeyInfo {
    std::string_view object;  ///< "", "eal", "ports[].tx", …: where the key stands
    Key key;
};

/// Every accepted key in the order of the documentation.
const std::vector<KeyInfo>& all_keys();
/// Every key that this version names but refuses.
const std::vector<LaterKey>& later_keys();
/// nullptr when there is none.
const LaterKey* find_later(std::string_view object, std::string_view name);

}  // namespace volley::config
