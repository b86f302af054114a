#include "config/decoder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unordered_set>

#include "base/nearest.h"
#include "config/print.h"
#include "config/reader.h"

namespace volley::config {
namespace {

constexpr std::size_t longest_name = 64;

bool printable(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
}

std::string list_of(std::span<const std::string_view> words, std::string_view before_last) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) out += i + 1 == words.size() ? before_last : ", ";
        out += quote(words[i]);
    }
    return out;
}

std::string place_name(std::string_view object) {
    return object.empty() ? "at the top level" : "in " + std::string(object);
}

std::string places_of(std::string_view key) {
    std::string out;
    int found = 0;
    for (const KeyInfo& info : all_keys()) {
        if (info.key.name != key || ++found > 3) continue;
        out += (found > 1 ? " or " : "") + place_name(info.object);
    }
    return out;
}

}  // namespace

void Decoder::wrong(Mark mark, std::string pointer, std::string text) {
    problems_.add(
        {mark.line == 0 ? "--set" : file_, mark.line, mark.column, std::move(pointer), std::move(text)});
}

void Decoder::mismatch(const At& at, std::string_view wanted) {
    wrong(at, "is " + describe(at.node) + "; " + std::string(wanted) + " is needed");
}

void Decoder::read(const At& at, bool& out) {
    if (const bool* value = at.node.boolean()) {
        out = *value;
    } else {
        mismatch(at, "true or false");
    }
}

void Decoder::text(const At& at, std::string_view wanted, std::string& out) {
    std::optional<std::string> value;
    text(at, wanted, value);
    if (value) out = std::move(*value);
}

void Decoder::text(const At& at, std::string_view wanted, std::optional<std::string>& out) {
    const std::string* value = at.node.text();
    if (value == nullptr || value->empty()) {
        mismatch(at, wanted);
    } else if (!printable(*value)) {
        wrong(at, quote(*value) + " holds control characters");
    } else {
        out = *value;
    }
}

void Decoder::name(const At& at, std::string& out) {
    std::optional<std::string> value;
    text(at, "a name such as \"east\"", value);
    if (!value) return;
    if (value->find_first_of("*?[/") != std::string::npos) {
        wrong(at, quote(*value) + " is no name: * ? [ and / are kept for patterns and paths");
    } else if (value->size() > longest_name) {
        wrong(at, "the name is " + std::to_string(value->size()) + " bytes long; the most is " +
                      std::to_string(longest_name));
    } else if (*value == "_other" || value->front() == '.') {
        wrong(at, quote(*value) + " is kept for the program itself; choose another name");
    } else {
        out = std::move(*value);
    }
}

void Decoder::choice(const At& at, std::span<const std::string_view> choices, std::string& out) {
    const std::string* value = at.node.text();
    if (value != nullptr && std::find(choices.begin(), choices.end(), *value) != choices.end()) {
        out = *value;
        return;
    }
    std::string wanted = (choices.size() > 1 ? "one of " : "") + list_of(choices, " or ");
    if (value != nullptr) {
        const auto close = nearest(*value, choices);
        if (!close.empty()) wanted += " (did you mean " + quote(close) + "?)";
    }
    mismatch(at, wanted);
}

void Decoder::path(const At& at, std::string& out) {
    std::optional<std::string> value;
    text(at, "a path", value);
    if (!value) return;
    const std::filesystem::path path(*value);
    out = base_.empty() || path.is_absolute()
              ? *value
              : (std::filesystem::path(base_) / path).lexically_normal().string();
}

void Decoder::texts(const At& at, std::string_view wanted, std::vector<std::string>& out) {
    const auto* array = at.node.array();
    if (array == nullptr) {
        mismatch(at, "an array of texts");
        return;
    }
    out.clear();
    for (std::size_t i = 0; i < array->size(); ++i) {
        text({(*array)[i], child_pointer(at.pointer, i)}, wanted, out.emplace_back());
    }
}

void Decoder::real(const At& at, double low, double high, double& out) {
    double value = 0;
    if (const auto* number = at.node.number()) {
        value = static_cast<double>(*number);
    } else if (const auto* fraction = std::get_if<double>(&at.node.value)) {
        value = *fraction;
    } else {
        mismatch(at, "a number such as 1.5");
        return;
    }
    if (value < low || value > high) {
        wrong(at, "is " + describe(at.node) + "; it goes from " + write_json({low, {}}, 0) + " to " +
                      write_json({high, {}}, 0));
        return;
    }
    out = value;
}

