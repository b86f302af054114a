#include <array>
#include <cstdio>
#include <string_view>

#include "telemetry/render.h"

namespace volley::telemetry {
namespace {

constexpr std::size_t line_columns = 100;
constexpr std::size_t name_columns = 12;
constexpr std::array<const char*, 7> prefixes{"", "k", "M", "G", "T", "P", "E"};

// At most `columns` characters that a terminal shows as they are: control bytes would move the cursor.
std::string printable(std::string_view text, std::size_t columns) {
    std::string out;
    std::size_t used = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool continues = (byte & 0xC0) == 0x80;
        if (!continues && ++used > columns) break;
        out.push_back(byte < 0x20 || byte == 0x7F ? '?' : c);
    }
    return out;
}

std::string fixed(double value, int decimals) {
    std::array<char, 400> text;
    const int length = std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return {text.data(), static_cast<std::size_t>(length)};
}

// The prefix under which a value has one to three digits before the point; divides the value by it.
const char* take_prefix(double& value, double& beside) {
    std::size_t i = 0;
    for (; value >= 999.9995 && i + 1 < prefixes.size(); ++i) {
        value /= 1000;
        beside /= 1000;
    }
    return prefixes[i];
}

std::string rates_text(const Rates& rates) {
    if (!rates.pps) return {};
    double packets = *rates.pps;
    double none = 0;
    const std::string packets_prefix = take_prefix(packets, none);
    double l1 = rates.l1_bps.value_or(0);
    double l2 = rates.l2_bps.value_or(0);
    const std::string bits_prefix = take_prefix(l1, l2);
    return "  " + fixed(packets, 3) + " " + packets_prefix + "pps  L1 " + fixed(l1, 3) + "  L2 " +
           fixed(l2, 3) + " " + bits_prefix + "bps";
}

// Per cent of the asked rate over the running streams of a port; none when one of them asks for all there is.
std::optional<double> per_cent_of_asked(const Snapshot& snapshot, const std::string& port) {
    if (snapshot.other || snapshot.report) return std::nullopt;
    double asked = 0;
    double achieved = 0;
    for (const StreamView& stream : snapshot.streams) {
        if (stream.port != port || stream.state != "running") continue;
        if (!stream.target_pps || !stream.tx.rates.pps) return std::nullopt;
        asked += *stream.target_pps;
        achieved += *stream.tx.rates.pps;
    }
    return asked > 0 ? std::optional(achieved / asked * 100) : std::nullopt;
}

std::string port_text(const Snapshot& snapshot, const PortView& port) {
    std::string out = printable(port.name, name_columns);
    const Traffic traffic = port.tx ? port.tx->traffic : port.rx ? port.rx->traffic : Traffic{};
    if (snapshot.report) out += "  " + std::to_string(traffic.packets) + " packets";
    if (!port.link.up && !snapshot.report)
        return out + "  DOWN " + printable(port.link.reason, line_columns / 2);
    out += rates_text(traffic.rates);
    if (const auto part = per_cent_of_asked(snapshot, port.name)) out += "  " + fixed(*part, 1) + " %";
    if (port.tx && port.tx->stalled) out += "  STALLED";
    return out;
}

std::size_t columns_of(std::string_view text) {
    std::size_t out = 0;
    for (const char c : text) out += (static_cast<unsigned char>(c) & 0xC0) == 0x80 ? 0 : 1;
    return out;
}

}  // namespace

std::string render_live(const Snapshot& snapshot) {
    std::string out = fixed(static_cast<double>(snapshot.duration_ns) / 1e9, 1) + " s  ";
    out += snapshot.report ? snapshot.settled ? "settled" : "unsettled" : printable(snapshot.state, 10);
    for (std::size_t i = 0; i < snapshot.ports.size(); ++i) {
        out += (i == 0 ? "  " : " | ") + port_text(snapshot, snapshot.ports[i]);
    }
    if (!snapshot.warnings.empty()) {
        std::string note = "  ! ";
        if (snapshot.warnings.size() > 1) note += std::to_string(snapshot.warnings.size()) + " warnings: ";
        out += note;
        const std::size_t used = columns_of(out);
        if (used < line_columns) out += printable(snapshot.warnings.front(), line_columns - used);
    }
    if (snapshot.ports.size() <= 1) out = printable(out, line_columns);
    out.push_back('\n');
    return out;
}

}  // namespace volley::telemetry
