#include "import/pktgen.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <sstream>

namespace volley::imports {
namespace {

bool is_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r;");
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(" \t\r;") - begin + 1));
}

std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t out = 0;
    if (text.empty()) return out;  // as the shell counts an empty value
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return out;
}

/// What a place within a line stands in: quotes, parentheses or `[[ ]]`.
class Nesting {
  public:
    explicit Nesting(std::string_view line) : line_(line) {}
    /// Takes the character at this place in; true when it stands outside all of them.
    bool outside(std::size_t at) {
        const char c = line_[at];
        if (quote_ != 0) {
            if (c == quote_) quote_ = 0;
            return false;
        }
        if (c == '"' || c == '\'' || c == '`') quote_ = c;
        if (c == '(') ++depth_;
        if (c == ')' && depth_ != 0) --depth_;
        if (line_.substr(at, 3) == "[[ ") tested_ = true;
        if (line_.substr(at, 3) == " ]]") tested_ = false;
        return quote_ == 0 && depth_ == 0 && !tested_;
    }

  private:
    std::string_view line_;
    char quote_ = 0;
    unsigned depth_ = 0;
    bool tested_ = false;
};

std::vector<std::string> split(std::string_view text, std::string_view separators) {
    std::vector<std::string> parts;
    Nesting nesting(text);
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!nesting.outside(at) || separators.find(text[at]) == std::string_view::npos) continue;
        parts.push_back(trimmed(text.substr(begin, at - begin)));
        begin = at + 1;
    }
    parts.push_back(trimmed(text.substr(begin)));
    std::erase(parts, std::string());
    return parts;
}

/// A command of a list and whether it runs after a failure (`||`) or a success.
struct Part {
    std::string text;
    bool after_failure;
};

std::vector<Part> list_of(std::string_view line) {
    std::vector<Part> parts;
    Nesting nesting(line);
    std::size_t begin = 0;
    bool after_failure = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (!nesting.outside(at)) continue;
        const std::string_view two = line.substr(at, 2);
        if (two != "&&" && two != "||") continue;
        parts.push_back({trimmed(line.substr(begin, at - begin)), after_failure});
        after_failure = two == "||";
        begin = ++at + 1;
    }
    parts.push_back({trimmed(line.substr(begin)), after_failure});
    return parts;
}

/// First and last address of ADDRESS or ADDRESS/PREFIX; nothing for other texts.
std::vector<std::string> addresses(const std::string& text, bool ipv6) {
    const std::size_t bytes = ipv6 ? 16 : 4;
    const std::size_t slash = std::min(text.find('/'), text.size());
    const auto prefix =
        slash == text.size() ? std::optional<std::int64_t>(bytes * 8) : number_of(text.substr(slash + 1));
    const int family = ipv6 ? AF_INET6 : AF_INET;
    std::array<std::uint8_t, 16> low{};
    if (!prefix || *prefix < 0 || *prefix > static_cast<std::int64_t>(bytes * 8) ||
        inet_pton(family, text.substr(0, slash).c_str(), low.data()) != 1) {
        return {};
    }
    auto high = low;
    for (auto bit = static_cast<std::size_t>(*prefix); bit < bytes * 8; ++bit) {
        const auto mask = static_cast<std::uint8_t>(0x80U >> (bit % 8));
        low[bit / 8] = static_cast<std::uint8_t>(low[bit / 8] & ~mask);
        high[bit / 8] |= mask;
    }
    std::vector<std::string> out;
    for (const auto& address : {low, high}) {
        std::array<char, INET6_ADDRSTRLEN> buffer{};
        out.emplace_back(inet_ntop(family, address.data(), buffer.data(), buffer.size()));
    }
    return out;
}

class Reader {
  public:
    explicit Reader(std::map<std::string, std::string> variables) : variables_(std::move(variables)) {}

