#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/markup.h"
#include "volleyctl/result.h"

namespace volley::ctl {
namespace {

using nlohmann::json;

constexpr double plot_width = 760;
constexpr double plot_height = 220;
constexpr double margin_left = 74;
constexpr double margin_bottom = 28;
constexpr std::size_t most_series = 12;  // of a plot; more are not told apart
constexpr std::array colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f"};

constexpr const char* style =
    "body{font:15px/1.45 system-ui,sans-serif;max-width:1400px;margin:0 auto;padding:16px;color:#1c1e21}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:3px "
    "7px;border-bottom:1px solid "
    "#d8dce2;text-align:right;white-space:nowrap}th:first-child,td:first-child{text-align:left}.bad{color:#"
    "b3261e;font-weight:600}"
    ".good{color:#0a7d45;font-weight:600}.scroll{overflow-x:auto}.plots{display:grid;grid-template-columns:"
    "repeat(auto-fit,minmax(min(100%,600px),1fr));gap:0 24px}svg{max-width:100%;height:auto}pre{overflow-"
    "x:auto;background:#f4f6f8;"
    "padding:10px}";

enum class Unit { count, rate, nanoseconds };

// Four digits and the SI prefix: 29.36 ms, 37.66 k.
std::string scaled(double value, Unit unit) {
    struct Step {
        double size;
        const char* count;
        const char* time;
    };
    static constexpr std::array steps{Step{1e9, " G", " s"}, Step{1e6, " M", " ms"}, Step{1e3, " k", " µs"},
                                      Step{1, "", " ns"}};
    const bool time = unit == Unit::nanoseconds;
    const auto step = std::find_if(steps.begin(), steps.end() - 1,
                                   [&](const Step& one) { return std::abs(value) >= one.size; });
    char text[48];
    std::snprintf(text, sizeof(text), "%.4g%s", value / step->size, time ? step->time : step->count);
    return text;
}

// 1,234,567
std::string grouped(std::string digits) {
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return digits;
}

// The least of 1, 2 and 5 times a power of ten of which four reach the value.
double tick_of(double top) {
    const double least = top / 4;
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= least * (1 - 1e-9)) return factor * power;
    }
    return 10 * power;
}

struct Series {
    std::string label;
    std::vector<std::optional<double>> values;  ///< one a sample
};

