#include "config/syntax_hint.h"

#include <algorithm>
#include <cctype>

#include "config/print.h"

namespace volley::config {
namespace {

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string_view word_at(std::string_view text, std::size_t start) {
    const std::size_t end = std::min(text.find_first_of("{}[],:\" \t\r\n/", start), text.size());
    return text.substr(start, end - start);
}

// Inside a text (between quotes): the parser has stopped at the very byte.
std::string in_string(std::string_view what) {
    if (has(what, "UTF-8")) return "this byte is not valid UTF-8; save the file as UTF-8";
    if (has(what, "missing closing quote")) return "the text that starts before has no closing \"";
    if (has(what, "surrogate") || has(what, "4 hex digits")) {
        return "\\u needs 4 hex digits, and a character above U+FFFF needs a pair of them";
    }
    if (has(what, "after backslash")) return "unknown escape; write \\\\ for a backslash";
    if (has(what, "U+000A") || has(what, "U+000D")) {
        return "a text must end on its line: the closing \" is missing, or write \\n for a new line";
    }
    return "a control character in a text; write it as an escape such as \\t";
}

std::string unquoted_word(std::string_view word, bool key_expected) {
    std::string low(word);
    std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return std::tolower(c); });
    if (key_expected) return "a key needs double quotes: \"" + low + "\"";
    if (low == "true" || low == "false" || low == "null") return "write " + low + " in small letters";
    if (low == "none" || low == "nil" || low == "undefined") return quote(word) + " is not JSON; write null";
    if (low == "yes" || low == "on") return quote(word) + " is not JSON; write true";
    if (low == "no" || low == "off") return quote(word) + " is not JSON; write false";
    if (low == "nan" || low == "inf" || low == "infinity" || low == "-inf" || low == "-infinity") {
        return quote(word) + " is not a number that JSON knows";
    }
    return quote(word) + " needs double quotes to be a text";
}

std::string bad_number(std::string_view word) {
    if (has(word, "x") || has(word, "X")) return "a hexadecimal number needs double quotes: " + quote(word);
    return quote(word) + " is not a number; JSON wants digits as in 10, 0.5 or -3";
}

std::string bad_token(std::string_view text, const Scanner& scanner, std::size_t start,
                      const SyntaxError& error) {
    const char c = text[start];
    const bool key_expected = has(error.what, "parsing object key");
    const bool separator = has(error.what, "; expected ':'") || has(error.what, "object separator");
    const bool after_value = has(error.what, "; expected '}'") || has(error.what, "; expected ']'") ||
                             has(error.what, "parsing object -") || has(error.what, "parsing array -");
    const auto before = scanner.last_before(start);
    if ((c == '}' || c == ']') && before == ',') {
        return std::string("remove the comma before \"") + c + "\": nothing follows it";
    }
    if (c == ',' && before == ',') return "two commas in a row; remove one";
    if (c == '/') {
        return error.comments ? "a comment starts with // or stands between /* and */"
                              : "comments are allowed in files only; send plain JSON";
    }
    if (has(error.what, "; expected end of input")) {
        return "nothing may follow the end of the configuration; is there one bracket too many?";
    }
    if (c == '\'') return "texts need double quotes: \"…\" instead of '…'";
    if (c == '#') return "a comment starts with // or stands between /* and */";
    if (separator) return "\":\" is missing between a key and its value";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80)
        return "this character stands outside a text; was the file saved with curly quotes or not as UTF-8?";
    if (after_value && c != '}' && c != ']' && c != ':') return "\",\" is missing before this";
    if (c == '}' || c == ']') {
        const std::string open = error.unclosed_bracket == '{' ? "}" : "]";
        if (after_value)
            return std::string("\"") + c + "\" stands where \"" + open + "\" or \",\" was expected";
        return std::string("a value is missing before \"") + c + "\"";
    }
    if (std::isdigit(byte) != 0 || c == '-' || c == '+' || c == '.') {
        if (key_expected) return "a key needs double quotes: " + quote(word_at(text, start));
        const auto word = word_at(text, start);
        const bool letters = word.size() > 1 && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
        return letters && c != '0' ? unquoted_word(word, false) : bad_number(word);
    }
    if (std::isalpha(byte) != 0 || c == '_' || c == '$')
        return unquoted_word(word_at(text, start), key_expected);
    if (key_expected) return "a key in double quotes was expected here";
    return std::string("unexpected ") + quote(text.substr(start, 1)) + "; a value was expected here";
}

}  // namespace

Explanation explain(std::string_view text, const Scanner& scanner, const SyntaxError& error) {
    const std::size_t last = std::min(error.position == 0 ? 0 : error.position - 1, text.size());
    if (has(error.what, "number overflow")) {
        const std::size_t start = scanner.token_before(error.position);
        return {start, "the number " + quote(word_at(text, start)) + " is too large"};
    }
    if (has(error.what, "missing closing '*/'")) return {last, "the comment /* has no closing */"};
    if (has(error.what, "invalid string: missing closing quote")) {
        return {scanner.token_before(last), "this text has no closing \""};
    }
    if (has(error.what, "invalid string")) return {last, in_string(error.what)};
    if (has(error.what, "invalid BOM")) return {0, "the file is not UTF-8; save it as UTF-8"};
    // A bad word or number is given away by the byte behind it, unless its first byte did.
    std::size_t end = error.position;
    const bool bad_word = has(error.what, "invalid literal") || has(error.what, "invalid number");
    if (bad_word && (end > text.size() ||
                     std::string_view("{}[],:\" \t\r\n").find(text[end - 1]) != std::string_view::npos)) {
        --end;
    }
    const std::size_t start = scanner.token_before(end);
    if (start < scanner.end_of_last()) {  // stuck to the end of a good token: 0x10, 1.5.3, true1
        const auto word = word_at(text, start);
        const bool digit = std::isdigit(static_cast<unsigned char>(word[0])) != 0 || word[0] == '-';
        return {start, digit ? bad_number(word) : unquoted_word(word, false)};
    }
    if (start < text.size()) return {start, bad_token(text, scanner, start, error)};
    if (error.unclosed_bracket == '\0') {
        return {text.size(), "the file is empty; the least is {\"version\": 1, \"ports\": []} with a port"};
    }
    return {text.size(), std::string("the file ends here, but the \"") + error.unclosed_bracket +
                             "\" of line " + std::to_string(error.unclosed.line) + ", column " +
                             std::to_string(error.unclosed.column) + " is not closed"};
}

}  // namespace volley::config
