#include <algorithm>

#include "config/key.h"
#include "config/tables.h"

namespace volley::config {

std::string_view name_of(Effect effect) {
    switch (effect) {
        case Effect::live:
            return "live";
        case Effect::next_run:
            return "next run";
        case Effect::restart:
            return "restart";
        case Effect::none:
            break;
    }
    return "none";
}

const std::vector<KeyInfo>& all_keys() {
    static const std::vector<KeyInfo> keys = [] {
        std::vector<KeyInfo> out;
        append_process_keys(out);
        append_keys(port_table(), out);
        append_keys(tx_table(), out);
        append_keys(rx_table(), out);
        append_stream_keys(out);
        append_packet_keys(out);
        append_value_keys(out);
        append_keys(telemetry_table(), out);
        append_service_keys(out);
        std::erase_if(out,
                      [](const KeyInfo& info) { return find_later(info.object, info.key.name) != nullptr; });
        return out;
    }();
    return keys;
}

const std::vector<LaterKey>& later_keys() {
    static const std::vector<LaterKey> keys{};
    return keys;
}

const LaterKey* find_later(std::string_view object, std::string_view name) {
    const auto& keys = later_keys();
    const auto at = std::find_if(keys.begin(), keys.end(), [&](const LaterKey& key) {
        return key.object == object && key.name == name;
    });
    return at == keys.end() ? nullptr : &*at;
}

}  // namespace volley::config
