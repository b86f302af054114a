#include <sstream>

#include "base/markup.h"
#include "volleyctl/result.h"

namespace volley::ctl {
namespace {

using nlohmann::json;

// RFC 4180; a leading = + - @ would be a formula to a spreadsheet.
std::string csv_text(const std::string& text) {
    const bool formula = !text.empty() && std::string("=+-@").find(text.front()) != std::string::npos;
    std::string out = formula ? "\"'" : "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

std::string csv_value(const json& from, const char* pointer) {
    const json::json_pointer at(pointer);
    if (!from.contains(at) || from.at(at).is_null()) return "";
    const json& value = from.at(at);
    return value.is_string() ? csv_text(value.get<std::string>()) : value.dump();
}

constexpr std::pair<const char*, const char*> columns[] = {
    {"tx_packets", "/tx/packets"},
    {"tx_l2_bytes", "/tx/l2_bytes"},
    {"tx_pps", "/tx/pps"},
    {"tx_l1_bps", "/tx/l1_bps"},
    {"target_pps", "/target_pps"},
    {"rate_error_ppm", "/rate_error_ppm"},
    {"shortfall_packets", "/shortfall_packets"},
    {"lateness_p50_ns", "/lateness_ns/p50"},
    {"lateness_p99_ns", "/lateness_ns/p99"},
    {"lateness_max_ns", "/lateness_ns/max"},
    {"rx_packets", "/rx/packets"},
    {"lost", "/rx/lost"},
    {"duplicates", "/rx/duplicates"},
    {"reordered", "/rx/reordered"},
    {"corrupted", "/rx/corrupted"},
    {"loss_duration_ns", "/rx/loss_duration_ns"},
    {"latency_p50_ns", "/rx/latency_ns/p50"},
    {"latency_p99_ns", "/rx/latency_ns/p99"},
    {"latency_max_ns", "/rx/latency_ns/max"},
    {"jitter_ns", "/rx/jitter_ns"},
};

void append_rows(std::string& out, const char* kind, const json& rows) {
    for (const json& row : rows) {
        out += std::string(kind) + "," + csv_text(row.value("name", ""));
        for (const auto& [name, pointer] : columns) out += "," + csv_value(row, pointer);
        out += "\n";
    }
}

}  // namespace

std::string result_csv(const Result& result) {
    std::string out = "kind,name";
    for (const auto& [name, pointer] : columns) out += std::string(",") + name;
    out += "\n";
    const json report = result.at("report");
    append_rows(out, "port", report.at("ports"));
    append_rows(out, "stream", report.at("streams"));
    return out;
}

std::string result_junit(const Result& result) {
    const json report = result.at("report");
    const double seconds = report.value("duration_ns", 0.0) / 1e9;
    std::vector<Verdict> verdicts = judge(result);
    if (verdicts.empty())
        verdicts.push_back(
            {"run", "settled", report.value("settled", false), "the run settled before its report"});
    std::size_t failures = 0;
    std::ostringstream cases;
    for (const Verdict& verdict : verdicts) {
        cases << "  <testcase classname=\"" << markup_text(verdict.stream) << "\" name=\""
              << verdict.expectation << "\" time=\"" << seconds << "\"";
        if (verdict.met) {
            cases << "/>\n";
            continue;
        }
        ++failures;
        cases << ">\n    <failure message=\"" << markup_text(verdict.text) << "\"/>\n  </testcase>\n";
    }
    std::ostringstream out;
    out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\""
        << markup_text(report.value("run_id", "")) << "\" tests=\"" << verdicts.size() << "\" failures=\""
        << failures << "\" time=\"" << seconds << "\">\n"
        << cases.str() << "</testsuite>\n";
    return out.str();
}

}  // namespace volley::ctl
