#include "config/reader.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/print.h"
#include "config/scanner.h"
#include "config/syntax_hint.h"

namespace volley::config {
namespace {

// The parser quotes the text it read last, which may hold any words. What it expected stands behind.
std::string without_last_read(std::string what) {
    const std::size_t quoted = what.find("; last read: '");
    if (quoted == std::string::npos) return what;
    const std::size_t behind = what.rfind("'; expected ");
    return what.substr(0, quoted) +
           (behind == std::string::npos || behind < quoted ? "" : what.substr(behind + 1));
}

// Receives the parser's events and builds the tree. Returning false ends the parse.
class Builder {
  public:
    Builder(std::string_view text, const std::string& file, bool comments, Problems& problems)
        : text_(text), file_(file), comments_(comments), problems_(problems), scanner_(text, comments) {}

    bool null() { return scalar(nullptr); }
    bool boolean(bool value) { return scalar(value); }
    bool number_integer(std::int64_t value) {
        if (value >= 0) return scalar(static_cast<std::uint64_t>(value));  // "-0"
        return scalar(value);
    }
    bool number_unsigned(std::uint64_t value) { return scalar(value); }
    bool number_float(double value, const std::string& /*written*/) { return scalar(value); }
    bool string(std::string& value) { return scalar(std::move(value)); }
    bool binary(std::vector<std::uint8_t>& /*value*/) { return false; }
    bool start_object(std::size_t /*unknown*/) { return open(Node::Object{}); }
    bool start_array(std::size_t /*unknown*/) { return open(Node::Array{}); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string& name);
    bool parse_error(std::size_t position, const std::string& last_token,
                     const nlohmann::detail::exception& error);

    Node take() { return std::move(root_); }

  private:
    struct Open {
        Node node;
        std::string key;  // of the member whose value comes next
        Mark key_mark;
        std::unordered_map<std::string, Mark> seen;
    };

    template <class T>
    bool scalar(T&& value) {
        Node node{std::forward<T>(value), scanner_.next_value()};
        scanner_.pass();
        return counted(node.mark) && place(std::move(node));
    }
    template <class T>
    bool open(T&& container) {
        Node node{std::forward<T>(container), scanner_.next_value()};
        scanner_.pass();
        if (open_.size() >= deepest_nesting) {
            add(node.mark, "is nested deeper than " + std::to_string(deepest_nesting) + " levels");
            return false;
        }
        const Mark mark = node.mark;
        open_.push_back({std::move(node), {}, {}, {}});
        return counted(mark);
    }
    bool close() {
        scanner_.pass_closing();
        Node node = std::move(open_.back().node);
        open_.pop_back();
        return place(std::move(node));
    }
    bool place(Node node);
    bool counted(Mark mark);
    [[nodiscard]] std::string pointer() const;
    void add(Mark mark, std::string text) {
        problems_.add({file_, mark.line, mark.column, pointer(), std::move(text)});
    }

