#include "volleyctl/show.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "volleyctl/daemon_commands.h"
#include "volleyctl/exit_codes.h"

namespace volley::ctl {
namespace {

using nlohmann::json;

// Rows of cells as aligned columns; the first row is the heading.
std::string table(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string out;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string blanks(widths[i] - row[i].size(), ' ');
            line += (i == 0 ? row[i] + blanks : "  " + blanks + row[i]);
        }
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
}

std::string number(const json& value) {
    if (value.is_null()) return "-";
    if (value.is_number_float()) {
        std::array<char, 48> text{};
        std::snprintf(text.data(), text.size(), "%.6g", value.get<double>());
        return text.data();
    }
    return value.dump();
}

// 1234567 -> "1.235 M".
std::string scaled(const json& value, const char* unit) {
    if (!value.is_number()) return "-";
    auto amount = value.get<double>();
    constexpr std::array prefixes{"", "k", "M", "G", "T"};
    std::size_t prefix = 0;
    while (amount >= 1000 && prefix + 1 < prefixes.size()) {
        amount /= 1000;
        ++prefix;
    }
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.4g %s%s", amount, prefixes[prefix], unit);
    return text.data();
}

std::string text_of(const json& value) {
    return value.is_string() ? value.get<std::string>() : "-";
}

// A member of a part that there may be or not.
const json& of(const json& part, const char* key) {
    static const json none;
    return part.is_object() ? part.at(key) : none;
}

bool any_receives(const json& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const json& row) { return row.at("rx").is_object(); });
}

// Columns of what is received stand where something is.
std::string ports_of(const json& ports) {
    std::vector<std::string> heading{"PORT", "DEVICE", "LINK", "TX PACKETS", "TX RATE", "TX L1", "ERRORS"};
    const bool receiving = any_receives(ports);
    if (receiving) heading.insert(heading.end(), {"RX PACKETS", "UNMATCHED", "MISSED", "RX ERRORS"});
    std::vector<std::vector<std::string>> rows{heading};
    for (const json& port : ports) {
        const json& link = port.at("link");
        const json& tx = port.at("tx");
        const json& rx = port.at("rx");
        rows.push_back({text_of(port.at("name")), text_of(port.at("device")),
                        link.at("up") == true ? scaled(link.at("speed_bps"), "bps") : "down",
                        number(of(tx, "packets")), scaled(of(tx, "pps"), "pps"),
                        scaled(of(tx, "l1_bps"), "bps"), number(of(tx, "errors"))});
        if (!receiving) continue;
        for (const char* key : {"packets", "unmatched", "missed", "errors"})
            rows.back().push_back(number(of(rx, key)));
    }
    return table(rows);
}

std::string streams_of(const json& streams) {
    std::vector<std::string> heading{"STREAM", "PORT",   "STATE",     "PACKETS",
                                     "RATE",   "TARGET", "ERROR PPM", "SHORT"};
    const bool receiving = any_receives(streams);
    if (receiving) heading.insert(heading.end(), {"RX", "LOST", "CORRUPTED"});
    std::vector<std::vector<std::string>> rows{heading};
    for (const json& stream : streams) {
        const json& tx = stream.at("tx");
        const json& rx = stream.at("rx");
        rows.push_back({text_of(stream.at("name")), text_of(stream.at("port")), text_of(stream.at("state")),
                        number(tx.at("packets")), scaled(tx.at("pps"), "pps"),
                        scaled(stream.at("target_pps"), "pps"), number(stream.at("rate_error_ppm")),
                        number(stream.at("shortfall_packets"))});
        if (!receiving) continue;
        for (const char* key : {"packets", "lost", "corrupted"}) rows.back().push_back(number(of(rx, key)));
    }
    return table(rows);
}

std::string warnings_of(const json& object) {
    std::string out;
    for (const json& warning : object.at("warnings")) out += "warning: " + text_of(warning) + "\n";
    return out;
}

// Of all streams that somebody receives; empty where nobody does.
std::string received_of(const json& streams) {
    if (!any_receives(streams)) return {};
    std::string out;
    for (const auto& [key, word] :
         {std::pair{"packets", "received "}, {"lost", ", lost "}, {"corrupted", ", corrupted "}}) {
        std::uint64_t sum = 0;
        for (const json& stream : streams) {
            const json& count = of(stream.at("rx"), key);
            if (count.is_number_unsigned()) sum += count.get<std::uint64_t>();
        }
        out += word + std::to_string(sum);
    }
    return out + "\n";
}

