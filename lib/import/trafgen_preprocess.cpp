#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "import/trafgen_arithmetic.h"
#include "import/trafgen_macros.h"
#include "import/trafgen_text.h"

namespace volley::imports {
namespace {

constexpr int deepest_include = 16;
constexpr std::size_t largest_file = 16U << 20U;

/// The value of an #if, by C's precedence; names that are no macros are 0.
class Condition {
  public:
    Condition(const Text& text, const Preprocessed& context, Mark place)
        : text_(text.chars), context_(context), place_(place) {}

    bool run() {
        const std::int64_t value = binary(0);
        skip();
        if (at_ != text_.size()) fail();
        return value != 0;
    }

  private:
    [[noreturn]] void fail() const { throw Error(context_.place(place_) + ": cannot read this condition"); }
    void skip() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    }
    bool take(std::string_view token) {
        skip();
        if (text_.compare(at_, token.size(), token) != 0) return false;
        at_ += token.size();
        return true;
    }

    std::int64_t primary() {
        if (++depth_ > 200) fail();
        std::int64_t value = 0;
        if (take("!")) {
            value = primary() == 0 ? 1 : 0;
        } else if (take("-")) {
            value = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(primary()));
        } else if (take("~")) {
            value = ~primary();
        } else if (take("(")) {
            value = binary(0);
            if (!take(")")) fail();
        } else {
            value = word();
        }
        --depth_;
        return value;
    }

    std::int64_t word() {
        skip();
        std::size_t end = at_;
        while (end < text_.size() && is_word(text_[end])) ++end;
        if (end == at_) fail();
        std::string word = text_.substr(at_, end - at_);
        at_ = end;
        if (begins_name(word[0])) return 0;
        while (word.size() > 1 && std::string_view("uUlL").find(word.back()) != std::string_view::npos)
            word.pop_back();
        try {
            std::size_t used = 0;
            const auto value = static_cast<std::int64_t>(std::stoull(word, &used, 0));
            if (used == word.size()) return value;
        } catch (const std::exception&) {  // no number, or too large
        }
        fail();
    }

    struct Operator {
        std::string_view text;
        int level;
    };

    std::int64_t binary(int level) {
        static constexpr std::array<Operator, 18> operators{{{"||", 1},
                                                             {"&&", 2},
                                                             {"==", 6},
                                                             {"!=", 6},
                                                             {"<=", 7},
                                                             {">=", 7},
                                                             {"<<", 8},
                                                             {">>", 8},
                                                             {"<", 7},
                                                             {">", 7},
                                                             {"|", 3},
                                                             {"^", 4},
                                                             {"&", 5},
                                                             {"+", 9},
                                                             {"-", 9},
                                                             {"*", 10},
                                                             {"/", 10},
                                                             {"%", 10}}};
        std::int64_t left = primary();
        for (;;) {
            skip();
            const auto found = std::find_if(operators.begin(), operators.end(), [&](const Operator& o) {
                return text_.compare(at_, o.text.size(), o.text) == 0;
            });
            if (found == operators.end() || found->level <= level) return left;
            at_ += found->text.size();
            left = apply(found->text, left, binary(found->level));
        }
    }

    [[nodiscard]] std::int64_t apply(std::string_view op, std::int64_t left, std::int64_t right) const {
        const auto a = static_cast<std::uint64_t>(left);
        const auto b = static_cast<std::uint64_t>(right);
        if (op == "||") return left != 0 || right != 0 ? 1 : 0;
        if (op == "&&") return left != 0 && right != 0 ? 1 : 0;
        if (op == "==") return left == right ? 1 : 0;
        if (op == "!=") return left != right ? 1 : 0;
        if (op == "<=") return left <= right ? 1 : 0;
        if (op == ">=") return left >= right ? 1 : 0;
        if (op == "<") return left < right ? 1 : 0;
        if (op == ">") return left > right ? 1 : 0;
        if (op == "<<") return shifted_left(left, right);
        if (op == ">>") return shifted_right(left, right);
        if (op == "|") return static_cast<std::int64_t>(a | b);
        if (op == "^") return static_cast<std::int64_t>(a ^ b);
        if (op == "&") return static_cast<std::int64_t>(a & b);
        if (op == "+") return static_cast<std::int64_t>(a + b);
        if (op == "-") return static_cast<std::int64_t>(a - b);
        if (op == "*") return static_cast<std::int64_t>(a * b);
        if (b == 0) fail();
        return op == "/" ? quotient(left, right) : remainder(left, right);
    }

    std::string text_;
    const Preprocessed& context_;
    Mark place_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

class Preprocessor {
  public:
    explicit Preprocessor(const std::vector<std::pair<std::string, std::string>>& defines) : macros_(out_) {
        out_.files.emplace_back("command line");
        for (const auto& [name, value] : defines) {
            std::string text = name;
            define(text.append(" ").append(value));
        }
    }

    Preprocessed run(std::string_view text, const std::string& name) {
        read(text, name, 0);
        flush();
        return std::move(out_);
    }

