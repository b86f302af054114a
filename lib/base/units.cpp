#include "base/units.h"

#include <array>
#include <chrono>
#include <limits>
#include <numeric>

namespace volley {
namespace {

using Wide = Uint128;

struct Number {
    Rational value;
    std::string_view rest;
};

// An unsigned decimal with an optional fraction, exactly: "1.25" is 5/4. No exponent, no sign.
std::optional<Number> parse_number(std::string_view text, std::string& why) {
    std::uint64_t num = 0;
    std::uint64_t den = 1;
    std::size_t i = 0;
    bool digits = false;
    bool point = false;
    for (; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9') break;
        digits = true;
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (num > (std::numeric_limits<std::uint64_t>::max() - digit) / 10 ||
            (point && den > std::numeric_limits<std::uint64_t>::max() / 10)) {
            why = "the number in \"" + std::string(text) + "\" has too many digits";
            return std::nullopt;
        }
        num = num * 10 + digit;
        if (point) den *= 10;
    }
    if (!digits || (point && text[i - 1] == '.')) {
        why = "\"" + std::string(text) + "\" does not start with a number such as 10 or 1.5";
        return std::nullopt;
    }
    return Number{reduced(num, den), text.substr(i)};
}

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::array<Unit, 5> prefixes{
    {{"", 1}, {"k", 1'000}, {"M", 1'000'000}, {"G", 1'000'000'000}, {"T", 1'000'000'000'000}}};
constexpr std::array<Unit, 6> time_units{{{"ns", 1},
                                          {"us", 1'000},
                                          {"ms", 1'000'000},
                                          {"s", 1'000'000'000},
                                          {"m", 60'000'000'000},
                                          {"h", 3'600'000'000'000}}};
constexpr std::string_view rate_units = "use pps, kpps, Mpps, bps, kbps, Mbps, Gbps, Gbps@L1, % or \"max\"";

std::optional<Rational> scaled(Rational value, std::uint64_t factor, std::string_view text,
                               std::string& why) {
    const std::uint64_t common = std::gcd(factor, value.den);
    const Wide num = static_cast<Wide>(value.num) * (factor / common);
    if (num > std::numeric_limits<std::uint64_t>::max()) {
        why = "\"" + std::string(text) + "\" is too large";
        return std::nullopt;
    }
    return reduced(static_cast<std::uint64_t>(num), value.den / common);
}

std::optional<std::uint64_t> prefix_factor(std::string_view prefix) {
    for (const Unit& unit : prefixes) {
        if (unit.name == prefix) return unit.factor;
    }
    return std::nullopt;
}

// Digits of num/den after the point; den is a product of twos and fives here.
std::string decimal(Rational value) {
    std::string out = std::to_string(value.num / value.den);
    std::uint64_t rest = value.num % value.den;
    if (rest != 0) out.push_back('.');
    for (int i = 0; rest != 0 && i < 20; ++i) {
        const Wide wide = static_cast<Wide>(rest) * 10;
        out.push_back(static_cast<char>('0' + static_cast<int>(wide / value.den)));
        rest = static_cast<std::uint64_t>(wide % value.den);
    }
    return out;
}

std::string with_prefix(Rational value, std::string_view unit) {
    for (std::size_t i = prefixes.size(); i-- > 0;) {
        if (value.num / value.den >= prefixes[i].factor || i == 0) {
            const std::uint64_t common = std::gcd(value.num, prefixes[i].factor);
            const Rational part = reduced(value.num / common, 1);
            const std::uint64_t rest = prefixes[i].factor / common;
            if (value.den <= std::numeric_limits<std::uint64_t>::max() / rest) {
                return decimal(reduced(part.num, value.den * rest)) + std::string(prefixes[i].name) +
                       std::string(unit);
            }
        }
    }
    return decimal(value) + std::string(unit);
}

}  // namespace

Rational reduced(std::uint64_t num, std::uint64_t den) {
    const std::uint64_t common = std::gcd(num, den);
    return {num / common, den / common};
}

std::optional<Rate> parse_rate(std::string_view text, std::string& why) {
    if (text == "max") return Rate{Rate::Kind::max, {}};
    const auto number = parse_number(text, why);
    if (!number) {
        why += "; a rate is a string with a unit: " + std::string(rate_units);
        return std::nullopt;
    }
    std::string_view unit = number->rest;
    if (unit == "%") return Rate{Rate::Kind::percent, number->value};
    Rate::Kind kind = Rate::Kind::packets;
    std::string_view prefix;
    const auto ends = [&](std::string_view tail) {
        if (!unit.ends_with(tail)) return false;
        prefix = unit.substr(0, unit.size() - tail.size());
        return true;
    };
    bool known = false;
    if (ends("bps@L1")) {
        kind = Rate::Kind::bits_l1;
        known = true;
    } else if (ends("bps@L2") || ends("bps")) {
        kind = Rate::Kind::bits_l2;
        known = true;
    } else if (ends("pps")) {
        known = true;
    }
    const auto factor = known ? prefix_factor(prefix) : std::nullopt;
    if (!factor) {
        why = unit.empty() ? "\"" + std::string(text) + "\" has no unit; " + std::string(rate_units)
                           : "unknown unit \"" + std::string(unit) + "\" in \"" + std::string(text) + "\"; " +
                                 std::string(rate_units);
        return std::nullopt;
    }
    const auto value = scaled(number->value, *factor, text, why);
    if (!value) return std::nullopt;
    return Rate{kind, *value};
}

std::optional<Duration> parse_duration(std::string_view text, std::string& why) {
    const auto number = parse_number(text, why);
    if (!number) {
        why += "; a duration is a string with a unit: use ns, us, ms, s, m or h";
        return std::nullopt;
    }
    for (const Unit& unit : time_units) {
        if (unit.name != number->rest) continue;
        const auto value = scaled(number->value, unit.factor, text, why);
        if (!value) return std::nullopt;
        if (value->den != 1) {
            why = "\"" + std::string(text) + "\" is not a whole number of nanoseconds";
            return std::nullopt;
        }
        return Duration{value->num};
    }
    why = number->rest.empty() ? "\"" + std::string(text) + "\" has no unit; use ns, us, ms, s, m or h"
                               : "unknown unit \"" + std::string(number->rest) + "\" in \"" +
                                     std::string(text) + "\"; use ns, us, ms, s, m or h";
    return std::nullopt;
}

std::optional<std::uint64_t> parse_time(std::string_view text, std::string& why) {
    why = '"' + std::string(text) +
          "\" is not a time by RFC 3339, such as \"2026-07-01T12:00:00Z\" or \"2026-07-01T14:00:00.5+02:00\"";
    std::string_view rest = text;
    const auto digits = [&](std::size_t count) -> std::optional<unsigned> {
        unsigned value = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (i >= rest.size() || rest[i] < '0' || rest[i] > '9') return std::nullopt;
            value = value * 10 + static_cast<unsigned>(rest[i] - '0');
        }
        rest.remove_prefix(count);
        return value;
    };
    const auto sign = [&](std::string_view any) {
        if (rest.empty() || any.find(rest.front()) == std::string_view::npos) return '\0';
        const char found = rest.front();
        rest.remove_prefix(1);
        return found;
    };
    const auto year = digits(4);
    if (!year || sign("-") == 0) return std::nullopt;
    const auto month = digits(2);
    if (!month || sign("-") == 0) return std::nullopt;
    const auto day = digits(2);
    if (!day || sign("Tt ") == 0) return std::nullopt;
    const auto hour = digits(2);
    if (!hour || sign(":") == 0) return std::nullopt;
    const auto minute = digits(2);
    if (!minute || sign(":") == 0) return std::nullopt;
    const auto second = digits(2);
    if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    std::uint64_t fraction = 0;
    if (sign(".") != 0) {
        std::uint64_t unit = 100'000'000;
        if (rest.empty() || rest.front() < '0' || rest.front() > '9') return std::nullopt;
        for (; !rest.empty() && rest.front() >= '0' && rest.front() <= '9';
             rest.remove_prefix(1), unit /= 10) {
            fraction +=
                static_cast<std::uint64_t>(rest.front() - '0') * unit;  // digits below 1 ns count nothing
        }
    }
    const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                           std::chrono::month(*month), std::chrono::day(*day)};
    if (!date.ok()) return std::nullopt;
    std::int64_t seconds = std::chrono::sys_days(date).time_since_epoch() / std::chrono::seconds(1);
    seconds += *hour * 3600 + *minute * 60 + *second;
    const char zone = sign("Zz+-");
    if (zone == 0) return std::nullopt;
    if (zone == '+' || zone == '-') {
        const auto hours = digits(2);
        if (!hours || sign(":") == 0) return std::nullopt;
        const auto minutes = digits(2);
        if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
        const std::int64_t offset = *hours * 3600 + *minutes * 60;
        seconds += zone == '+' ? -offset : offset;
    }
    constexpr std::int64_t last = 9'000'000'000;  // the year 2255, within 64 bits of nanoseconds
    if (!rest.empty() || seconds < 0 || seconds > last) return std::nullopt;
    return static_cast<std::uint64_t>(seconds) * 1'000'000'000 + fraction;
}

std::optional<std::uint64_t> parse_speed(std::string_view text, std::string& why) {
    const auto rate = parse_rate(text, why);
    if (rate && rate->kind == Rate::Kind::bits_l2 && rate->value.den == 1 && rate->value.num > 0 &&
        !text.ends_with("@L2")) {
        return rate->value.num;
    }
    why = "\"" + std::string(text) + "\" is not a link speed such as \"10Gbps\" or \"100Mbps\"";
    return std::nullopt;
}

std::string to_text(const Rate& rate) {
    switch (rate.kind) {
        case Rate::Kind::max:
            return "max";
        case Rate::Kind::packets:
            return with_prefix(rate.value, "pps");
        case Rate::Kind::bits_l2:
            return with_prefix(rate.value, "bps");
        case Rate::Kind::bits_l1:
            return with_prefix(rate.value, "bps@L1");
        case Rate::Kind::percent:
            return decimal(rate.value) + "%";
    }
    return {};
}

std::string to_text(Duration duration) {
    for (std::size_t i = 4; i-- > 0;) {  // ns, us, ms, s: the units that read back without surprise
        if (duration.ns % time_units[i].factor == 0 && (duration.ns != 0 || i == 3)) {
            return std::to_string(duration.ns / time_units[i].factor) + std::string(time_units[i].name);
        }
    }
    return std::to_string(duration.ns) + "ns";
}

std::string time_text(std::uint64_t unix_ns) {
    const auto seconds = static_cast<std::int64_t>(unix_ns / 1'000'000'000);
    const std::chrono::sys_days day{std::chrono::days(seconds / 86'400)};
    const std::chrono::year_month_day date(day);
    const auto of_day = static_cast<unsigned>(seconds % 86'400);
    const auto padded = [](std::uint64_t value, std::size_t width) {
        std::string out = std::to_string(value);
        return std::string(out.size() < width ? width - out.size() : 0, '0') + out;
    };
    std::string fraction = "." + padded(unix_ns % 1'000'000'000, 9);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    if (fraction == ".") fraction.clear();
    return padded(static_cast<std::uint64_t>(static_cast<int>(date.year())), 4) + '-' +
           padded(static_cast<unsigned>(date.month()), 2) + '-' +
           padded(static_cast<unsigned>(date.day()), 2) + 'T' + padded(of_day / 3600, 2) + ':' +
           padded(of_day / 60 % 60, 2) + ':' + padded(of_day % 60, 2) + fraction + 'Z';
}

std::string speed_text(std::uint64_t bits_per_second) {
    return with_prefix({bits_per_second, 1}, "bps");
}

std::optional<Rational> packets_per_second(const Rate& rate, Rational l2_bytes, std::uint64_t link_bps) {
    const auto l2_bits = static_cast<Wide>(l2_bytes.num) * 8;
    const auto l1_bits =
        (static_cast<Wide>(l2_bytes.num) + static_cast<Wide>(l1_overhead_bytes) * l2_bytes.den) * 8;
    Wide num = rate.value.num;
    Wide den = rate.value.den;
    switch (rate.kind) {
        case Rate::Kind::max:
            return std::nullopt;
        case Rate::Kind::packets:
            return rate.value;
        case Rate::Kind::bits_l2:
            num *= l2_bytes.den;
            den *= l2_bits;
            break;
        case Rate::Kind::bits_l1:
            num *= l2_bytes.den;
            den *= l1_bits;
            break;
        case Rate::Kind::percent:
            if (link_bps == 0) return std::nullopt;
            num *= static_cast<Wide>(link_bps) * l2_bytes.den;
            den *= l1_bits * 100;
            break;
    }
    Wide a = num;
    Wide b = den;
    while (b != 0) {
        const Wide rest = a % b;
        a = b;
        b = rest;
    }
    if (a == 0) return Rational{0, 1};
    num /= a;
    den /= a;
    // Only rates with many digits on odd sizes need more than 64 bits; there the last bit is below 1e-15.
    while (num > std::numeric_limits<std::uint64_t>::max() ||
           den > std::numeric_limits<std::uint64_t>::max()) {
        num >>= 1;
        den >>= 1;
    }
    if (den == 0) return std::nullopt;
    return reduced(static_cast<std::uint64_t>(num), static_cast<std::uint64_t>(den));
}

}  // namespace volley
