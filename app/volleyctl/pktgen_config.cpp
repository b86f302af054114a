#include "volleyctl/pktgen_config.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

namespace volley::ctl {
namespace {

using json = nlohmann::ordered_json;

/// The number that the whole text is, if it fits 64 bits.
std::optional<std::uint64_t> number_of(std::string_view text, int base = 10) {
    std::uint64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return out;
}

/// One device's parameters as a stream; each that is used up is taken, the rest is named.
class Converter {
  public:
    Converter(imports::PktgenDevice device, std::vector<std::string>& notes)
        : device_(std::move(device)), notes_(notes) {}

    json run() {
        json stream{{"name", device_.name}, {"port", device_.name}};
        set_rate(stream);
        if (const auto count = number("count"); count.value_or(0) != 0) stream["count"] = *count;
        if (const auto burst = number("burst"); burst.value_or(0) > 1) {
            stream["burst"] = std::min<std::uint64_t>(*burst, 256);
            if (*burst > 256) note("burst " + std::to_string(*burst) + " becomes 256, the most");
        }
        stream["packet"] = packet();
        tell_rest();
        return stream;
    }

  private:
    void note(const std::string& text) { notes_.push_back(device_.name + ": " + text); }
    std::optional<std::string> take(const std::string& name) {
        const auto found = device_.parameters.find(name);
        if (found == device_.parameters.end() || found->second.empty()) return std::nullopt;
        std::string value = found->second;
        device_.parameters.erase(found);
        return value;
    }
    std::optional<std::uint64_t> number(const std::string& name) {
        const auto text = take(name);
        if (!text) return std::nullopt;
        const auto value = number_of(*text);
        if (!value) note(name + " " + *text + " is no number; left out");
        return value;
    }
    bool flag(const std::string& name) { return device_.flags.erase(name) != 0; }

