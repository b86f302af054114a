#include "import/pktgen.h"

#include <algorithm>
#include <cctype>
#include <optional>

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

class Reader {
  public:
    explicit Reader(std::map<std::string, std::string> variables) : variables_(std::move(variables)) {}

    PktgenScript run(std::string_view text) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            ++line_;
            read_line(trimmed(without_comment(text.substr(at, end - at))));
            at = end + 1;
        }
        if (out_.devices.empty()) throw Error("no pgset, pg_set or echo line sets a device up");
        return std::move(out_);
    }

  private:
    void note(const std::string& text) {
        out_.notes.push_back("line " + std::to_string(line_) + ": " + text);
    }
    [[nodiscard]] bool active() const {
        return std::find(branches_.begin(), branches_.end(), false) == branches_.end();
    }

    static std::string_view without_comment(std::string_view line) {
        for (std::size_t at = 0; at < line.size(); ++at) {
            if (line[at] == '#' && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t'))
                return line.substr(0, at);
        }
        return line;
    }

    /// $X, ${X}, ${X:-default} and quotes.
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

    /// `[ -z "$X" ]`, `[ -n "$X" ]`, `[[ -n $X ]]`; nothing for other tests.
    std::optional<bool> test(std::string_view text) {
        const std::size_t flag = text.find('-');
        const std::size_t end = text.find(']');
        if (text.empty() || text[0] != '[' || flag == std::string_view::npos ||
            end == std::string_view::npos || flag > end || flag + 1 >= text.size()) {
            return std::nullopt;
        }
        const char kind = text[flag + 1];
        if (kind != 'z' && kind != 'n') return std::nullopt;
        return expanded(text.substr(flag + 2, end - flag - 2)).empty() == (kind == 'z');
    }

    void read_line(std::string line) {
        if (line.starts_with("if ")) {
            const auto known = test(trimmed(std::string_view(line).substr(3)));
            if (!known && active()) note("taken as true: " + line);
            branches_.push_back(known.value_or(true));
            return;
        }
        if (line == "else" && !branches_.empty()) branches_.back() = !branches_.back();
        if (line == "fi" && !branches_.empty()) branches_.pop_back();
        if (!active()) return;
        while (line.starts_with("[")) {
            const std::size_t both = line.find("&&");
            if (both == std::string::npos) break;
            if (!test(line).value_or(true)) return;
            line = trimmed(std::string_view(line).substr(both + 2));
        }
        if (!assign(line)) command(line);
    }

    bool assign(std::string_view line) {
        if (line.starts_with("export ")) line.remove_prefix(7);
        std::size_t end = 0;
        while (end < line.size() && is_name(line[end])) ++end;
        if (end == 0 || end >= line.size() || line[end] != '=') return false;
        const std::string name(line.substr(0, end));
        const std::string text = expanded(line.substr(end + 1));
        if (name == "PGDEV") {
            device_ = text.substr(text.rfind('/') + 1);
        } else {
            variables_[name] = text;
        }
        return true;
    }

    void command(const std::string& line) {
        const std::string verb = line.substr(0, line.find_first_of(" \t"));
        std::string rest =
            verb.size() < line.size() ? trimmed(std::string_view(line).substr(verb.size())) : "";
        if (verb == "echo") {
            const std::size_t arrow = line.find('>');
            const std::size_t place = line.find("/proc/net/pktgen/");
            if (arrow == std::string::npos || place == std::string::npos) return;
            device_ = expanded(std::string_view(line).substr(place + 17));
            rest = trimmed(std::string_view(rest).substr(0, rest.find('>')));
        } else if (verb == "pg_set") {
            const std::size_t end = rest.find_first_of(" \t");
            device_ = expanded(std::string_view(rest).substr(0, end));
            rest = end == std::string::npos ? "" : rest.substr(end);
        } else if (verb != "pgset") {
            return;
        }
        if (device_.starts_with("kpktgend") || device_ == "pgctrl") return;  // threads are lcores here
        set(expanded(rest));
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
            device->parameters[name] = value;
        }
    }

    std::map<std::string, std::string> variables_;
    std::string device_ = "dev";
    std::vector<bool> branches_;
    std::size_t line_ = 0;
    PktgenScript out_;
};

}  // namespace

PktgenScript parse_pktgen(std::string_view text, std::map<std::string, std::string> variables) {
    return Reader(std::move(variables)).run(text);
}

}  // namespace volley::imports