    PktgenScript run(std::string_view text) {
        std::string line;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            ++line_;
            line += without_comment(text.substr(at, end - at));
            at = end + 1;
            if (line.ends_with('\\')) {
                line.back() = ' ';
                continue;
            }
            for (const std::string& statement : split(line, ";")) read_statement(statement);
            line.clear();
        }
        if (out_.devices.empty()) throw Error("no pgset, pg_set or echo line sets a device up");
        return std::move(out_);
    }

  private:
    /// An `if` that is open: whether its present part is run, and whether one of its parts was.
    struct Branch {
        bool active;
        bool taken;
    };

    void note(const std::string& text) {
        out_.notes.push_back("line " + std::to_string(line_) + ": " + text);
    }
    [[nodiscard]] bool active() const {
        return std::all_of(branches_.begin(), branches_.end(), [](const Branch& b) { return b.active; });
    }

    static std::string_view without_comment(std::string_view line) {
        for (std::size_t at = 0; at < line.size(); ++at) {
            if (line[at] == '#' && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t'))
                return line.substr(0, at);
        }
        return line;
    }

    /// $X, ${X}, ${X:-default}, $((sums)) and quotes.
    std::string expanded(std::string_view text) {
        std::string out;
        for (std::size_t at = 0; at < text.size(); ++at) {
            if (text[at] == '"' || text[at] == '\'') continue;
            if (text[at] != '$') {
                out.push_back(text[at]);
                continue;
            }
            std::size_t end = at + 1;
            std::string standard;
            if (end < text.size() && text[end] == '{') {
                const std::size_t close = std::min(text.find('}', end), text.size());
                std::string_view inner = text.substr(end + 1, close - end - 1);
                const std::size_t dash = inner.find(":-");
                if (dash != std::string_view::npos) standard = inner.substr(dash + 2);
                out += value(std::string(inner.substr(0, dash)), standard);
                at = close;
                continue;
            }
            if (const std::size_t close = text.find("))", end);
                text.substr(at).starts_with("$((") && close != std::string_view::npos) {
                if (const auto result = calculated(text.substr(at + 3, close - at - 3))) {
                    out += std::to_string(*result);
                    at = close + 1;
                    continue;
                }
            }
            while (end < text.size() && is_name(text[end])) ++end;
            if (end == at + 1) {
                if (active()) note("cannot calculate " + std::string(text.substr(at)));
                return out;
            }
            out += value(std::string(text.substr(at + 1, end - at - 1)), {});
            at = end - 1;
        }
        return trimmed(out);
    }
    std::string value(const std::string& name, const std::string& standard) const {
        const auto found = variables_.find(name);
        return found == variables_.end() || found->second.empty() ? standard : found->second;
    }

    /// Sums and differences of numbers and variables; nothing for other texts.
    std::optional<std::int64_t> calculated(std::string_view text) {
        std::int64_t sum = 0;
        std::int64_t sign = 1;
        std::string word;
        for (std::size_t at = 0; at <= text.size(); ++at) {
            const char c = at < text.size() ? text[at] : '+';
            if (c == ' ' || c == '$') continue;
            if (c != '+' && c != '-') {
                word.push_back(c);
                continue;
            }
            const bool literal = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
            const bool known = literal || variables_.contains(word);
            const auto term = number_of(literal ? word : value(word, {}));
            if (!known || !term || *term > INT32_MAX || *term < INT32_MIN) return std::nullopt;
            sum += sign * *term;
            sign = c == '-' ? -1 : 1;
            word.clear();
        }
        return sum;
    }

    /// `[ -z "$X" ]`, `[ ! -n $X ]`, `[[ $X -ne 0 ]]`, `[ "$X" == up ]`, `[ "$X" ]`; nothing for other tests.
    std::optional<bool> test(std::string_view text) {
        const std::size_t begin = text.find_first_not_of('[');
        const std::size_t end = text.find_last_not_of(']');
        if (begin == 0 || end == std::string_view::npos || begin > end) return std::nullopt;
        auto words = split(text.substr(begin, end - begin + 1), " \t");
        const bool negated = !words.empty() && words[0] == "!";
        if (negated) words.erase(words.begin());
        std::optional<bool> result;
        if (words.size() == 1) result = !expanded(words[0]).empty();
        if (words.size() == 2 && (words[0] == "-z" || words[0] == "-n"))
            result = expanded(words[1]).empty() == (words[0] == "-z");
        if (words.size() == 3) result = compared(expanded(words[0]), words[1], expanded(words[2]));
        if (result && negated) result = !*result;
        return result;
    }
    static std::optional<bool> compared(const std::string& left, std::string_view how,
                                        const std::string& right) {
        if (how == "=" || how == "==") return left == right;
        if (how == "!=") return left != right;
        const auto a = number_of(left);
        const auto b = number_of(right);
        if (!a || !b) return std::nullopt;
        if (how == "-eq") return *a == *b;
        if (how == "-ne") return *a != *b;
        if (how == "-lt") return *a < *b;
        if (how == "-le") return *a <= *b;
        if (how == "-gt") return *a > *b;
        if (how == "-ge") return *a >= *b;
        return std::nullopt;
    }

    /// Within `pgset() {` and what else the samples' own functions.sh defines: their calls are read instead.
    bool within_own_function(std::string_view line) {
        if (function_ == Function::none) {
            if (line.starts_with("function ")) line.remove_prefix(9);
            std::size_t end = 0;
            while (end < line.size() && is_name(line[end])) ++end;
            const std::string_view name = line.substr(0, end);
            const bool begins = end != 0 && trimmed(line.substr(end)).starts_with("()");
            if (!begins || line.ends_with('}')) return false;
            static constexpr std::array<std::string_view, 6> own{"pgset",     "pg_set",   "pg_ctrl",
                                                                 "pg_thread", "proc_cmd", "pg"};
            const bool known = std::find(own.begin(), own.end(), name) != own.end();
            function_ = known ? Function::own : Function::other;
            return known;
        }
        const bool own = function_ == Function::own;
        if (line == "}") function_ = Function::none;
        return own;
    }

    void read_statement(std::string_view line) {
        if (within_own_function(line)) return;
        for (std::string_view word = first_of(line);; word = first_of(line)) {
            if (word == "else" && !branches_.empty()) {
                branches_.back().active = !branches_.back().taken;
                branches_.back().taken = true;
            } else if (word != "then" && word != "do" && word != "else") {
                break;
            }
            line.remove_prefix(std::min(line.find_first_not_of(" \t", word.size()), line.size()));
        }
        const std::string_view word = first_of(line);
        const std::string rest = trimmed(line.substr(word.size()));
        if (word == "if") {
            const bool outer = active();
            const bool taken = outer && run_list(rest, true);
            branches_.push_back({taken, taken || !outer});
        } else if (word == "elif" && !branches_.empty()) {
            branches_.back().active = !branches_.back().taken && run_list(rest, true);
            branches_.back().taken |= branches_.back().active;
        } else if (word == "case") {
            if (active()) note("left out, up to esac: " + std::string(line));
            branches_.push_back({false, true});
        } else if (word == "fi" || word == "esac") {
            if (!branches_.empty()) branches_.pop_back();
        } else if (active()) {
            run_list(line, false);
        }
    }
    static std::string_view first_of(std::string_view line) {
        return line.substr(0, line.find_first_of(" \t"));
    }

    /// `A && B || C`, from left to right; what cannot be told counts as true.
    bool run_list(std::string_view line, bool condition) {
        bool status = true;
        for (const Part& part : list_of(line)) {
            if (status == part.after_failure) continue;
            std::string_view text = part.text;
            const bool negated = text.starts_with("! ");
            if (negated) text.remove_prefix(2);
            const bool is_test = text.starts_with("[");
            const auto result = is_test ? test(text) : std::nullopt;
            if (!result && (condition || is_test)) note("taken as true: " + part.text);
            if (!is_test && !condition) run_one(part.text);
            status = result ? *result != negated : true;
        }
        return status;
    }

    void run_one(const std::string& line) {
        if (line.starts_with("for ((")) {
            // A loop is read once, with its variable as it begins.
            assign_loop(std::string_view(line).substr(6));
        } else if (line.starts_with("for ")) {
            const auto words = split(line, " \t");
            if (words.size() > 3 && words[2] == "in") variables_[words[1]] = expanded(words[3]);
            note("read once, with its first value: " + line);
        } else if (line.starts_with("while ") || line.starts_with("until ")) {
            note("read once: " + line);
        } else if (line.starts_with("read ")) {
            read_values(line);
        } else if (line.starts_with("err ")) {
            note("the script stops here: " +
                 expanded(line.substr(std::min(line.find_first_not_of(" 0123456789", 4), line.size()))));
        } else if (!assign(line)) {
            command(line);
        }
    }

    void assign_loop(std::string_view text) {
        const std::size_t equal = text.find('=');
        const std::size_t end = text.find(';');
        if (equal == std::string_view::npos || end == std::string_view::npos || equal > end) return;
        variables_[trimmed(text.substr(0, equal))] =
            expanded(trimmed(text.substr(equal + 1, end - equal - 1)));
    }

    /// `read -r LOW HIGH <<< $(parse_addr X)`, of the functions that the sample scripts share.
    void read_values(const std::string& line) {
        const std::size_t from = line.find("<<<");
        if (from == std::string::npos) return;
        std::string text = trimmed(std::string_view(line).substr(from + 3));
        std::erase(text, '"');
        std::vector<std::string> values;
        if (text.starts_with("$(") && text.ends_with(')')) {
            const auto words = split(expanded(std::string_view(text).substr(2, text.size() - 3)), " \t");
            values = words.size() == 2 ? result_of(words[0], words[1]) : std::vector<std::string>{};
        } else {
            values = split(expanded(text), " \t");
        }
        if (values.empty()) note("not understood: " + line);
        auto names = split(std::string_view(line).substr(5, from - 5), " \t");
        std::erase_if(names, [](const std::string& name) { return name.starts_with('-'); });
        for (std::size_t i = 0; i < names.size(); ++i)
            variables_[names[i]] = i < values.size() ? values[i] : "";
    }
    static std::vector<std::string> result_of(std::string_view function, const std::string& argument) {
        if (function == "parse_addr" || function == "parse_addr6")
            return addresses(argument, function.ends_with('6'));
        if (function != "parse_ports") return {};
        const std::size_t dash = argument.find('-');
        return {argument.substr(0, dash), dash == std::string::npos ? argument : argument.substr(dash + 1)};
    }

    bool assign(std::string_view line) {
        if (line.starts_with("export ")) line.remove_prefix(7);
        if (line.starts_with("local ")) line.remove_prefix(6);
        std::size_t end = 0;
        while (end < line.size() && is_name(line[end])) ++end;
        if (end == 0 || end >= line.size() || line[end] != '=') return false;
        const std::string name(line.substr(0, end));
        const std::string text = expanded(line.substr(end + 1));
        if (name == "PGDEV") device_ = text.substr(text.rfind('/') + 1);
        variables_[name] = text;
        return true;
    }

    void command(const std::string& line) {
        const std::string verb = line.substr(0, line.find_first_of(" \t"));
        std::string rest =
            verb.size() < line.size() ? trimmed(std::string_view(line).substr(verb.size())) : "";
        if (verb == "echo" || verb == "printf") {
            const auto target = target_of(line);
            if (!target) return;
            device_ = *target;
            rest = trimmed(std::string_view(rest).substr(0, rest.find_first_of(">|")));
            if (const auto newline = rest.find("\\n"); verb == "printf" && newline != std::string::npos)
                rest.erase(newline, 2);
        } else if (verb == "pg_set") {
            const std::size_t end = rest.find_first_of(" \t");
            const std::string target = rest.substr(0, end);
            device_ = expanded(target);
            if (device_.empty() && is_argument(target))
                return note("its device is not known; left out: " + line);
            rest = end == std::string::npos ? "" : rest.substr(end);
        } else if (verb != "pgset") {
            return;
        }
        tell_unset(rest, line);
        if (device_.starts_with("kpktgend") || device_ == "pgctrl") return;  // threads are lcores here
        set(expanded(rest));
    }

    /// $1 of a function, which is read without its calls.
    static bool is_argument(std::string_view text) {
        const std::size_t dollar = text.find('$');
        return dollar != std::string_view::npos && dollar + 1 < text.size() &&
               std::string_view("123456789@*").find(text[dollar + 1]) != std::string_view::npos;
    }

    /// Where `echo … > FILE` and `echo … | tee FILE` write, as a device; nothing for other files.
    std::optional<std::string> target_of(const std::string& line) {
        static constexpr std::string_view folder = "/proc/net/pktgen/";
        const std::size_t tee = line.find("| tee ");
        const std::size_t place = tee != std::string::npos ? tee + 6 : line.find('>') + 1;
        if (place == 0) return std::nullopt;  // to the terminal
        const std::string_view text =
            std::string_view(line).substr(std::min(line.find_first_not_of("> \t", place), line.size()));
        if (text.starts_with('&')) return std::nullopt;
        const std::string path = expanded(text);
        if (path.starts_with(folder)) return path.substr(folder.size());
        if (path.empty() || (!path.starts_with('/') && text.find('$') != std::string_view::npos) ||
            is_argument(text))
            note("its file is not known; left out: " + line);
        return std::nullopt;
    }

    /// A value that is there only in part, as a variable of it was never set. IP6 is unset for IPv4.
    void tell_unset(const std::string& value, const std::string& line) {
        if (split(expanded(value), " \t").size() < 2) return;  // told where it is left out
        for (std::size_t at = value.find('$'); at != std::string::npos; at = value.find('$', at + 1)) {
            std::size_t begin = at + 1;
            if (begin < value.size() && value[begin] == '{') ++begin;
            std::size_t end = begin;
            while (end < value.size() && is_name(value[end])) ++end;
            const std::string name = value.substr(begin, end - begin);
            if (name.empty() || name == "IP6" || value.compare(end, 2, ":-") == 0 ||
                variables_.contains(name))
                continue;
            std::string text = "$";
            note(text.append(name).append(" is not set in: ").append(line));
        }
    }

    void tell_overwritten(const PktgenDevice& device, const std::string& name, const std::string& value) {
        const auto before = device.parameters.find(name);
        std::string& setter = setters_[{device.name, name}];
        if (before != device.parameters.end() && before->second != value && setter != device_) {
            note(device_ + " sets " + name + " " + value + " where " + setter + " has " + before->second +
                 "; they become one stream, with the last; write one for each thread");
        }
        setter = device_;
    }

    void set(const std::string& text) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string name = text.substr(0, end);
        const std::string value = trimmed(std::string_view(text).substr(end));
        if (name.empty() || name == "add_device" || name == "rem_device_all") return;
        const std::string base = device_.substr(0, device_.find('@'));
        auto device = std::find_if(out_.devices.begin(), out_.devices.end(),
                                   [&](const PktgenDevice& d) { return d.name == base; });
        if (device == out_.devices.end()) {
            out_.devices.push_back({base, {}, {}});
            device = out_.devices.end() - 1;
        }
        if (name == "flag" && value.starts_with("!")) {
            device->flags.erase(value.substr(1));
        } else if (name == "flag") {
            device->flags.insert(value);
        } else {
            tell_overwritten(*device, name, value);
            device->parameters[name] = value;
        }
    }

    std::map<std::string, std::string> variables_;
    std::string device_ = "dev";
    std::vector<Branch> branches_;
    enum class Function : std::uint8_t { none, own, other };
    Function function_ = Function::none;
    std::map<std::pair<std::string, std::string>, std::string>
        setters_;  ///< device and parameter → DEVICE@THREAD that set it last
    std::size_t line_ = 0;
    PktgenScript out_;
};

}  // namespace

PktgenScript parse_pktgen(std::string_view text, std::map<std::string, std::string> variables) {
    return Reader(std::move(variables)).run(text);
}

}  // namespace volley::imports
