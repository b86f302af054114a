#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/trafgen_text.h"

namespace volley::imports {

struct Macro {
    bool function = false;
    std::vector<std::string> parameters;
    Text body;
};

/// The macros in force, and what a text becomes by them (C11 section 6.10.3, without variadic macros).
class Macros {
  public:
    explicit Macros(const Preprocessed& context) : context_(context) {}

    /// "NAME body" or "NAME(a, b) body", the text behind #define.
    void define(const Text& definition, Mark place);
    void undefine(const std::string& name) { macros_.erase(name); }
    [[nodiscard]] bool defined(const std::string& name) const { return macros_.contains(name); }

    [[nodiscard]] Text expanded(const Text& text);

  private:
    using Hidden = std::set<std::string, std::less<>>;
    Text expand(const Text& text, const Hidden& hidden, int depth);
    void call_by_made_name(Text& made, const Text& text, std::size_t& at, const Hidden& hidden, int depth);
    std::optional<std::vector<Text>> arguments(const Text& text, std::size_t& at) const;
    Text substitute(const Macro& macro, const std::vector<Text>& given, Mark place, const Hidden& hidden,
                    int depth);
    [[noreturn]] void fail(Mark mark, const std::string& text) const {
        throw Error(context_.place(mark) + ": " + text);
    }
    void spend(std::size_t chars, Mark mark);

    const Preprocessed& context_;
    std::map<std::string, Macro, std::less<>> macros_;
    std::size_t spent_ = 0;
};

bool is_word(char c);
bool begins_name(char c);
/// The end of the quoted text that begins at `at`, behind its closing quote or at the end of the text.
std::size_t end_of_quote(std::string_view text, std::size_t at);

}  // namespace volley::imports
