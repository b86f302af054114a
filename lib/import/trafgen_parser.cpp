#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "import/trafgen.h"
#include "import/trafgen_arithmetic.h"
#include "import/trafgen_frame.h"
#include "import/trafgen_text.h"
#include "packet/bits.h"

// The grammar of trafgen 0.6.8 (its manual page and what it accepts), read in one pass over the preprocessed
// text.
namespace volley::imports {
namespace {

constexpr std::size_t most_packets = 1U << 20U;
constexpr std::size_t largest_file = 16U << 20U;
constexpr int deepest = 100;

char lower(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_alnum(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

class Parser {
  public:
    Parser(Preprocessed source, const TrafgenOptions& options)
        : source_(std::move(source)), options_(options), text_(source_.text.chars) {
        out_.warnings = source_.warnings;
    }

    TrafgenFile run() {
        for (skip_outside(); at_ < text_.size(); skip_outside()) {
            if (out_.packets.size() == most_packets) fail("more than a million packets");
            packet();
        }
        if (out_.packets.empty()) fail("the file holds no packet");
        return std::move(out_);
    }

  private:
    [[nodiscard]] Mark mark() const {
        if (source_.text.marks.empty()) return {static_cast<std::uint32_t>(source_.files.size() - 1), 1, 1};
        return source_.text.marks[std::min(at_, text_.size() - 1)];
    }
    [[noreturn]] void fail(const std::string& text) const { fail(mark(), text); }
    [[noreturn]] void fail(Mark place, const std::string& text) const {
        throw Error(source_.place(place) + ": " + text);
    }
    void warn(Mark place, const std::string& text) {
        out_.warnings.push_back(source_.place(place) + ": " + text);
    }

    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }
    bool take(char c) {
        skip();
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (take(c)) return;
        fail(at_ >= text_.size() ? std::string("the file ends where '") + c + "' is needed"
                                 : std::string("'") + c + "' is needed, not '" + peek() + "'");
    }
    /// Between packets `;` hides the rest of its line.
    void skip_outside() {
        for (skip(); peek() == ';'; skip()) {
            while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        }
    }
    std::string word() {
        std::string out;
        while (is_alnum(peek()) || peek() == '_') out.push_back(lower(text_[at_++]));
        return out;
    }
    /// One comma or blanks; true when a comma stood there.
    bool delimiter() {
        skip();
        if (peek() != ',') return false;
        ++at_;
        skip();
        if (peek() == ',') fail("an element is missing between two commas");
        return true;
    }

    void packet();
    void element(TrafgenFrame& frame);
    void function(TrafgenFrame& frame, const std::string& name, Mark place);
    bool payload_function(TrafgenFrame& frame, const std::string& name, Mark place);
    void string(TrafgenFrame& frame);
    std::uint64_t number_of(const std::string& text, Mark place) const;
    std::uint64_t number();
    std::uint8_t byte_of(std::uint64_t value, Mark place);
    std::vector<std::uint64_t> numbers(std::size_t least, std::size_t most, const std::string& name);
    std::uint64_t operand();
    std::uint64_t expression();
    std::uint64_t apply(char op, std::uint64_t a, std::uint64_t b, Mark place) const;
    std::vector<FieldSetting> settings();
    FieldSetting setting();
    void value(FieldSetting& out);
    void address(FieldSetting& out, const std::string& text, Mark place) const;

    Preprocessed source_;
    const TrafgenOptions& options_;
    const std::string& text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    TrafgenFile out_;
};

void Parser::packet() {
    TrafgenPacket out;
    const Mark begin = mark();
    if (peek() != '{') {
        if (word() != "cpu") fail(begin, "a packet begins with '{', or with cpu(N): before it");
        expect('(');
        const std::uint64_t first = number();
        std::uint64_t last = first;
        if (take(':') || take('-')) last = number();
        expect(')');
        expect(':');
        if (first > 65535 || last > 65535) fail(begin, "a CPU is a number up to 65535");
        out.cpus = std::minmax(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last));
        skip();
    }
    const Mark open = mark();
    expect('{');
    TrafgenFrame frame(source_, options_, out_.packets.size());
    delimiter();
    bool any = false;
    while (peek() != '}') {
        if (at_ >= text_.size()) fail(open, "this '{' has no '}'");
        element(frame);
        any = true;
        delimiter();
    }
    if (!any) fail(open, "the packet is empty");
    out.model = frame.finish(mark());
    out_.warnings.insert(out_.warnings.end(), frame.warnings().begin(), frame.warnings().end());
    expect('}');
    out_.packets.push_back(std::move(out));
}

std::uint64_t Parser::number_of(const std::string& text, Mark place) const {
    unsigned base = 10;
    std::size_t begin = 0;
    if (text.starts_with("0x") || (text[0] == 'x' && text.size() > 1)) {
        base = 16;
        begin = text[0] == 'x' ? 1 : 2;
    } else if (text.starts_with("0b") || (text[0] == 'b' && text.size() > 1)) {
        base = 2;
        begin = text[0] == 'b' ? 1 : 2;
    } else if (text[0] == '0' && text.size() > 1) {
        base = 8;
        begin = 1;
    } else if (text.size() == 1 && std::isalpha(static_cast<unsigned char>(text[0])) != 0) {
        return static_cast<unsigned char>(text[0]);
    }
    std::uint64_t value = 0;
    bool valid = begin < text.size();
    for (std::size_t i = begin; i < text.size(); ++i) {
        const char c = lower(text[i]);
        const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                               : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a') + 10
                                                      : 99;
        valid = valid && digit < base && value <= (~std::uint64_t{0} - digit) / base;
        value = value * base + digit;
    }
    if (!valid) fail(place, "\"" + text + "\" is no number (0x1f, 0b101, 017, 42 or 'a')");
    return value;
}

std::uint64_t Parser::number() {
    skip();
    const Mark place = mark();
    if (peek() == '\'') {
        if (at_ + 2 < text_.size() && text_[at_ + 2] == '\'') {
            const auto value = static_cast<unsigned char>(text_[at_ + 1]);
            at_ += 3;
            return value;
        }
        if (text_.compare(at_, 3, "'\\x") == 0 && at_ + 5 < text_.size() && text_[at_ + 5] == '\'') {
            const std::uint64_t value = number_of("0x" + text_.substr(at_ + 3, 2), place);
            at_ += 6;
            return value;
        }
        fail("a character is 'a' or '\\x41'");
    }
    std::string text;
    while (is_alnum(peek())) text.push_back(text_[at_++]);
    if (text.empty()) {
        fail(at_ >= text_.size() ? "the file ends where a number is needed"
                                 : std::string("a number is needed, not '") + peek() + "'");
    }
    if (text.size() > 1) std::transform(text.begin(), text.end(), text.begin(), lower);
    return number_of(text, place);
}

std::uint8_t Parser::byte_of(std::uint64_t value, Mark place) {
    if (value > 0xff) {
        warn(place, std::to_string(value) + " does not fit a byte; its low 8 bits are sent, as trafgen does");
    }
    return static_cast<std::uint8_t>(value);
}

std::vector<std::uint64_t> Parser::numbers(std::size_t least, std::size_t most, const std::string& name) {
    const Mark place = mark();
    std::vector<std::uint64_t> out;
    expect('(');
    skip();
    while (peek() != ')') {
        out.push_back(number());
        if (delimiter() && peek() == ')') fail("an argument is missing");
    }
    expect(')');
    if (out.size() < least || out.size() > most) {
        fail(place, name + "() takes " + std::to_string(least) +
                        (least == most ? "" : " to " + std::to_string(most)) + " arguments and has " +
                        std::to_string(out.size()));
    }
    return out;
}

std::uint64_t Parser::operand() {
    if (++depth_ > deepest) fail("brackets are nested too deeply");
    std::uint64_t value = 0;
    if (take('-')) {
        value = 0 - operand();
    } else if (take('(')) {
        value = expression();
        expect(')');
    } else {
        value = number();
    }
    --depth_;
    return value;
}

std::uint64_t Parser::apply(char op, std::uint64_t a, std::uint64_t b, Mark place) const {
    if ((op == '/' || op == '%') && b == 0) fail(place, "division by zero");
    switch (op) {
        case '+':
            return a + b;
        case '-':
            return a - b;
        case '*':
            return a * b;
        case '/':
            return static_cast<std::uint64_t>(quotient(wrapped(a), wrapped(b)));
        case '%':
            return static_cast<std::uint64_t>(remainder(wrapped(a), wrapped(b)));
        case '&':
            return a & b;
        case '|':
            return a | b;
        case '^':
            return a ^ b;
        case '<':
            return static_cast<std::uint64_t>(shifted_left(wrapped(a), wrapped(b)));
        default:
            return static_cast<std::uint64_t>(shifted_right(wrapped(a), wrapped(b)));
    }
}

// trafgen reads from left to right, whatever the operator. Where C would read otherwise, that is told.
std::uint64_t Parser::expression() {
    const Mark place = mark();
    std::vector<std::uint64_t> values{operand()};
    std::vector<std::pair<char, Mark>> operators;
    for (skip(); std::string_view("+-*/%&|^<>").find(peek()) != std::string_view::npos && peek() != '\0';
         skip()) {
        operators.emplace_back(peek(), mark());
        ++at_;
        if (operators.back().first == '<' || operators.back().first == '>') {
            if (peek() != operators.back().first) fail("<< or >> is needed");
            ++at_;
        }
        values.push_back(operand());
    }
    std::uint64_t result = values[0];
    for (std::size_t i = 0; i < operators.size(); ++i) {
        result = apply(operators[i].first, result, values[i + 1], operators[i].second);
    }
    static constexpr std::array<std::string_view, 6> by_c{"*/%", "+-", "<>", "&", "^", "|"};
    for (const std::string_view level : by_c) {
        for (std::size_t i = 0; i < operators.size();) {
            if (level.find(operators[i].first) == std::string_view::npos) {
                ++i;
                continue;
            }
            if (values[i + 1] == 0 && (operators[i].first == '/' || operators[i].first == '%')) return result;
            values[i] = apply(operators[i].first, values[i], values[i + 1], operators[i].second);
            values.erase(values.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    if (values[0] != result) {
        warn(place, "trafgen reads this from left to right and makes it " + std::to_string(wrapped(result)) +
                        "; by C's order it is " + std::to_string(wrapped(values[0])) + ": use brackets");
    }
    return result;
}

// If all of it is \xNN it is bytes; else it stands for itself, escapes and all.
void Parser::string(TrafgenFrame& frame) {
    const Mark place = mark();
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string::npos) fail("this text has no closing quote");
    const std::string_view inner = std::string_view(text_).substr(at_ + 1, end - at_ - 1);
    if (inner.empty()) fail("a text has at least one character");
    std::vector<std::uint8_t> code;
    for (std::size_t i = 0; i + 3 < inner.size() && inner.substr(i, 2) == "\\x"; i += 4) {
        const auto hex = [&](std::size_t k) {
            return std::isxdigit(static_cast<unsigned char>(inner[i + k])) != 0;
        };
        if (!hex(2) || !hex(3)) break;
        code.push_back(
            static_cast<std::uint8_t>(std::stoul(std::string(inner.substr(i + 2, 2)), nullptr, 16)));
    }
    if (code.size() * 4 != inner.size()) code.assign(inner.begin(), inner.end());
    for (const std::uint8_t byte : code) frame.add_byte(byte, place);
    at_ = end + 1;
}

void Parser::element(TrafgenFrame& frame) {
    const Mark place = mark();
    if (peek() == '"') return string(frame);
    if (std::isalpha(static_cast<unsigned char>(peek())) != 0) {
        const std::size_t begin = at_;
        const std::string name = word();
        skip();
        if (peek() == '(') return function(frame, name, place);
        at_ = begin;
    }
    frame.add_byte(byte_of(number(), place), place);
}

bool Parser::payload_function(TrafgenFrame& frame, const std::string& name, Mark place) {
    if (name == "fill") {
        const auto given = numbers(2, 2, name);
        frame.add_bytes(given[1], byte_of(given[0], place), place);
    } else if (name == "rnd") {
        frame.add_drawn(numbers(1, 1, name)[0], place);
    } else if (name == "drnd") {
        const auto given = numbers(0, 1, name);
        frame.add_random(given.empty() ? 1 : given[0], place);
    } else if (name == "seqinc" || name == "seqdec") {
        const auto given = numbers(2, 3, name);
        const std::uint64_t step = given.size() == 3 ? given[2] : 1;
        if (given[1] > largest_file) fail(place, "the packet grows too large");
        for (std::uint64_t i = 0; i < given[1]; ++i) {
            const std::uint64_t moved = i * step;
            frame.add_byte(static_cast<std::uint8_t>(name == "seqinc" ? given[0] + moved : given[0] - moved),
                           place);
        }
    } else if (name == "dinc" || name == "ddec") {
        const auto given = numbers(2, 3, name);
        const std::uint8_t step = given.size() == 3 ? byte_of(given[2], place) : std::uint8_t{1};
        frame.add_counter(byte_of(given[0], place), byte_of(given[1], place), step, name == "ddec", place);
    } else {
        return false;
    }
    return true;
}

void Parser::function(TrafgenFrame& frame, const std::string& name, Mark place) {
    if (payload_function(frame, name, place)) return;
    if (name.starts_with("const") ||
        (name[0] == 'c' && name.size() > 1 && std::isdigit(static_cast<unsigned char>(name[1])) != 0)) {
        const std::string width = name.substr(name.starts_with("const") ? 5 : 1);
        if (width != "8" && width != "16" && width != "32" && width != "64")
            fail(place, "unknown function " + name + "()");
        expect('(');
        const std::uint64_t value = expression();
        expect(')');
        for (unsigned bits = static_cast<unsigned>(std::stoul(width)); bits > 0; bits -= 8)
            frame.add_byte(static_cast<std::uint8_t>(value >> (bits - 8)), place);
        return;
    }
    static constexpr std::array<std::string_view, 5> sums{"csumip", "csumip4", "csum16", "csumicmp",
                                                          "csumicmp4"};
    if (std::find(sums.begin(), sums.end(), name) != sums.end()) {
        const auto given = numbers(2, 2, name);
        return frame.add_sum(given[0], given[1], place);
    }
    struct Transport {
        std::string_view name;
        std::uint8_t protocol;
        bool ipv6;
    };
    static constexpr std::array<Transport, 7> transports{{{"csumtcp", 6, false},
                                                          {"csumtcp4", 6, false},
                                                          {"csumudp", 17, false},
                                                          {"csumudp4", 17, false},
                                                          {"csumtcp6", 6, true},
                                                          {"csumudp6", 17, true},
                                                          {"csumicmp6", 58, true}}};
    for (const Transport& transport : transports) {
        if (transport.name != name) continue;
        const auto given = numbers(2, 2, name);
        return frame.add_transport_sum(given[0], given[1], transport.protocol, transport.ipv6, place);
    }
    frame.add_header(name, settings(), place);
}

std::vector<FieldSetting> Parser::settings() {
    if (++depth_ > deepest) fail("brackets are nested too deeply");
    std::vector<FieldSetting> out;
    expect('(');
    for (skip(); peek() != ')'; delimiter()) {
        if (at_ >= text_.size()) fail("the file ends within brackets");
        out.push_back(setting());
    }
    expect(')');
    --depth_;
    return out;
}

FieldSetting Parser::setting() {
    FieldSetting out;
    out.place = mark();
    out.name = word();
    if (out.name.empty()) {
        // The one value of addr(1.2.3.4) or ns("name") stands without a name.
        if (peek() != '"' && std::isxdigit(static_cast<unsigned char>(peek())) == 0 && peek() != ':')
            fail(std::string("a field is needed, not '") + peek() + "'");
        value(out);
        return out;
    }
    if (peek() == '.' || peek() == ':') {
        at_ -= out.name.size();
        out.name.clear();
        value(out);
        return out;
    }
    skip();
    if (peek() == '(') {
        // prio(3)=1 and time(3)=100 of pfc; else a record or its data.
        const std::size_t begin = at_;
        ++at_;
        skip();
        if ((out.name == "prio" || out.name == "time") &&
            std::isdigit(static_cast<unsigned char>(peek())) != 0) {
            out.byte = static_cast<std::int64_t>(std::min<std::uint64_t>(number(), 65535));
            expect(')');
        } else {
            at_ = begin;
            out.inner = settings();
            return out;
        }
    } else if (peek() == '[') {
        ++at_;
        out.byte = static_cast<std::int64_t>(std::min<std::uint64_t>(number(), 65535));
        if (take(':')) out.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(number(), 65535));
        expect(']');
        if (out.length != 1 && out.length != 2 && out.length != 4)
            fail(out.place, "a part of a field has 1, 2 or 4 bytes");
    }
    skip();
    if (peek() != '=') return out;
    ++at_;
    skip();
    value(out);
    return out;
}

void Parser::value(FieldSetting& out) {
    const Mark place = mark();
    if (peek() == '"') {
        const std::size_t end = text_.find('"', at_ + 1);
        if (end == std::string::npos) fail("this text has no closing quote");
        out.kind = FieldSetting::Kind::text;
        out.text = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return;
    }
    if (peek() == '\'') {
        out.kind = FieldSetting::Kind::number;
        out.number = number();
        return;
    }
    std::string text;
    while (is_alnum(peek()) || peek() == '.' || peek() == ':' || peek() == '_')
        text.push_back(lower(text_[at_++]));
    if (text == "dinc" || text == "drnd") {
        out.kind = text == "dinc" ? FieldSetting::Kind::dinc : FieldSetting::Kind::drnd;
        out.arguments = numbers(0, text == "dinc" ? 3 : 2, text);
        if (text == "drnd" && out.arguments.size() == 1)
            fail(place, "drnd() of a field takes no argument, or two");
        return;
    }
    if (text.empty()) fail(std::string("a value is needed, not '") + peek() + "'");
    address(out, text, place);
}

void Parser::address(FieldSetting& out, const std::string& text, Mark place) const {
    const auto colons = std::count(text.begin(), text.end(), ':');
    const auto dots = std::count(text.begin(), text.end(), '.');
    const auto parts = [&](char separator, unsigned base, unsigned most) {
        packet::Value value = 0;
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find(separator, at), text.size());
            const std::string part = text.substr(at, end - at);
            const std::string_view digits = base == 16 ? "0123456789abcdef" : "0123456789";
            if (part.empty() || part.size() > 3 || part.find_first_not_of(digits) != std::string::npos ||
                std::stoul(part, nullptr, static_cast<int>(base)) > most) {
                fail(place, "\"" + text + "\" is no address");
            }
            value = value << 8U | std::stoul(part, nullptr, static_cast<int>(base));
            at = end + 1;
        }
        return value;
    };
    if (colons == 5 && text.find("::") == std::string::npos && text.size() <= 17) {
        out.kind = FieldSetting::Kind::mac;
        out.number = parts(':', 16, 255);
    } else if (colons >= 2) {
        out.kind = FieldSetting::Kind::ipv6;
        std::array<std::uint8_t, 16> bytes{};
        if (inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1)
            fail(place, "\"" + text + "\" is no IPv6 address");
        out.number = packet::get_bits(bytes, 0, 128);
    } else if (dots == 3 && colons == 0) {
        out.kind = FieldSetting::Kind::ipv4;
        out.number = parts('.', 10, 255);
    } else if (text == "echorequest" || text == "echoreply" || text == "request" || text == "req" ||
               text == "reply") {
        out.kind = FieldSetting::Kind::text;
        out.text = text;
    } else {
        out.kind = FieldSetting::Kind::number;
        out.number = number_of(text, place);
    }
}

}  // namespace

TrafgenFile parse_trafgen(std::string_view text, const std::string& name, const TrafgenOptions& options) {
    return Parser(preprocess(text, name, options.defines), options).run();
}

TrafgenFile read_trafgen(const std::string& path, const TrafgenOptions& options) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) throw Error("cannot read " + path + ": it is a folder");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error("cannot read " + path + ": no such file, or no permission");
    std::string text(largest_file + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > largest_file) throw Error("cannot read " + path + ": it is larger than 16 MiB");
    return parse_trafgen(text, path, options);
}

}  // namespace volley::imports