std::string seconds(const json& ns) {
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.3f s", ns.get<double>() / 1e9);
    return text.data();
}

}  // namespace

std::string status_text(const std::string& state, const std::string& line) {
    const json now = json::parse(state);
    std::string out = text_of(now.at("name")) + ": " + text_of(now.at("state"));
    if (!text_of(now.at("run_id")).empty())
        out += ", run " + text_of(now.at("run_id")) + ", " + seconds(now.at("duration_ns"));
    out += ", generation " + number(now.at("generation")) + ", " + number(now.at("streams")) + " streams\n";
    const json last = json::parse(line);
    return out + received_of(last.at("streams")) + ports_of(last.at("ports")) + warnings_of(now);
}

std::string ports_text(const std::string& body) {
    return ports_of(json::parse(body).at("ports"));
}

std::string streams_text(const std::string& body) {
    return streams_of(json::parse(body).at("streams"));
}

std::string xstats_text(const std::string& body) {
    std::vector<std::vector<std::string>> rows{{"PORT", "STATISTIC", "COUNT"}};
    const json answer = json::parse(body);
    for (const json& port : answer.at("ports")) {
        for (const auto& [name, count] : port.at("xstats").items())
            rows.push_back({text_of(port.at("name")), name, number(count)});
    }
    return table(rows);
}

std::string changed_text(const std::string& body) {
    const json now = json::parse(body);
    std::string out = text_of(now.at("state")) + ", generation " + number(now.at("generation"));
    if (now.contains("streams") && now.at("streams").is_array())
        out += ", " + std::to_string(now.at("streams").size()) + " streams changed";
    if (!text_of(now.at("run_id")).empty()) out += ", run " + text_of(now.at("run_id"));
    return out + "\n";
}

std::string report_text(const std::string& line) {
    const json report = json::parse(line);
    return "run " + text_of(report.at("run_id")) + ", " + seconds(report.at("duration_ns")) +
           (report.at("settled") == true ? ", settled\n" : ", NOT settled\n") + ports_of(report.at("ports")) +
           "\n" + streams_of(report.at("streams")) + warnings_of(report);
}

std::string line_text(const std::string& line) {
    const json now = json::parse(line);
    std::string out = (now.at("type") == "report" ? "report  " : "") + text_of(now.at("state")) + " " +
                      seconds(now.at("duration_ns"));
    for (const json& port : now.at("ports")) {
        if (!port.at("tx").is_object()) continue;
        out += "  " + text_of(port.at("name")) + " " + scaled(port.at("tx").at("pps"), "pps") + " L2 " +
               scaled(port.at("tx").at("l2_bps"), "bps") + " L1 " + scaled(port.at("tx").at("l1_bps"), "bps");
    }
    return out + "\n";
}

std::string error_text(const Reply& reply) {
    const json body = json::parse(reply.body, nullptr, false);
    if (!body.is_object() || !body.contains("error"))
        return "volleyctl: the daemon answers " + std::to_string(reply.status) + "\n";
    const json& error = body.at("error");
    std::string out = "volleyctl: " + text_of(error.at("message"));
    if (!text_of(error.at("hint")).empty()) out += "; " + text_of(error.at("hint"));
    out += "\n";
    if (error.contains("problems")) {
        for (const json& problem : error.at("problems"))
            out += text_of(problem.at("pointer")) + ": " + text_of(problem.at("text")) + "\n";
    }
    return out;
}

// Of the error that the daemon answers; empty where it names none.
std::string error_code(const Reply& reply) {
    const json body = json::parse(reply.body, nullptr, false);
    return body.is_object() ? body.value(json::json_pointer("/error/code"), std::string()) : std::string();
}

int exit_code_of(const Reply& reply) {
    switch (reply.status) {
        case 200:
            return 0;
        case 401:
        case 403:
            return exit_no_permission;
        case 404:
            return exit_no_input;
        case 409:
            return error_code(reply) == "needs_restart" ? exit_bad_content : exit_try_again;
        case 412:
        case 503:
            return exit_try_again;
        case 400:
        case 413:
        case 422:
            return exit_bad_content;
        default:
            return exit_internal;
    }
}

}  // namespace volley::ctl
