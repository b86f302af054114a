#include "config/scanner.h"

#include <algorithm>

namespace volley::config {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view single = "{}[],:";

void step(Mark& mark, char c) {
    if (c == '\n') {
        ++mark.line;
        mark.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80U) {  // not a continuation byte of UTF-8
        ++mark.column;
    }
}

}  // namespace

Scanner::Scanner(std::string_view text, bool comments) : text_(text), comments_(comments) {
    if (text.starts_with(byte_order_mark)) at_ = last_ = marked_ = byte_order_mark.size();
}

std::size_t Scanner::skip_blank(std::size_t at) const {
    for (;;) {
        at = std::min(text_.find_first_not_of(blanks, at), text_.size());
        const std::string_view rest = text_.substr(at);
        if (comments_ && rest.starts_with("//")) {
            at = std::min(text_.find('\n', at), text_.size());
        } else if (comments_ && rest.starts_with("/*")) {
            const std::size_t close = text_.find("*/", at + 2);
            at = close == std::string_view::npos ? text_.size() : close + 2;
        } else {
            return at;
        }
    }
}

std::size_t Scanner::token_end(std::size_t at) const {
    if (at >= text_.size()) return text_.size();
    if (text_[at] == '"') {
        for (++at; at < text_.size() && text_[at] != '"'; ++at) {
            if (text_[at] == '\\') ++at;
        }
        return std::min(at + 1, text_.size());
    }
    if (single.find(text_[at]) != std::string_view::npos) return at + 1;
    const std::size_t end = text_.find_first_of("{}[],:\" \t\r\n/", at);
    return std::max(std::min(end, text_.size()), at + 1);
}

Mark Scanner::next_value() {
    at_ = skip_blank(at_);
    while (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ':')) at_ = skip_blank(at_ + 1);
    advance_mark(at_);
    return mark_;
}

void Scanner::pass() {
    last_ = at_;
    at_ = token_end(at_);
}

void Scanner::pass_closing() {
    at_ = skip_blank(at_);
    pass();
}

std::size_t Scanner::token_before(std::size_t end) const {
    if (end <= at_) return last_;
    std::size_t start = skip_blank(at_);
    while (start < text_.size() && token_end(start) < end) start = skip_blank(token_end(start));
    return start;
}

char Scanner::last_before(std::size_t at) const {
    char last = '\0';
    for (std::size_t i = skip_blank(at_); i < at; i = skip_blank(token_end(i))) last = text_[i];
    return last;
}

Mark Scanner::mark_of(std::size_t offset) const {
    Mark mark{1, 1};
    for (std::size_t i = text_.starts_with(byte_order_mark) ? 3 : 0; i < std::min(offset, text_.size());
         ++i) {
        step(mark, text_[i]);
    }
    return mark;
}

void Scanner::advance_mark(std::size_t offset) {
    for (; marked_ < offset; ++marked_) step(mark_, text_[marked_]);
}

}  // namespace volley::config
