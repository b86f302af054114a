#include "volleyctl/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace volley::ctl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int bar_width = 20;
constexpr auto between_plain_lines = std::chrono::seconds(10);

std::string rate_text(double pps) {
    char text[48];
    for (const auto& [unit, size] : {std::pair{"Mpps", 1e6}, std::pair{"kpps", 1e3}}) {
        if (pps < size) continue;
        std::snprintf(text, sizeof(text), "%.3g %s", pps / size, unit);
        return text;
    }
    std::snprintf(text, sizeof(text), "%.0f pps", pps);
    return text;
}

double total_pps(const nlohmann::json& line) {
    double out = 0;
    for (const auto& port : line.at("ports")) {
        if (port.at("tx").is_object() && port.at("tx").at("pps").is_number())
            out += port.at("tx").at("pps").get<double>();
    }
    return out;
}

}  // namespace

std::string progress_text(const nlohmann::json& line, std::optional<std::uint64_t> duration_ns) {
    const double done = line.value("duration_ns", 0.0) / 1e9;
    char text[160];
    if (!duration_ns) {
        std::snprintf(text, sizeof(text), "%.0f s, %s", done, rate_text(total_pps(line)).c_str());
        return text;
    }
    const double whole = static_cast<double>(*duration_ns) / 1e9;
    const double part = whole > 0 ? std::clamp(done / whole, 0.0, 1.0) : 1.0;
    std::string bar(bar_width, '-');
    std::fill_n(bar.begin(), static_cast<int>(part * bar_width), '#');
    std::snprintf(text, sizeof(text), "%3.0f %% [%s] %.0f s of %.0f s, %s, %.0f s to go", 100 * part,
                  bar.c_str(), std::min(done, whole), whole, rate_text(total_pps(line)).c_str(),
                  std::max(0.0, whole - done));
    return text;
}

Progress::Progress(std::optional<std::uint64_t> duration_ns)
    : duration_ns_(duration_ns), terminal_(isatty(STDERR_FILENO) == 1), last_(Clock::now()) {}

Progress::~Progress() {
    if (terminal_ && drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::show(const nlohmann::json& line) {
    const auto now = Clock::now();
    if (!terminal_ && now - last_ < between_plain_lines) return;
    last_ = now;
    drawn_ = true;
    const std::string text = progress_text(line, duration_ns_);
    std::fputs((terminal_ ? "\r" + text + "\033[K" : text + "\n").c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace volley::ctl
