#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace volley::config {

/// One thing that is wrong with a configuration: where, and what would be right. line 0: the value came from
/// --set.
struct Problem {
    std::string file;
    unsigned line = 0;
    unsigned column = 0;  ///< in characters, from 1
    std::string pointer;  ///< JSON pointer (RFC 6901); empty for the whole document
    std::string text;
    bool operator==(const Problem&) const = default;
};

/// "file:line:col: /pointer: text".
std::string to_line(const Problem& problem);

/// All problems of one configuration, in the order of the file. what() is their lines.
class Error : public std::runtime_error {
  public:
    explicit Error(std::vector<Problem> found);
    std::vector<Problem> problems;
};

/// The file cannot be read at all: no such file, a folder, no permission.
class FileError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Gathers problems up to a bound, so that a list with a million bad entries still gives a readable answer.
class Problems {
  public:
    static constexpr std::size_t most = 100;

    void add(Problem problem);
    [[nodiscard]] bool empty() const { return found_.empty(); }
    [[nodiscard]] std::size_t count() const { return found_.size() + left_out_; }
    /// Further problems are counted only.
    [[nodiscard]] bool full() const { return found_.size() >= most; }
    /// Whether something at or below the pointer is wrong; true as well when not all problems were kept.
    [[nodiscard]] bool any_below(std::string_view pointer) const;
    /// Throws Error with everything found so far; returns when nothing was.
    void throw_if_any() const;

  private:
    std::vector<Problem> found_;
    std::size_t left_out_ = 0;
};

}  // namespace volley::config
