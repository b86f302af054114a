#pragma once

#include <cstddef>
#include <string_view>

#include "config/node.h"

namespace volley::config {

/// Follows the tokens of a JSON text beside the parser, to know where each one starts. Forward only.
class Scanner {
  public:
    /// comments: // and /* */ count as blanks.
    Scanner(std::string_view text, bool comments);

    /// Start of the next key or value: behind blanks, comments, commas and colons.
    [[nodiscard]] Mark next_value();
    /// Goes past the string, number, word or bracket at which next_value() stood.
    void pass();
    /// Goes past the bracket that closes the open container.
    void pass_closing();

    /// Start of the token in which the byte before `end` lies, searched from the last token passed.
    [[nodiscard]] std::size_t token_before(std::size_t end) const;
    /// End of the last token that was passed.
    [[nodiscard]] std::size_t end_of_last() const { return at_; }
    /// The last byte before `at` that is neither blank nor comment, from where the scanner stands; 0 if none.
    [[nodiscard]] char last_before(std::size_t at) const;
    /// Line and column of any byte; costs a walk from the start.
    [[nodiscard]] Mark mark_of(std::size_t offset) const;

  private:
    [[nodiscard]] std::size_t skip_blank(std::size_t at) const;
    [[nodiscard]] std::size_t token_end(std::size_t at) const;
    void advance_mark(std::size_t offset);

    std::string_view text_;
    bool comments_;
    std::size_t at_ = 0;
    std::size_t last_ = 0;  ///< start of the last token that was passed
    std::size_t marked_ = 0;
    Mark mark_{1, 1};
};

}  // namespace volley::config
