#include "volleyctl/import_command.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "import/pktgen.h"
#include "volleyctl/offline.h"

namespace volley::ctl {
namespace {

using json = nlohmann::ordered_json;

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
        if (text->find_first_not_of("0123456789") != std::string::npos || text->size() > 18) {
            note(name + " " + *text + " is no number; left out");
            return std::nullopt;
        }
        return std::stoull(*text);
    }
    bool flag(const std::string& name) { return device_.flags.erase(name) != 0; }

    void set_rate(json& stream) {
        const auto delay = number("delay");
        const auto rate = number("rate");
        const auto pps = number("ratep");
        stream["rate"] = "max";
        if (delay.value_or(0) != 0) {
            std::ostringstream text;
            text << 1e9 / static_cast<double>(*delay);
            stream["rate"] = text.str() + "pps";
            if (text.str().find('e') != std::string::npos)
                stream["rate"] = std::to_string(1'000'000'000 / *delay) + "pps";
        }
        if (rate.value_or(0) != 0) stream["rate"] = std::to_string(*rate) + "Mbps";
        if (pps.value_or(0) != 0) stream["rate"] = std::to_string(*pps) + "pps";
    }

    /// A range that steps, or is drawn with the flag; "" when neither end is given.
    json range(const std::string& low, const std::string& high, const std::string& random_flag,
               std::uint64_t every) {
        const auto from = take(low);
        const auto to = take(high);
        const bool drawn = flag(random_flag);
        if (!from && !to) return nullptr;
        const auto value = [](const std::string& text) -> json {
            if (text.find_first_not_of("0123456789") == std::string::npos) return std::stoull(text);
            return text;
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
        if (!first) return nullptr;
        if (values.value_or(0) < 2) return *first;
        std::string digits = *first;
        std::erase(digits, ':');
        if (digits.size() != 12 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
            return *first;
        std::ostringstream last;
        last << "0x" << std::hex << std::stoull(digits, nullptr, 16) + *values - 1;
        return json{{drawn ? "random" : "increment", {{"from", *first}, {"to", last.str()}}}};
    }

    json tag(const std::string& prefix, const char* tpid) {
        const auto id = number(prefix + "_id");
        const auto priority = number(prefix + "_p");
        const auto dei = number(prefix + "_cfi");
        if (!id || *id > 4095) return nullptr;
        json out{{"id", *id}};
        if (tpid != nullptr) out["tpid"] = tpid;
        if (priority) out["pcp"] = *priority;
        if (dei) out["dei"] = *dei;
        return json{{"vlan", out}};
    }

    json size(bool ipv6) {
        const std::uint64_t least = ipv6 ? 62 : 60;  // headers of IPv6 and UDP; what Ethernet pads to
        const auto fixed = number("pkt_size");
        const auto low = number("min_pkt_size");
        const auto high = number("max_pkt_size");
        const bool drawn = flag("TXSIZE_RND");
        if (const auto mix = take("imix_weights")) {
            json sizes = json::array();
            std::istringstream text(*mix);
            for (std::string entry; text >> entry;) {
                const std::size_t comma = entry.find(',');
                if (comma == std::string::npos) continue;
                const auto bytes = std::max(42UL, std::stoul("0" + entry.substr(0, comma)));
                sizes.push_back({{"size", std::max(bytes + 4, 64UL)},
                                 {"weight", std::stoul("0" + entry.substr(comma + 1))}});
            }
            return json{{"weighted", sizes}};
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
                const auto word = std::stoul(
                    "0" + label.substr(0, label.find_first_not_of("0123456789abcdefABCDEF")), nullptr, 16);
                headers.push_back(
                    json{{"mpls",
                          {{"label", word >> 12U & 0xfffff}, {"tc", word >> 9U & 7}, {"ttl", word & 255}}}});
            }
        }
        json ip = json::object();
        set(ip, "src",
            ipv6 ? range("src6", "src6", "IPSRC_RND", length)
                 : range("src_min", "src_max", "IPSRC_RND", length));
        const std::string first = ipv6 ? (device_.parameters.contains("dst6") ? "dst6" : "dst6_min")
                                       : (device_.parameters.contains("dst") ? "dst" : "dst_min");
        set(ip, "dst", range(first, ipv6 ? "dst6_max" : "dst_max", "IPDST_RND", length));
        const auto hex_byte = [&](const char* name) -> std::optional<unsigned long> {
            const auto text = take(name);
            if (!text || text->find_first_not_of("0123456789abcdefABCDEF") != std::string::npos ||
                text->size() > 2)
                return std::nullopt;
            return std::stoul(*text, nullptr, 16);
        };
        if (const auto tos = hex_byte("tos"); tos && !ipv6) {
            ip["dscp"] = *tos >> 2U;
            ip["ecn"] = *tos & 3U;
        }
        if (const auto traffic_class = hex_byte("traffic_class"); traffic_class && ipv6)
            ip["traffic_class"] = *traffic_class;
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
            note(text.append(" ").append(value).append(" has no equivalent"));
        }
        for (const std::string& name : device_.flags) note("flag " + name + " has no equivalent");
    }

    imports::PktgenDevice device_;
    std::vector<std::string>& notes_;
};

}  // namespace

ImportCommand::ImportCommand(CLI::App& app) {
    CLI::App* verb = app.add_subcommand("import", "Turn what other generators read into a configuration");
    verb->require_subcommand(1);
    pktgen_ = verb->add_subcommand("pktgen", "A script for the kernel's packet generator");
    pktgen_->add_option("SCRIPT", script_, "Script with pgset, pg_set or echo lines")->required();
    const std::pair<const char*, const char*> options[] = {
        {"-i", "DEV"},      {"-s", "PKT_SIZE"}, {"-d", "DEST_IP"},  {"-m", "DST_MAC"},
        {"-p", "DST_PORT"}, {"-t", "THREADS"},  {"-f", "F_THREAD"}, {"-c", "CLONE_SKB"},
        {"-n", "COUNT"},    {"-b", "BURST"},    {"-w", "DELAY"}};
    for (const auto& [name, variable] : options) {
        pktgen_->add_option_function<std::string>(
            name, [this, key = std::string(variable)](const std::string& value) { options_[key] = value; },
            "As the sample scripts take it: " + std::string(variable));
    }
    pktgen_->add_flag("-6", ipv6_, "As the sample scripts take it: IPv6");
}

int ImportCommand::run() const {
    return guarded([this] { return import_pktgen(); });
}

int ImportCommand::import_pktgen() const {
    std::ifstream file(script_, std::ios::binary);
    std::stringstream text;
    if (!file || !(text << file.rdbuf())) throw imports::Error("cannot read " + script_);
    auto variables = options_;
    if (ipv6_) variables["IP6"] = "6";
    const auto port = variables.find("DST_PORT");
    if (port != variables.end()) {
        const std::size_t dash = port->second.find('-');
        variables["UDP_DST_MIN"] = port->second.substr(0, dash);
        variables["UDP_DST_MAX"] = dash == std::string::npos ? port->second : port->second.substr(dash + 1);
    }
    imports::PktgenScript script = imports::parse_pktgen(text.str(), std::move(variables));
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
    for (const std::string& note : script.notes) std::cerr << note << '\n';
    std::cerr << "the payload is zeros, without pktgen's own header (magic, sequence, time)\n";
    std::cout << json{{"version", 1}, {"ports", ports}, {"streams", streams}}.dump(2) << '\n';
    return 0;
}

}  // namespace volley::ctl
