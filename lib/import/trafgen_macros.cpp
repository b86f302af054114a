#include "import/trafgen_macros.h"

#include <algorithm>
#include <cctype>

namespace volley::imports {
namespace {

constexpr int deepest = 64;
constexpr std::size_t most_chars = 4U << 20U;

bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string name_at(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    return std::string(text.substr(at, end - at));
}

Text trimmed(const Text& text) {
    std::size_t begin = 0;
    std::size_t end = text.chars.size();
    while (begin < end && blank(text.chars[begin])) ++begin;
    while (end > begin && blank(text.chars[end - 1])) --end;
    Text out;
    for (; begin < end; ++begin) out.add(text.chars[begin], text.marks[begin]);
    return out;
}

void append(Text& out, std::string_view chars, Mark mark) {
    for (const char c : chars) out.add(c, mark);
}

/// A macro's text stands where the macro was used.
Text placed(Text text, Mark mark) {
    std::fill(text.marks.begin(), text.marks.end(), mark);
    return text;
}

}  // namespace

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool begins_name(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// trafgen knows no escapes but '\xNN': the next quote of the same kind ends.
std::size_t end_of_quote(std::string_view text, std::size_t at) {
    const std::size_t end = text.find(text[at], at + 1);
    return end == std::string_view::npos ? text.size() : end + 1;
}

void Macros::spend(std::size_t chars, Mark mark) {
    spent_ += chars;
    if (spent_ > most_chars) fail(mark, "macros make more than 4 MiB of text");
}

void Macros::define(const Text& definition, Mark place) {
    const std::string& chars = definition.chars;
    if (chars.empty() || !begins_name(chars[0])) fail(place, "#define needs a name");
    const std::string name = name_at(chars, 0);
    std::size_t at = name.size();
    Macro macro;
    if (at < chars.size() && chars[at] == '(') {
        macro.function = true;
        const auto given = arguments(definition, at);
        if (!given) fail(place, "the parameters of " + name + " have no closing bracket");
        for (const Text& parameter : *given) {
            if (given->size() == 1 && parameter.chars.empty()) continue;
            const bool valid = !parameter.chars.empty() && begins_name(parameter.chars[0]) &&
                               std::all_of(parameter.chars.begin(), parameter.chars.end(), is_word);
            if (!valid) fail(place, "a parameter of " + name + " is no name");
            macro.parameters.push_back(parameter.chars);
        }
    }
    Text body;
    for (; at < chars.size(); ++at) body.add(chars[at], definition.marks[at]);
    macro.body = trimmed(body);
    macros_.insert_or_assign(name, std::move(macro));
}

Text Macros::expanded(const Text& text) {
    return expand(text, {}, 0);
}

/// `at` is at the opening bracket, and behind the closing one afterwards.
std::optional<std::vector<Text>> Macros::arguments(const Text& text, std::size_t& at) const {
    std::vector<Text> out(1);
    int depth = 0;
    std::size_t i = at;
    while (i < text.chars.size()) {
        const char c = text.chars[i];
        if (c == '"') {
            const std::size_t end = end_of_quote(text.chars, i);
            for (; i < end; ++i) out.back().add(text.chars[i], text.marks[i]);
            continue;
        }
        if (c == '(' && depth++ == 0) {
            ++i;
            continue;
        }
        if (c == ')' && --depth == 0) {
            for (Text& argument : out) argument = trimmed(argument);
            at = i + 1;
            return out;
        }
        if (c == ',' && depth == 1) {
            out.emplace_back();
        } else {
            out.back().add(c, text.marks[i]);
        }
        ++i;
    }
    return std::nullopt;
}

Text Macros::substitute(const Macro& macro, const std::vector<Text>& given, Mark place, const Hidden& hidden,
                        int depth) {
    Text out;
    const std::string& body = macro.body.chars;
    bool joins = false;
    for (std::size_t at = 0; at < body.size();) {
        if (body.compare(at, 2, "##") == 0) {
            out = trimmed(out);
            at += 2;
            while (at < body.size() && blank(body[at])) ++at;
            joins = true;
            continue;
        }
        if (body[at] == '"') {
            const std::size_t end = end_of_quote(body, at);
            append(out, std::string_view(body).substr(at, end - at), place);
            at = end;
        } else if (is_word(body[at])) {
            const std::string name = name_at(body, at);
            at += name.size();
            const auto parameter = std::find(macro.parameters.begin(), macro.parameters.end(), name);
            std::size_t after = at;
            while (after < body.size() && blank(body[after])) ++after;
            const bool joined = joins || body.compare(after, 2, "##") == 0;
            if (parameter == macro.parameters.end()) {
                append(out, name, place);
            } else {
                const Text& argument = given[static_cast<std::size_t>(parameter - macro.parameters.begin())];
                out.add(joined ? argument : expand(argument, hidden, depth + 1));
            }
        } else {
            out.add(body[at++], place);
        }
        joins = false;
    }
    return out;
}

// What a macro made may end with the name of one that takes its arguments from the text behind.
void Macros::call_by_made_name(Text& made, const Text& text, std::size_t& at, const Hidden& hidden,
                               int depth) {
    std::size_t begin = made.chars.size();
    while (begin > 0 && is_word(made.chars[begin - 1])) --begin;
    const std::string name = made.chars.substr(begin);
    const auto macro = macros_.find(name);
    if (macro == macros_.end() || !macro->second.function || hidden.contains(name)) return;
    std::size_t open = at;
    while (open < text.chars.size() && blank(text.chars[open])) ++open;
    std::size_t end = open;
    if (open == text.chars.size() || text.chars[open] != '(' || !arguments(text, end)) return;
    Text call;
    for (std::size_t i = begin; i < made.chars.size(); ++i) call.add(made.chars[i], made.marks[i]);
    for (std::size_t i = open; i < end; ++i) call.add(text.chars[i], text.marks[i]);
    made.chars.resize(begin);
    made.marks.resize(begin);
    made.add(expand(call, hidden, depth + 1));
    at = end;
}

Text Macros::expand(const Text& text, const Hidden& hidden, int depth) {
    Text out;
    const std::string& chars = text.chars;
    for (std::size_t at = 0; at < chars.size();) {
        const Mark mark = text.marks[at];
        if (chars[at] == '"') {
            for (const std::size_t end = end_of_quote(chars, at); at < end; ++at)
                out.add(chars[at], text.marks[at]);
            continue;
        }
        if (!is_word(chars[at])) {
            out.add(chars[at], mark);
            ++at;
            continue;
        }
        const std::string name = name_at(chars, at);
        const auto macro = macros_.find(name);
        // A letter between single quotes is that letter.
        const bool quoted = name.size() == 1 && at > 0 && chars[at - 1] == '\'' && at + 1 < chars.size() &&
                            chars[at + 1] == '\'';
        std::size_t next = at + name.size();
        if (macro == macros_.end() || hidden.contains(name) || quoted) {
            for (; at < next; ++at) out.add(chars[at], text.marks[at]);
            continue;
        }
        if (depth > deepest) fail(mark, "macros are nested too deeply");
        std::vector<Text> given;
        if (macro->second.function) {
            std::size_t open = next;
            while (open < chars.size() && blank(chars[open])) ++open;
            auto found = open < chars.size() && chars[open] == '(' ? arguments(text, open) : std::nullopt;
            if (!found) {
                for (; at < next; ++at) out.add(chars[at], text.marks[at]);
                continue;
            }
            if (macro->second.parameters.empty() && found->size() == 1 && found->front().chars.empty())
                found->clear();
            if (found->size() != macro->second.parameters.size()) {
                fail(mark, name + " takes " + std::to_string(macro->second.parameters.size()) +
                               " arguments and has " + std::to_string(found->size()));
            }
            given = std::move(*found);
            next = open;
        }
        Hidden inner = hidden;
        inner.insert(name);
        const Text body = macro->second.function ? substitute(macro->second, given, mark, hidden, depth)
                                                 : placed(macro->second.body, mark);
        spend(body.chars.size() + 1, mark);
        Text made = expand(body, inner, depth + 1);
        at = next;
        call_by_made_name(made, text, at, hidden, depth);
        out.add(made);
    }
    return out;
}

}  // namespace volley::imports
