#include "soft82599/options.h"

#include <charconv>
#include <map>
#include <stdexcept>

namespace volley::soft82599 {
namespace {

using Setter = void (*)(Options&, std::string_view value);

[[noreturn]] void refuse(std::string_view value, std::string_view use) {
    throw std::invalid_argument("\"" + std::string(value) + "\" (use " + std::string(use) + ")");
}

template <class T>
T one_of(std::string_view value, std::initializer_list<std::pair<std::string_view, T>> choices) {
    std::string use;
    for (const auto& [name, result] : choices) {
        if (name == value) return result;
        use += (use.empty() ? "" : " or ") + std::string(name);
    }
    refuse(value, use);
}

bool flag(std::string_view value) {
    return one_of<bool>(value, {{"0", false}, {"1", true}});
}

MacAddress parse_mac(std::string_view value) {
    MacAddress mac{};
    for (std::size_t i = 0; i < mac.size(); ++i) {
        const std::size_t at = 3 * i;
        const bool separated = i == 0 || (at <= value.size() && value[at - 1] == ':');
        if (value.size() != 17 || !separated) refuse(value, "six bytes such as 02:1b:21:82:99:00");
        const auto end = std::from_chars(value.data() + at, value.data() + at + 2, mac[i], 16);
        if (end.ec != std::errc{} || end.ptr != value.data() + at + 2) refuse(value, "hexadecimal bytes");
    }
    if ((mac[0] & 1) != 0) refuse(value, "a unicast address");
    return mac;
}

const std::map<std::string_view, Setter>& setters() {
    static const std::map<std::string_view, Setter> table{
        {"id",
         [](Options& o, std::string_view v) {
             o.id = one_of<DeviceId>(v, {{"10fb", DeviceId::sfp}, {"10f7", DeviceId::kx4}});
         }},
        {"mode",
         [](Options& o, std::string_view v) {
             o.mode = one_of<Mode>(
                 v, {{"trap", Mode::trap}, {"virtual", Mode::virtual_time}, {"plain", Mode::plain}});
         }},
        {"peer", [](Options& o, std::string_view v) { o.peer = v; }},
        {"loop", [](Options& o, std::string_view v) { o.loop = flag(v); }},
        {"link",
         [](Options& o, std::string_view v) {
             o.link_up = one_of<bool>(v, {{"up", true}, {"down", false}});
         }},
        {"sfp",
         [](Options& o, std::string_view v) {
             o.module_present = one_of<bool>(v, {{"present", true}, {"absent", false}});
         }},
        {"lossless", [](Options& o, std::string_view v) { o.lossless = flag(v); }},
        {"pcap", [](Options& o, std::string_view v) { o.pcap = v; }},
        {"mac", [](Options& o, std::string_view v) { o.mac = parse_mac(v); }},
        {"limiter_overhead",
         [](Options& o, std::string_view v) {
             o.limiter_overhead = one_of<unsigned>(v, {{"4", 4U}, {"24", 24U}});
         }},
    };
    return table;
}

}  // namespace

Options parse_options(std::string_view text) {
    Options options;
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        const std::size_t equals = item.find('=');
        const std::string_view key = item.substr(0, equals);
        const auto setter = setters().find(key);
        if (setter == setters().end() || equals == std::string_view::npos) {
            std::string names;
            for (const auto& [name, unused] : setters())
                names += (names.empty() ? "" : ", ") + std::string(name);
            throw std::invalid_argument("unknown option \"" + std::string(item) + "\" (use KEY=VALUE with " +
                                        names + ")");
        }
        try {
            setter->second(options, item.substr(equals + 1));
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(std::string(key) + ": " + error.what());
        }
    }
    if (options.loop && !options.peer.empty()) {
        throw std::invalid_argument("loop=1 and peer=" + options.peer + " exclude each other");
    }
    return options;
}

unsigned port_number(std::string_view vdev_name) {
    constexpr std::string_view prefix = "net_soft82599_";
    unsigned number = 32;
    if (vdev_name.starts_with(prefix)) {
        const std::string_view digits = vdev_name.substr(prefix.size());
        const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (end.ec != std::errc{} || end.ptr != digits.data() + digits.size()) number = 32;
    }
    if (number > 31) {
        throw std::invalid_argument("\"" + std::string(vdev_name) +
                                    "\" (name the device net_soft82599_0 to net_soft82599_31)");
    }
    return number;
}

}  // namespace volley::soft82599