    std::string_view text_;
    const std::string& file_;
    bool comments_;
    Problems& problems_;
    Scanner scanner_;
    std::vector<Open> open_;
    std::size_t values_ = 0;
    Node root_;
};

bool Builder::place(Node node) {
    if (open_.empty()) {
        root_ = std::move(node);
        return true;
    }
    Open& into = open_.back();
    if (auto* array = into.node.array()) {
        array->push_back(std::move(node));
    } else {
        into.node.object()->push_back({std::move(into.key), into.key_mark, std::move(node)});
    }
    return true;
}

bool Builder::counted(Mark mark) {
    if (++values_ <= most_values) return true;
    add(mark, "the file holds more than " + std::to_string(most_values) + " values");
    return false;
}

bool Builder::key(std::string& name) {
    Open& into = open_.back();
    const Mark mark = scanner_.next_value();
    scanner_.pass();
    if (name.size() > longest_key) {
        into.key_mark = {};
        add(mark,
            "a key of " + std::to_string(name.size()) + " bytes; the most is " + std::to_string(longest_key));
        return false;
    }
    into.key_mark = mark;
    into.key = name;
    const auto [first, fresh] = into.seen.try_emplace(name, into.key_mark);
    if (!fresh) {
        add(into.key_mark, "duplicate key; it already stands at line " + std::to_string(first->second.line) +
                               ", column " + std::to_string(first->second.column) + ": keep one of them");
    }
    return true;
}

// Of the value that comes next.
std::string Builder::pointer() const {
    std::string out;
    for (const Open& open : open_) {
        if (const auto* array = open.node.array()) {
            out = child_pointer(out, array->size());
        } else if (!open.key.empty() || open.key_mark.line != 0) {
            out = child_pointer(out, open.key);
        }
    }
    return out;
}

bool Builder::parse_error(std::size_t position, const std::string& /*last_token*/,
                          const nlohmann::detail::exception& error) {
    SyntaxError found;
    found.what = without_last_read(error.what());
    found.comments = comments_;
    found.position = position;
    if (!open_.empty()) found.unclosed = open_.back().node.mark;
    found.unclosed_bracket = open_.empty() ? '\0' : open_.back().node.array() != nullptr ? '[' : '{';
    const auto [offset, text] = explain(text_, scanner_, found);
    const Mark mark = scanner_.mark_of(offset);
    problems_.add({file_, mark.line, mark.column, "", text});
    return false;
}

std::string scalar_text(const nlohmann::json& value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_string(std::string& out, const std::string& text) {
    const bool plain = std::all_of(text.begin(), text.end(),
                                   [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
    if (plain) {
        ((out += '"') += text) += '"';
    } else {
        out += scalar_text(text);
    }
}

// A tree of 20,000 streams is written at each change, so there is no other tree on the way.
class Writer {
  public:
    Writer(std::string& out, unsigned indent) : out_(out), indent_(indent) {}

    void write(const Node& node) {
        if (const auto* array = node.array()) {
            items('[', ']', *array, [this](const Node& item) { write(item); });
        } else if (const auto* object = node.object()) {
            items('{', '}', *object, [this](const Member& member) {
                write_string(out_, member.key);
                out_ += indent_ == 0 ? ":" : ": ";
                write(member.value);
            });
        } else {
            scalar(node);
        }
    }

  private:
    template <class Items, class Each>
    void items(char opening, char closing, const Items& all, const Each& each) {
        out_ += opening;
        ++depth_;
        for (const auto& item : all) {
            if (&item != &all.front()) out_ += ',';
            new_line();
            each(item);
        }
        --depth_;
        if (!all.empty()) new_line();
        out_ += closing;
    }
    void new_line() {
        if (indent_ != 0) (out_ += '\n').append(std::size_t{indent_} * depth_, ' ');
    }
    void scalar(const Node& node) {
        std::visit(
            [this](const auto& value) {
                using T = std::decay_t<decltype(value)>;
                if constexpr (std::is_same_v<T, std::string>) {
                    write_string(out_, value);
                } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
                    out_ += std::to_string(value);
                } else if constexpr (!std::is_same_v<T, Node::Array> && !std::is_same_v<T, Node::Object>) {
                    out_ += scalar_text(value);
                }
            },
            node.value);
    }

    std::string& out_;
    const unsigned indent_;
    std::size_t depth_ = 0;
};

}  // namespace

std::optional<Node> read_json(std::string_view text, const std::string& file, bool comments,
                              Problems& problems) {
    if (text.size() > most_bytes) {
        problems.add(
            {file, 0, 0, "",
             "is " + std::to_string(text.size()) + " bytes long; the most is " + std::to_string(most_bytes)});
        return std::nullopt;
    }
    // The parser takes a NUL byte for the end of its input and would ignore what follows.
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
        const Mark mark = Scanner(text, comments).mark_of(nul);
        problems.add({file, mark.line, mark.column, "", "a NUL byte; this is not a text file in UTF-8"});
        return std::nullopt;
    }
    Builder builder(text, file, comments, problems);
    const bool whole = nlohmann::json::sax_parse(text.begin(), text.end(), &builder,
                                                 nlohmann::json::input_format_t::json, true, comments);
    if (!whole) return std::nullopt;
    return builder.take();
}

std::string write_json(const Node& node, unsigned indent) {
    std::string out;
    Writer(out, indent).write(node);
    return out;
}

}  // namespace volley::config