  private:
    struct Branch {
        Mark place;
        bool active;     ///< this part is read
        bool taken;      ///< some part of it was
        bool outer;      ///< what stands around it is read
        bool otherwise;  ///< #else was seen
    };

    [[noreturn]] void fail(Mark mark, const std::string& text) const {
        throw Error(out_.place(mark) + ": " + text);
    }
    void define(const std::string& text) {
        Text definition;
        for (const char c : text) definition.add(c, {});
        macros_.define(definition, {});
    }
    [[nodiscard]] bool active() const { return branches_.empty() || branches_.back().active; }

    static Text without_comments(std::string_view text, std::uint32_t file);
    void read(std::string_view text, const std::string& name, int depth);
    bool directive(const Text& line, const std::string& name, int depth);
    void condition(const std::string& word, const Text& rest, Mark place);
    void include(const Text& rest, Mark place, const std::string& from, int depth);
    bool test(const std::string& word, const Text& rest, Mark place);
    void flush() {
        out_.text.add(macros_.expanded(pending_));
        pending_ = {};
    }

    Preprocessed out_;
    Macros macros_;
    Text pending_;  ///< lines not yet expanded: no directive stands between them
    std::vector<Branch> branches_;
};

std::string first_word(const std::string& chars, std::size_t at) {
    std::size_t end = at;
    while (end < chars.size() && is_word(chars[end])) ++end;
    return chars.substr(at, end - at);
}

bool is_directive(const std::string& word) {
    static constexpr std::array<std::string_view, 11> known{
        "define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning"};
    return std::find(known.begin(), known.end(), word) != known.end();
}

// Comments become one blank, newlines within them stay. A # is kept where a known directive begins. Lines
// that end with a backslash go on.
Text Preprocessor::without_comments(std::string_view text, std::uint32_t file) {
    Text out;
    Mark mark{file, 1, 1};
    bool line_begins = true;
    const auto step = [&](std::size_t at) {
        if (text[at] == '\n') {
            ++mark.line;
            mark.column = 1;
        } else {
            ++mark.column;
        }
    };
    const auto to_line_end = [&](std::size_t& at) {
        for (; at < text.size() && text[at] != '\n'; ++at) step(at);
    };
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"' || (c == '\'' && at + 2 < text.size() && text[at + 2] == '\'')) {
            const std::size_t end = c == '"' ? end_of_quote(text, at) : at + 3;
            for (; at < end; ++at) {
                out.add(text[at], mark);
                step(at);
            }
            line_begins = false;
        } else if (text.substr(at, 2) == "/*") {
            const Mark begin = mark;
            const std::size_t found = text.find("*/", at + 2);
            const std::size_t end = found == std::string_view::npos ? text.size() : found + 2;
            out.add(' ', begin);
            for (; at < end; ++at) {
                if (text[at] == '\n') out.add('\n', mark);
                step(at);
            }
        } else if (text.substr(at, 2) == "//") {
            to_line_end(at);
        } else if (text.substr(at, 2) == "\\\n" || text.substr(at, 3) == "\\\r\n") {
            const std::size_t end = text.find('\n', at) + 1;
            for (; at < end; ++at) step(at);
            out.add(' ', mark);
        } else if (c == '#' && text.substr(at, 2) == "##") {
            for (int i = 0; i < 2; ++i, ++at) {
                out.add('#', mark);
                step(at);
            }
        } else if (c == '#') {
            std::size_t word = at + 1;
            while (word < text.size() && (text[word] == ' ' || text[word] == '\t')) ++word;
            if (line_begins && is_directive(first_word(std::string(text.substr(word, 16)), 0))) {
                out.add('#', mark);
                step(at);
                ++at;
                line_begins = false;
            } else {
                to_line_end(at);
            }
        } else {
            if (c == '\n') {
                line_begins = true;
            } else if (c != ' ' && c != '\t' && c != '\r') {
                line_begins = false;
            }
            out.add(c == '\r' ? ' ' : c, mark);
            step(at);
            ++at;
        }
    }
    return out;
}

void Preprocessor::read(std::string_view text, const std::string& name, int depth) {
    const auto file = static_cast<std::uint32_t>(out_.files.size());
    out_.files.push_back(name);
    const std::size_t outer = branches_.size();
    const Text clean = without_comments(text, file);
    for (std::size_t at = 0; at < clean.chars.size();) {
        Text line;
        // A text between quotes may hold newlines.
        while (at < clean.chars.size() && clean.chars[at] != '\n') {
            const std::size_t end = clean.chars[at] == '"' ? end_of_quote(clean.chars, at) : at + 1;
            for (; at < end; ++at) line.add(clean.chars[at], clean.marks[at]);
        }
        if (at < clean.chars.size()) {
            line.add('\n', clean.marks[at]);
            ++at;
        }
        if (directive(line, name, depth)) {
            if (active()) pending_.add('\n', line.marks.back());
        } else if (active()) {
            pending_.add(line);
        }
    }
    if (branches_.size() > outer) fail(branches_.back().place, "this #if has no #endif");
}