std::optional<double> number_of(const json& value) {
    return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

// The series of a field of ports or streams over the samples, in the order of their first appearance.
std::vector<Series> series_of(const json& samples, const char* array, const char* field,
                              const std::string& suffix) {
    std::vector<Series> out;
    for (std::size_t s = 0; s < samples.size(); ++s) {
        for (const json& item : samples[s].value(array, json::array())) {
            const std::string label = item.value("name", "") + suffix;
            auto at =
                std::find_if(out.begin(), out.end(), [&](const Series& one) { return one.label == label; });
            if (at == out.end()) {
                if (out.size() == most_series) continue;
                out.push_back({label, std::vector<std::optional<double>>(samples.size())});
                at = out.end() - 1;
            }
            at->values[s] = number_of(item.value(field, json(nullptr)));
        }
    }
    std::erase_if(out, [](const Series& one) {
        return std::none_of(one.values.begin(), one.values.end(),
                            [](const auto& v) { return v.has_value(); });
    });
    return out;
}

std::string polyline(const Series& series, std::size_t colour, double top) {
    const auto n = static_cast<double>(std::max<std::size_t>(1, series.values.size() - 1));
    std::string path;
    bool pen = false;
    for (std::size_t i = 0; i < series.values.size(); ++i) {
        const auto& value = series.values[i];
        if (!value) {
            pen = false;
            continue;
        }
        char text[64];
        std::snprintf(text, sizeof(text), "%c%.1f %.1f", pen ? 'L' : 'M',
                      margin_left + (plot_width - margin_left - 8) * static_cast<double>(i) / n,
                      8 + (plot_height - margin_bottom - 8) * (1 - *value / top));
        path += text;
        pen = true;
    }
    return "<path fill=\"none\" stroke-width=\"2\" stroke=\"" +
           std::string(colours[colour % colours.size()]) + "\" d=\"" + path + "\"/>\n";
}

// Empty when no series has a value.
std::string plot(const std::string& title, Unit unit, const json& samples, const std::vector<Series>& all) {
    if (all.empty() || samples.empty()) return "";
    double top = 0;
    for (const Series& series : all) {
        for (const auto& value : series.values) top = std::max(top, value.value_or(0));
    }
    const double tick = top <= 0 ? 1 : tick_of(top);
    const int ticks = top <= 0 ? 1 : static_cast<int>(std::ceil(top / tick - 1e-9));
    top = tick * ticks;
    char text[240];
    std::snprintf(text, sizeof(text),
                  "<svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" font-size=\"12\" role=\"img\" aria-label=\"",
                  plot_width, plot_height + 18 * std::ceil(static_cast<double>(all.size()) / 3), plot_width);
    std::string out = "<div><h3>" + markup_text(title) + "</h3>\n" + text + markup_text(title) + "\">\n";
    for (int step = 0; step <= ticks; ++step) {
        const double y = 8 + (plot_height - margin_bottom - 8) * (1 - static_cast<double>(step) / ticks);
        std::snprintf(text, sizeof(text),
                      "<path stroke=\"#d8dce2\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
                      "text-anchor=\"end\">%s</text>\n",
                      margin_left, y, plot_width - 8, margin_left - 6, y + 4,
                      scaled(tick * step, unit).c_str());
        out += text;
    }
    const double seconds =
        (samples.back().at("time_unix_ns").get<double>() - samples.front().at("time_unix_ns").get<double>()) /
        1e9;
    std::snprintf(text, sizeof(text),
                  "<text x=\"%.1f\" y=\"%.1f\">0 s</text><text x=\"%.1f\" y=\"%.1f\" "
                  "text-anchor=\"end\">%.4g s</text>\n",
                  margin_left, plot_height - 10, plot_width - 8, plot_height - 10, seconds);
    out += text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        out += polyline(all[i], i, top);
        const double x = margin_left + 230.0 * static_cast<double>(i % 3);
        const std::size_t line = i / 3;
        const double y = plot_height + 6 + 18 * static_cast<double>(line);
        std::snprintf(
            text, sizeof(text),
            "<path stroke=\"%s\" stroke-width=\"3\" d=\"M%.1f %.1fh16\"/><text x=\"%.1f\" y=\"%.1f\">",
            colours[i % colours.size()], x, y - 4, x + 22, y);
        out += text + markup_text(all[i].label) + "</text>\n";
    }
    return out + "</svg></div>\n";
}

struct Column {
    const char* title;
    const char* pointer;
    Unit unit = Unit::count;
    bool bad_if_positive = false;
};

// Counts to the last packet, rates to a thousandth, times in the unit that fits; the file has all digits.
std::string text_of(const json& value, Unit unit) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_number()) return value.dump();
    if (unit == Unit::nanoseconds) return scaled(value.get<double>(), unit);
    if (value.is_number_integer()) return grouped(value.dump());
    char text[64];
    std::snprintf(text, sizeof(text), "%.3f", value.get<double>());
    const std::string whole(text, std::find(text, text + sizeof(text), '.'));
    std::string fraction(std::find(text, text + sizeof(text), '.'));
    while (fraction.ends_with('0')) fraction.pop_back();
    return grouped(whole) + (fraction == "." ? "" : fraction);
}

std::string cell(const json& from, const Column& column) {
    const json::json_pointer at(column.pointer);
    if (!from.contains(at) || from.at(at).is_null()) return "<td>–</td>";
    const json& value = from.at(at);
    const bool bad = column.bad_if_positive && value.is_number() && value.get<double>() > 0;
    return std::string(bad ? "<td class=\"bad\">" : "<td>") + markup_text(text_of(value, column.unit)) +
           "</td>";
}

