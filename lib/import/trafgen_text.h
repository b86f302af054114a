#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/error.h"

namespace volley::imports {

/// A place in one of the files that make up a text.
struct Mark {
    std::uint32_t file = 0;  ///< index into Preprocessed::files
    std::uint32_t line = 1;
    std::uint32_t column = 1;
};

/// Characters, each with the place where it was written; those of a macro have the place of its use.
struct Text {
    std::string chars;
    std::vector<Mark> marks;

    void add(char c, Mark mark) {
        chars.push_back(c);
        marks.push_back(mark);
    }
    void add(const Text& other) {
        chars += other.chars;
        marks.insert(marks.end(), other.marks.begin(), other.marks.end());
    }
};

struct Preprocessed {
    Text text;
    std::vector<std::string> files;
    std::vector<std::string> warnings;

    [[nodiscard]] std::string place(Mark mark) const {
        return files[mark.file] + ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
    }
};

/// Comments (/* */, //, and every # that begins no known directive) become blanks; #define with and without
/// arguments, #undef, #include, #if and its family, #error and #warning do what they do in C. `name` is the
/// first file's. Throws Error with the place.
Preprocessed preprocess(std::string_view text, const std::string& name,
                        const std::vector<std::pair<std::string, std::string>>& defines);

/// What #include <stddef.h> brings: the names that trafgen files use, in our words.
std::string_view trafgen_stddef();

}  // namespace volley::imports