    void set_rate(json& stream) {
        const auto delay = number("delay");
        const auto rate = number("rate");
        const auto pps = number("ratep");
        stream["rate"] = "max";
        const char* const held = pps.value_or(0) != 0 ? "ratep" : rate.value_or(0) != 0 ? "rate" : "delay";
        for (const auto& [name, value] : {std::pair{"delay", delay}, {"rate", rate}}) {
            if (value.value_or(0) != 0 && std::string_view(name) != held)
                note(std::string(name) + " " + std::to_string(*value) + " gives way to " + held);
        }
        if (delay.value_or(0) != 0) {
            std::ostringstream text;
            text << 1e9 / static_cast<double>(*delay);
            stream["rate"] = text.str() + "pps";
            if (text.str().find('e') != std::string::npos) {
                stream["rate"] = std::to_string(std::max<std::uint64_t>(1'000'000'000 / *delay, 1)) + "pps";
            }
        }
        if (rate.value_or(0) != 0) stream["rate"] = packets_of(*rate);
        if (pps.value_or(0) != 0) stream["rate"] = std::to_string(*pps) + "pps";
    }

    /// pktgen turns Mbit/s into a delay by its least size, which is without FCS.
    json packets_of(std::uint64_t megabits) {
        std::uint64_t bytes = 60;
        for (const char* name : {"pkt_size", "min_pkt_size"}) {
            const auto found = device_.parameters.find(name);
            if (found != device_.parameters.end()) bytes = number_of(found->second).value_or(bytes);
        }
        const double pps =
            static_cast<double>(megabits) * 1e6 / 8 / static_cast<double>(std::max<std::uint64_t>(bytes, 42));
        return std::to_string(std::llround(std::max(pps, 1.0))) + "pps";
    }

    /// A range that steps, or is drawn with the flag; "" when neither end is given.
    json range(const std::string& low, const std::string& high, const std::string& random_flag,
               std::uint64_t every) {
        const auto from = take(low);
        const auto to = take(high);
        const bool drawn = flag(random_flag);
        if (!from && !to) return nullptr;
        const auto value = [](const std::string& text) -> json {
            const auto parsed = number_of(text);
            return parsed ? json(*parsed) : json(text);
        };
        json first = value(from.value_or(*to));
        const json last = value(to.value_or(*from));
        if (first == last) return first;
        json bounds{{"from", first}, {"to", last}};
        if (every > 1) bounds["every"] = every;
        return json{{drawn ? "random" : "increment", bounds}};
    }

    json mac(const std::string& name, const std::string& other, const std::string& count,
             const std::string& random_flag) {
        auto first = take(name);
        if (!first) first = take(other);
        const auto values = number(count);
        const bool drawn = flag(random_flag);
        if (!first && values) note(count + " " + std::to_string(*values) + " has no effect without " + name);
        if (!first) return nullptr;
        if (values.value_or(0) < 2) return *first;
        std::string digits = *first;
        std::erase(digits, ':');
        const auto value = number_of(digits, 16);
        if (digits.size() != 12 || !value) return *first;
        std::ostringstream last;
        last << "0x" << std::hex << *value + *values - 1;
        return json{{drawn ? "random" : "increment", {{"from", *first}, {"to", last.str()}}}};
    }

    json tag(const std::string& prefix, const char* tpid) {
        const auto id = number(prefix + "_id");
        const auto priority = number(prefix + "_p");
        const auto dei = number(prefix + "_cfi");
        if (id && *id > 4095)
            note(prefix + "_id " + std::to_string(*id) +
                 " is above 4095, which takes the tag away; left out");
        if (!id && (priority || dei)) note(prefix + "_p and _cfi have no effect without " + prefix + "_id");
        if (!id || *id > 4095) return nullptr;
        json out{{"id", *id}};
        if (tpid != nullptr) out["tpid"] = tpid;
        if (priority) out["pcp"] = *priority;
        if (dei) out["dei"] = *dei;
        return json{{"vlan", out}};
    }

    json weighted(const std::string& mix) {
        json sizes = json::array();
        std::istringstream text(mix);
        for (std::string entry; text >> entry;) {
            const std::size_t comma = std::min(entry.find(','), entry.size() - 1);
            const auto bytes = number_of(std::string_view(entry).substr(0, comma));
            const auto weight = number_of(std::string_view(entry).substr(comma + 1));
            if (bytes && weight) {
                if (*bytes < 60) note("imix_weights " + entry + " becomes 60 bytes, the least that is sent");
                sizes.push_back({{"size", std::max<std::uint64_t>(*bytes, 60) + 4}, {"weight", *weight}});
            } else {
                note("imix_weights " + entry + " is no size and weight; left out");
            }
        }
        return sizes;
    }

    json size(bool ipv6) {
        const std::uint64_t least = ipv6 ? 62 : 60;  // headers of IPv6 and UDP; what Ethernet pads to
        const auto fixed = number("pkt_size");
        const auto low = number("min_pkt_size");
        const auto high = number("max_pkt_size");
        const bool drawn = flag("TXSIZE_RND");
        if (const auto mix = take("imix_weights")) {
            for (const auto& [name, value] :
                 {std::pair{"pkt_size", fixed}, {"min_pkt_size", low}, {"max_pkt_size", high}}) {
                if (value)
                    note(std::string(name) + " " + std::to_string(*value) + " gives way to imix_weights");
            }
            return json{{"weighted", weighted(*mix)}};
        }
        for (const auto& [name, value] :
             {std::pair{"pkt_size", fixed}, {"min_pkt_size", low}, {"max_pkt_size", high}}) {
            if (value && *value < least)
                note(std::string(name) + " " + std::to_string(*value) + " becomes " + std::to_string(least) +
                     ", the least that is sent");
        }
        const std::uint64_t from = std::max<std::uint64_t>(low.value_or(fixed.value_or(60)), least) + 4;
        const std::uint64_t to = std::max<std::uint64_t>(high.value_or(fixed.value_or(60)), least) + 4;
        if (from >= to) return from;
        return json{{drawn ? "random" : "increment", {{"from", from}, {"to", to}}}};
    }

    json packet() {
        const auto length = number("flowlen").value_or(1);
        const auto flows = number("flows");
        const bool ipv6 =
            flag("IPV6") || device_.parameters.contains("dst6") || device_.parameters.contains("dst6_min");
        json out{{"frame_size", size(ipv6)}};
        if (flows.value_or(0) != 0) out["flows"] = *flows;
        if (flows && !flag("FLOW_SEQ")) note("flows are taken in turn, not at random");
        json eth = json::object();
        const auto set = [](json& header, const char* name, const json& value) {
            if (!value.is_null()) header[name] = value;
        };
        set(eth, "dst", mac("dst_mac", "dstmac", "dst_mac_count", "MACDST_RND"));
        set(eth, "src", mac("src_mac", "srcmac", "src_mac_count", "MACSRC_RND"));
        json headers = json::array({json{{"eth", eth}}});
        for (const json& one : {tag("svlan", "0x88a8"), tag("vlan", nullptr)}) {
            if (!one.is_null()) headers.push_back(one);
        }
        if (const auto labels = take("mpls"); labels && *labels != "0") {
            std::istringstream text(*labels);
            for (std::string label; std::getline(text, label, ',');) {
                const auto word = number_of(label, 16);
                if (!word || *word >> 32U != 0) {
                    note("mpls " + label + " is no label of 8 hexadecimal digits; left out");
                    continue;
                }
                headers.push_back(
                    json{{"mpls", {{"label", *word >> 12U}, {"tc", *word >> 9U & 7}, {"ttl", *word & 255}}}});
            }
        }
        json ip = json::object();
        set(ip, "src",
            ipv6 ? range("src6", "src6", "IPSRC_RND", length)
                 : range("src_min", "src_max", "IPSRC_RND", length));
        const std::string first = ipv6 ? (device_.parameters.contains("dst6") ? "dst6" : "dst6_min")
                                       : (device_.parameters.contains("dst") ? "dst" : "dst_min");
        set(ip, "dst", range(first, ipv6 ? "dst6_max" : "dst_max", "IPDST_RND", length));
        const auto hex_byte = [&](const char* name) -> std::optional<std::uint64_t> {
            const auto text = take(name);
            const auto value = number_of(text.value_or(""), 16);
            if (value && *value <= 0xff) return value;
            if (text) note(name + (" " + *text) + " is no byte of two hexadecimal digits; left out");
            return std::nullopt;
        };
        const auto tos = hex_byte("tos");
        const auto traffic_class = hex_byte("traffic_class");
        if (tos && ipv6) note("tos has no effect with IPv6; traffic_class has");
        if (traffic_class && !ipv6) note("traffic_class has no effect with IPv4; tos has");
        if (tos && !ipv6) {
            ip["dscp"] = *tos >> 2U;
            ip["ecn"] = *tos & 3U;
        }
        if (traffic_class && ipv6) ip["traffic_class"] = *traffic_class;
        headers.push_back(json{{ipv6 ? "ipv6" : "ipv4", ip}});
        json udp{{"src", 9}, {"dst", 9}};
        set(udp, "src", range("udp_src_min", "udp_src_max", "UDPSRC_RND", length));
        set(udp, "dst", range("udp_dst_min", "udp_dst_max", "UDPDST_RND", length));
        if (!flag("UDPCSUM") && !ipv6) udp["checksum"] = 0;
        headers.push_back(json{{"udp", udp}});
        out["headers"] = std::move(headers);
        return out;
    }

    void tell_rest() {
        device_.flags.erase("NO_TIMESTAMP");
        device_.parameters.erase("debug");
        device_.parameters.erase("clear_counters");
        if (take("clone_skb").value_or("0") != "0")
            note("clone_skb is not needed: packets are stamped, not built anew");
        if (const auto mode = take("xmit_mode"); mode && *mode != "start_xmit")
            note("xmit_mode " + *mode + " has no equivalent: Volley sends through its own driver");
        for (const auto& [name, value] : device_.parameters) {
            std::string text = name;
            if (value.empty()) {
                note(text.append(" is empty (its variable was not set); left out"));
            } else {
                note(text.append(" ").append(value).append(" has no equivalent"));
            }
        }
        for (const std::string& name : device_.flags) note("flag " + name + " has no equivalent");
    }

    imports::PktgenDevice device_;
    std::vector<std::string>& notes_;
};

}  // namespace

json pktgen_config(imports::PktgenScript& script) {
    json ports = json::array();
    json streams = json::array();
    unsigned lcore = 2;
    for (imports::PktgenDevice& device : script.devices) {
        if (device.name.empty()) device.name = "dev";
        ports.push_back({{"name", device.name},
                         {"device", "net_af_packet" + std::to_string(lcore - 2) + ",iface=" + device.name},
                         {"tx", {{"lcores", {lcore++}}}}});
        streams.push_back(Converter(device, script.notes).run());
    }
    return json{{"version", 1}, {"ports", ports}, {"streams", streams}};
}

}  // namespace volley::ctl
