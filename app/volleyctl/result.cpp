#include "volleyctl/result.h"

#include <sys/utsname.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/cpu.h"

namespace volley::ctl {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json environment() {
    utsname name{};
    uname(&name);
    return {{"host", name.nodename},
            {"kernel", std::string(name.sysname) + " " + name.release},
            {"cpu", cpu_model()},
            {"cpus", std::thread::hardware_concurrency()}};
}

// The value at the pointer, or null where any part of it is missing.
json value_at(const json& from, const char* pointer) {
    const json::json_pointer at(pointer);
    return from.contains(at) ? from.at(at) : json(nullptr);
}

ordered_json pick(const json& from, const std::vector<std::pair<const char*, const char*>>& parts) {
    ordered_json out;
    for (const auto& [name, pointer] : parts) out[name] = value_at(from, pointer);
    return out;
}

ordered_json sample(const json& line) {
    ordered_json out{{"time_unix_ns", line.at("time_unix_ns")}};
    for (const json& port : line.at("ports"))
        out["ports"].push_back(pick(port, {{"name", "/name"}, {"tx_pps", "/tx/pps"}, {"rx_pps", "/rx/pps"}}));
    for (const json& stream : line.at("streams")) {
        out["streams"].push_back(pick(stream, {{"name", "/name"},
                                               {"pps", "/tx/pps"},
                                               {"lateness_p50", "/lateness_ns/p50"},
                                               {"lateness_p99", "/lateness_ns/p99"},
                                               {"latency_p50", "/rx/latency_ns/p50"},
                                               {"latency_p99", "/rx/latency_ns/p99"},
                                               {"lost", "/rx/lost"}}));
    }
    return out;
}

bool is_report(const json& line) {
    return line.value("type", "") == "report";
}

// Lines of a telemetry file; what is no whole line (the writer was killed) is left out.
std::vector<json> lines_of(const std::string& text) {
    std::vector<json> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        json parsed = json::parse(line, nullptr, false);
        if (parsed.is_object() && parsed.contains("type")) out.push_back(std::move(parsed));
    }
    return out;
}

std::string number_text(const json& value) {
    if (value.is_null()) return "none";
    std::ostringstream out;
    out << value;
    return out.str();
}

const json* stream_named(const json& report, const std::string& name) {
    for (const json& stream : report.at("streams")) {
        if (stream.value("name", "") == name) return &stream;
    }
    return nullptr;
}

void judge_loss(const json& stream, const json& expected, std::vector<Verdict>& out) {
    const json lost = value_at(stream, "/rx/lost");
    const bool met = lost.is_number() && lost.get<double>() <= expected.get<double>();
    out.push_back({stream.at("name"), "loss", met,
                   "lost " + number_text(lost) + ", at most " + number_text(expected) + " expected"});
}

void judge_rate(const json& stream, const json& expected, std::vector<Verdict>& out) {
    const json error = value_at(stream, "/rate_error_ppm");
    const bool met = error.is_number() && std::abs(error.get<double>()) <= expected.get<double>();
    out.push_back(
        {stream.at("name"), "rate_error_ppm", met,
         "rate error " + number_text(error) + " ppm, at most " + number_text(expected) + " expected"});
}

}  // namespace

Result make_result(const std::vector<json>& lines, const json& config) {
    std::size_t end = lines.size();
    while (end > 0 && !is_report(lines[end - 1])) --end;
    if (end == 0) throw ResultError("no report among the lines: the run has not ended yet");
    const json& report = lines[end - 1];
    Result out{{"schema", 1},
               {"config", config},
               {"environment", environment()},
               {"versions", {{"volley", VOLLEY_VERSION}, {"telemetry_schema", report.at("schema")}}},
               {"report", report},
               {"samples", ordered_json::array()}};
    for (std::size_t i = 0; i + 1 < end; ++i) {
        if (!is_report(lines[i]) && lines[i].value("run_id", "") == report.value("run_id", ""))
            out["samples"].push_back(sample(lines[i]));
    }
    return out;
}

Result read_result(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw NoSuchFile(file + ": cannot be read: " + std::strerror(errno));
    std::ostringstream text;
    text << in.rdbuf();
    Result whole = Result::parse(text.str(), nullptr, false);
    if (whole.is_object() && whole.contains("report") && whole.contains("samples")) {
        if (whole.value("schema", 0) != 1)
            throw ResultError(file + ": schema is not 1; use the volleyctl that wrote it");
        return whole;
    }
    try {
        return make_result(lines_of(text.str()), nullptr);
    } catch (const std::exception& error) {
        throw ResultError(file + ": neither a result nor telemetry lines of a finished run: " + error.what());
    }
}

std::vector<Verdict> judge(const Result& result) {
    std::vector<Verdict> out;
    const json config = result.at("config");
    const json report = result.at("report");
    if (!config.is_object() || !config.contains("streams")) return out;
    for (const json& stream : config.at("streams")) {
        const json expect = value_at(stream, "/expect");
        const json* found = stream_named(report, stream.value("name", ""));
        if (!expect.is_object() || found == nullptr) continue;
        if (const json& loss = value_at(expect, "/loss"); loss.is_number()) judge_loss(*found, loss, out);
        if (const json& error = value_at(expect, "/rate_error_ppm"); error.is_number())
            judge_rate(*found, error, out);
    }
    return out;
}

}  // namespace volley::ctl
