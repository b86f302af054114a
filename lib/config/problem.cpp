#include "config/problem.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "config/print.h"

namespace volley::config {
namespace {

std::string all_lines(const std::vector<Problem>& problems) {
    std::string out;
    for (const Problem& problem : problems) {
        if (!out.empty()) out.push_back('\n');
        out += to_line(problem);
    }
    return out;
}

}  // namespace

std::string to_line(const Problem& problem) {
    std::string out = problem.file;
    if (problem.line != 0) out += ":" + std::to_string(problem.line) + ":" + std::to_string(problem.column);
    if (!problem.pointer.empty()) out += ": " + on_one_line(problem.pointer);
    return out + ": " + problem.text;
}

Error::Error(std::vector<Problem> found) : std::runtime_error(all_lines(found)), problems(std::move(found)) {}

void Problems::add(Problem problem) {
    if (found_.size() < most) {
        found_.push_back(std::move(problem));
    } else {
        ++left_out_;
    }
}

bool Problems::any_below(std::string_view pointer) const {
    return left_out_ > 0 || std::any_of(found_.begin(), found_.end(), [&](const Problem& problem) {
               const std::string_view place = problem.pointer;
               return place == pointer || (place.starts_with(pointer) && place[pointer.size()] == '/');
           });
}

void Problems::throw_if_any() const {
    if (found_.empty()) return;
    std::vector<Problem> sorted = found_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
        return std::tie(a.line, a.column) < std::tie(b.line, b.column);
    });
    if (left_out_ > 0) {
        Problem last;
        last.file = sorted.front().file;
        last.text = "and " + std::to_string(left_out_) + " more problems";
        sorted.push_back(std::move(last));
    }
    throw Error(std::move(sorted));
}

}  // namespace volley::config