void Decoder::rate(const At& at, std::optional<Rate>& out) {
    const std::string* value = at.node.text();
    if (value == nullptr) {
        mismatch(at, "a text with a unit such as \"10Gbps\", \"50%\", \"1.2Mpps\" or \"max\"");
        return;
    }
    std::string why;
    const auto parsed = parse_rate(*value, why);
    if (!parsed) {
        wrong(at, why);
    } else if (parsed->kind != Rate::Kind::max && parsed->value.num == 0) {
        wrong(at, "a rate of " + quote(*value) + " never sends; say \"enabled\": false instead");
    } else {
        out = *parsed;
    }
}

void Decoder::speed(const At& at, std::optional<std::uint64_t>& out) {
    const std::string* value = at.node.text();
    std::string why;
    if (value == nullptr) {
        mismatch(at, "a text with a unit such as \"10Gbps\"");
    } else if (const auto parsed = parse_speed(*value, why)) {
        out = *parsed;
    } else {
        wrong(at, why);
    }
}

void Decoder::duration(const At& at, Duration low, Duration high, Duration& out) {
    std::optional<Duration> value;
    duration(at, low, high, value);
    if (value) out = *value;
}

void Decoder::duration(const At& at, Duration low, Duration high, std::optional<Duration>& out) {
    const std::string* value = at.node.text();
    if (value == nullptr) {
        mismatch(at, "a text with a unit such as \"10ms\" or \"60s\"");
        return;
    }
    std::string why;
    const auto parsed = parse_duration(*value, why);
    if (!parsed) {
        wrong(at, why);
    } else if (*parsed < low || *parsed > high) {
        wrong(at, quote(*value) + " is out of range; it goes from " + to_text(low) + " to " + to_text(high));
    } else {
        out = *parsed;
    }
}

std::optional<std::uint64_t> Decoder::integer(const At& at, std::uint64_t low, std::uint64_t high) {
    const std::uint64_t* value = at.node.number();
    if (value != nullptr && *value >= low && *value <= high) return *value;
    const std::string range = high == UINT64_MAX
                                  ? "of at least " + std::to_string(low)
                                  : "from " + std::to_string(low) + " to " + std::to_string(high);
    mismatch(at, "an integer " + range);
    return std::nullopt;
}

void Decoder::integers(const At& at, std::uint64_t low, std::uint64_t high, std::vector<std::uint32_t>& out) {
    const auto* array = at.node.array();
    if (array == nullptr || array->empty()) {
        mismatch(at, "an array of at least one integer");
        return;
    }
    out.clear();
    std::unordered_set<std::uint32_t> seen;
    for (std::size_t i = 0; i < array->size(); ++i) {
        const At item{(*array)[i], child_pointer(at.pointer, i)};
        const auto value = integer(item, low, high);
        if (!value) continue;
        const auto number = static_cast<std::uint32_t>(*value);
        if (!seen.insert(number).second) {
            wrong(item, std::to_string(number) + " stands twice in this list");
        } else {
            out.push_back(number);
        }
    }
}

void Decoder::later_key(const LaterKey& later, const Member& member, const std::string& pointer) {
    if (!later.standard.empty()) {
        Problems none;
        const auto standard = read_json(later.standard, "", false, none);
        if (standard && same_value(*standard, member.value)) return;
    }
    wrong(member.mark, pointer,
          quote(member.key) + " is not available in this version (" + std::string(later.description) + ")" +
              (later.standard.empty() ? "; remove it"
                                      : "; remove it or leave it at " + std::string(later.standard)));
}

void Decoder::unknown_key(std::string_view object, const Member& member, const std::string& pointer,
                          std::span<const std::string_view> names) {
    if (problems_.full()) return wrong(member.mark, pointer, "unknown key");  // counted, never read
    const std::string_view close = nearest(member.key, names);
    const std::string elsewhere = places_of(member.key);
    std::string text = "unknown key " + quote(member.key) + " " + place_name(object);
    if (!elsewhere.empty()) {
        text += "; it belongs " + elsewhere;
    } else if (!close.empty()) {
        text += "; did you mean " + quote(close) + "?";
    } else {
        text += "; known here: " + list_of(names, " and ");
    }
    wrong(member.mark, pointer, text);
}

}  // namespace volley::config
