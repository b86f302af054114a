#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace volley::ctl {

/// A run as it is kept: {"schema": 1, "config", "environment", "versions", "report", "samples"}. Samples are
/// the telemetry lines of the run, cut down to what plots need; the report is the settled last line.
/// Everything else (CSV, HTML, JUnit) is made from it.
using Result = nlohmann::ordered_json;

/// Not what a result is made of; what() names the file and what would be right.
class ResultError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// There is no such file, or it may not be read.
class NoSuchFile : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// lines: the telemetry lines of the run in order, snapshots and the report. Throws ResultError when
/// none of them is a report.
Result make_result(const std::vector<nlohmann::json>& lines, const nlohmann::json& config);

/// Reads result.json, or a file of telemetry lines, of which the last run is taken. Throws NoSuchFile, and
/// ResultError with the file's name and what would be right.
Result read_result(const std::string& file);

/// A line for each port and each stream: kind, name and the figures of the report.
std::string result_csv(const Result& result);

/// One page with everything in it, plots as inline SVG; readable without JavaScript and without a network.
std::string result_html(const Result& result);

/// One test case for each expectation of each stream (JUnit XML as CI systems read it); without any, one that
/// says that the run settled.
std::string result_junit(const Result& result);

/// What `expect` of a stream's configuration says of the stream's figures.
struct Verdict {
    std::string stream;
    std::string expectation;  ///< "loss", "rate_error_ppm"
    bool met = false;
    std::string text;  ///< both numbers
};
std::vector<Verdict> judge(const Result& result);

}  // namespace volley::ctl
