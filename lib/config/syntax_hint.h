#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/node.h"
#include "config/scanner.h"

namespace volley::config {

/// What the parser said, and what stood open.
struct SyntaxError {
    std::string what;
    std::size_t position = 0;  ///< bytes that the parser has read
    bool comments = true;
    Mark unclosed;
    char unclosed_bracket = '\0';  ///< '\0': nothing is open
};

struct Explanation {
    std::size_t offset;  ///< of the byte to point at
    std::string text;
};

/// A syntax error as the operator's next step.
Explanation explain(std::string_view text, const Scanner& scanner, const SyntaxError& error);

}  // namespace volley::config