bool Preprocessor::test(const std::string& word, const Text& rest, Mark place) {
    if (word == "ifdef" || word == "ifndef") {
        const std::string name = first_word(rest.chars, 0);
        if (name.empty()) fail(place, "#" + word + " needs a name");
        return macros_.defined(name) == (word == "ifdef");
    }
    // defined NAME and defined(NAME) are answered before macros are expanded.
    Text answered;
    for (std::size_t at = 0; at < rest.chars.size();) {
        if (!is_word(rest.chars[at])) {
            answered.add(rest.chars[at], rest.marks[at]);
            ++at;
            continue;
        }
        std::string name = first_word(rest.chars, at);
        at += name.size();
        if (name == "defined") {
            while (at < rest.chars.size() && (rest.chars[at] == ' ' || rest.chars[at] == '(')) ++at;
            const bool bracket = rest.chars[at > 0 ? at - 1 : 0] == '(';
            const std::string asked = first_word(rest.chars, at);
            at += asked.size();
            while (bracket && at < rest.chars.size() && rest.chars[at] == ' ') ++at;
            if (bracket && at < rest.chars.size() && rest.chars[at] == ')') ++at;
            name = macros_.defined(asked) ? "1" : "0";
        }
        for (const char c : name) answered.add(c, place);
    }
    return Condition(macros_.expanded(answered), out_, place).run();
}

void Preprocessor::condition(const std::string& word, const Text& rest, Mark place) {
    if (word.starts_with("if")) {
        const bool outer = active();
        const bool value = outer && test(word, rest, place);
        branches_.push_back({place, value, value, outer, false});
        return;
    }
    if (branches_.empty()) fail(place, "#" + word + " without #if");
    Branch& branch = branches_.back();
    if (word == "endif") {
        branches_.pop_back();
        return;
    }
    if (branch.otherwise) fail(place, "#" + word + " behind #else");
    branch.otherwise = word == "else";
    branch.active = branch.outer && !branch.taken && (word == "else" || test("if", rest, place));
    branch.taken = branch.taken || branch.active;
}

void Preprocessor::include(const Text& rest, Mark place, const std::string& from, int depth) {
    const std::string& chars = rest.chars;
    const char close = !chars.empty() && chars[0] == '<' ? '>' : '"';
    const std::size_t end = chars.empty() ? std::string::npos : chars.find(close, 1);
    if (end == std::string::npos || (chars[0] != '<' && chars[0] != '"'))
        fail(place, "#include needs \"file\" or <stddef.h>");
    const std::string name = chars.substr(1, end - 1);
    if (depth >= deepest_include) fail(place, "files include each other too deeply");
    const std::filesystem::path path = std::filesystem::path(from).parent_path() / name;
    std::error_code ignored;
    if (close == '"' && std::filesystem::is_regular_file(path, ignored)) {
        std::ifstream file(path, std::ios::binary);
        std::string text(largest_file + 1, '\0');
        file.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<std::size_t>(file.gcount()));
        if (text.size() > largest_file) fail(place, name + " is larger than 16 MiB");
        return read(text, path.string(), depth + 1);
    }
    const std::string base = std::filesystem::path(name).filename().string();
    if (base != "stddef.h" && base != "trafgen_stddef.h") {
        fail(place, "cannot include " + name +
                        (close == '"' ? ": no such file beside " + from : ": only <stddef.h> is built in"));
    }
    read(trafgen_stddef(), name, depth + 1);
}

bool Preprocessor::directive(const Text& line, const std::string& name, int depth) {
    std::size_t at = line.chars.find_first_not_of(" \t");
    if (at == std::string::npos || line.chars[at] != '#' || line.chars.compare(at, 2, "##") == 0)
        return false;
    const Mark place = line.marks[at];
    at = line.chars.find_first_not_of(" \t", at + 1);
    const std::string word = first_word(line.chars, at);
    at = std::min(line.chars.find_first_not_of(" \t", at + word.size()), line.chars.size());
    Text rest;
    for (; at < line.chars.size() && line.chars[at] != '\n'; ++at) rest.add(line.chars[at], line.marks[at]);
    flush();
    if (word.starts_with("if") || word.starts_with("el") || word == "endif") {
        condition(word, rest, place);
        return true;
    }
    if (!active()) return true;
    if (word == "define") macros_.define(rest, place);
    if (word == "undef") macros_.undefine(first_word(rest.chars, 0));
    if (word == "include") include(rest, place, name, depth);
    if (word == "error") fail(place, "#error " + rest.chars);
    if (word == "warning") out_.warnings.push_back(out_.place(place) + ": " + rest.chars);
    return true;
}

}  // namespace

Preprocessed preprocess(std::string_view text, const std::string& name,
                        const std::vector<std::pair<std::string, std::string>>& defines) {
    return Preprocessor(defines).run(text, name);
}

}  // namespace volley::imports
