#include "config/lcores.h"

#include <charconv>

#include "config/print.h"

namespace volley::config {
namespace {

using Set = std::set<std::uint32_t>;

class Parser {
  public:
    Parser(std::string_view text, std::string& why) : text_(text), why_(why) {}

    std::optional<Set> all() {
        Set lcores;
        do {
            bool group = false;
            const auto ids = set(most_lcores, "lcore", group);
            if (!ids) return std::nullopt;
            if (take('@')) {
                bool ignored = false;
                if (!set(most_cpus, "CPU", ignored)) return std::nullopt;
            }
            for (const std::uint32_t id : *ids) {
                if (lcores.insert(id).second) continue;
                why_ = "lcore " + std::to_string(id) + " stands twice in " + quote(text_);
                return std::nullopt;
            }
        } while (take(','));
        if (at_ != text_.size()) return refuse("unexpected " + quote(text_.substr(at_, 1)));
        return lcores;
    }

  private:
    std::optional<Set> refuse(const std::string& what) {
        why_ = what + " in " + quote(text_) + "; write lcores as \"0@0,1@0\", \"0-3\" or \"(0-3)@1\"";
        return std::nullopt;
    }
    bool take(char c) {
        skip();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    // One number, one range, or a list of them in brackets.
    std::optional<Set> set(std::uint32_t most, std::string_view what, bool& group) {
        Set out;
        group = take('(');
        do {
            const auto first = number(most, what);
            if (!first) return std::nullopt;
            auto last = first;
            if (take('-')) last = number(most, what);
            if (!last) return std::nullopt;
            if (*last < *first)
                return refuse("the range " + std::to_string(*first) + "-" + std::to_string(*last) +
                              " runs backwards");
            for (std::uint32_t i = *first; i <= *last; ++i) out.insert(i);
        } while (group && take(','));
        if (group && !take(')')) return refuse("\")\" is missing");
        return out;
    }
    std::optional<std::uint32_t> number(std::uint32_t most, std::string_view what) {
        skip();
        std::uint32_t value = 0;
        const char* begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc{} && end == begin) {
            refuse("the number of a " + std::string(what) + " is missing");
            return std::nullopt;
        }
        at_ += static_cast<std::size_t>(end - begin);
        if (error != std::errc{} || value >= most) {
            refuse(std::string(what) + " numbers go from 0 to " + std::to_string(most - 1) + ": " +
                   std::string(begin, end));
            return std::nullopt;
        }
        return value;
    }

    std::string_view text_;
    std::string& why_;
    std::size_t at_ = 0;
};

}  // namespace

std::optional<Set> parse_lcores(std::string_view text, std::string& why) {
    return Parser(text, why).all();
}

}  // namespace volley::config