std::string table(const json& rows, const std::vector<Column>& columns) {
    std::string out = "<div class=\"scroll\"><table><thead><tr>";
    for (const Column& column : columns) out += "<th>" + std::string(column.title) + "</th>";
    out += "</tr></thead><tbody>\n";
    for (const json& row : rows) {
        out += "<tr>";
        for (const Column& column : columns) out += cell(row, column);
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string verdict_list(const Result& result) {
    const std::vector<Verdict> verdicts = judge(result);
    if (verdicts.empty()) return "";
    std::string out = "<h2>Expectations</h2>\n<ul>\n";
    for (const Verdict& verdict : verdicts) {
        out += std::string("<li><span class=\"") + (verdict.met ? "good\">met" : "bad\">not met") +
               "</span> " + markup_text(verdict.stream) + ": " + markup_text(verdict.text) + "</li>\n";
    }
    return out + "</ul>\n";
}

std::string plots(const json& samples) {
    std::vector<Series> rates = series_of(samples, "ports", "tx_pps", " TX");
    for (Series& series : series_of(samples, "ports", "rx_pps", " RX")) rates.push_back(std::move(series));
    const auto of_streams = [&](const std::string& title, Unit unit, const char* field) {
        return plot(title, unit, samples, series_of(samples, "streams", field, ""));
    };
    const std::string out =
        plot("Rate of each port, packets a second", Unit::rate, samples, rates) +
        of_streams("Rate of each stream, packets a second", Unit::rate, "pps") +
        of_streams("Lateness of the run so far, 99th percentile", Unit::nanoseconds, "lateness_p99") +
        of_streams("Latency of the run so far, median", Unit::nanoseconds, "latency_p50") +
        of_streams("Latency of the run so far, 99th percentile", Unit::nanoseconds, "latency_p99") +
        of_streams("Lost packets of the run so far", Unit::count, "lost");
    if (out.empty())
        return "<p>This file holds the report alone, so nothing is drawn over time: a result of "
               "<code>volleyctl run "
               "--result</code> and a file of telemetry lines hold the course of the run, too.</p>\n";
    return "<h2>Over time</h2>\n<div class=\"plots\">\n" + out + "</div>\n";
}

}  // namespace

std::string result_html(const Result& result) {
    const json report = result.at("report");
    const json samples = result.at("samples");
    const json environment = result.at("environment");
    const std::string run = report.value("run_id", "");
    std::string out =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\"><title>" +
        markup_text(run) + " – Volley</title><style>" + style + "</style></head><body>\n<h1>" +
        markup_text(run) + "</h1>\n<p>";
    char seconds[64];
    std::snprintf(seconds, sizeof(seconds), "%.3f s", report.value("duration_ns", 0.0) / 1e9);
    out += std::string(seconds) +
           (report.value("settled", false) ? ", settled" : ", <span class=\"bad\">not settled</span>") +
           ", on " + markup_text(environment.value("host", "")) + " (" +
           markup_text(environment.value("cpu", "")) + ", " + markup_text(environment.value("kernel", "")) +
           "), Volley " + markup_text(result.at("versions").value("volley", "")) + "</p>\n";
    out += verdict_list(result);
    out += "<h2>Ports</h2>\n" + table(report.at("ports"), {{"Port", "/name"},
                                                           {"Device", "/device"},
                                                           {"TX packets", "/tx/packets"},
                                                           {"TX pps", "/tx/pps", Unit::rate},
                                                           {"L1 bit/s", "/tx/l1_bps", Unit::rate},
                                                           {"Unsent", "/tx/unsent", Unit::count, true},
                                                           {"RX packets", "/rx/packets"},
                                                           {"RX pps", "/rx/pps", Unit::rate},
                                                           {"Missed", "/rx/missed", Unit::count, true},
                                                           {"Unmatched", "/rx/unmatched"}});
    out += "<h2>Streams</h2>\n" +
           table(report.at("streams"), {{"Stream", "/name"},
                                        {"TX packets", "/tx/packets"},
                                        {"pps", "/tx/pps", Unit::rate},
                                        {"Target", "/target_pps", Unit::rate},
                                        {"Error ppm", "/rate_error_ppm"},
                                        {"Shortfall", "/shortfall_packets", Unit::count, true},
                                        {"Lateness p99", "/lateness_ns/p99", Unit::nanoseconds},
                                        {"RX packets", "/rx/packets"},
                                        {"Lost", "/rx/lost", Unit::count, true},
                                        {"Duplicates", "/rx/duplicates", Unit::count, true},
                                        {"Reordered", "/rx/reordered", Unit::count, true},
                                        {"Corrupted", "/rx/corrupted", Unit::count, true},
                                        {"Latency p50", "/rx/latency_ns/p50", Unit::nanoseconds},
                                        {"p99", "/rx/latency_ns/p99", Unit::nanoseconds},
                                        {"max", "/rx/latency_ns/max", Unit::nanoseconds}});
    out += plots(samples);
    if (!result.at("config").is_null())
        out += "<h2>Configuration</h2>\n<details><summary>as it was in force</summary><pre>" +
               markup_text(result.at("config").dump(2)) + "</pre></details>\n";
    return out + "</body></html>\n";
}

}  // namespace volley::ctl
