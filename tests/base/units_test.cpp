#include "base/units.h"

#include <gtest/gtest.h>

#include "base/nearest.h"

namespace volley {
namespace {

Rate rate(std::string_view text) {
    std::string why;
    const auto parsed = parse_rate(text, why);
    EXPECT_TRUE(parsed) << text << ": " << why;
    return parsed.value_or(Rate{});
}

std::string refusal(std::string_view text) {
    std::string why;
    EXPECT_FALSE(parse_rate(text, why)) << text;
    return why;
}

TEST(Rate, is_parsed_exactly_with_decimal_case_sensitive_prefixes) {
    EXPECT_EQ(rate("1.2Mpps"), (Rate{Rate::Kind::packets, {1'200'000, 1}}));
    EXPECT_EQ(rate("10Gbps"), (Rate{Rate::Kind::bits_l2, {10'000'000'000, 1}}));
    EXPECT_EQ(rate("10Gbps@L1"), (Rate{Rate::Kind::bits_l1, {10'000'000'000, 1}}));
    EXPECT_EQ(rate("12.5%"), (Rate{Rate::Kind::percent, {25, 2}}));
    EXPECT_EQ(rate("0.1pps"), (Rate{Rate::Kind::packets, {1, 10}}));
    EXPECT_EQ(rate("max").kind, Rate::Kind::max);
}

TEST(Rate, without_a_unit_or_with_an_unknown_one_is_refused_naming_the_right_ones) {
    EXPECT_NE(refusal("1000").find("no unit"), std::string::npos);
    EXPECT_NE(refusal("10Gbit").find("unknown unit \"Gbit\""), std::string::npos);
    EXPECT_NE(refusal("1kPPS").find("use pps"), std::string::npos);
    EXPECT_NE(refusal("").find("number"), std::string::npos);
    EXPECT_NE(refusal("1.pps").find("number"), std::string::npos);
    EXPECT_NE(refusal("99999999999999999999999pps").find("too many digits"), std::string::npos);
}

TEST(Rate, prints_as_a_text_that_parses_back) {
    for (const char* text : {"1.2Mpps", "10Gbps", "10Gbps@L1", "12.5%", "0.1pps", "max", "999bps", "1pps"}) {
        EXPECT_EQ(to_text(rate(text)), text);
    }
}

TEST(Rate, of_64_byte_frames_at_ten_gigabit_line_rate_is_14880952_pps) {
    const auto pps = packets_per_second(rate("100%"), {64, 1}, 10'000'000'000);
    ASSERT_TRUE(pps);
    EXPECT_EQ(pps->num / pps->den, 14'880'952U);
    EXPECT_EQ(*packets_per_second(rate("10Gbps@L1"), {64, 1}, 0), *pps);
    EXPECT_EQ(*packets_per_second(rate("512bps"), {64, 1}, 0), (Rational{1, 1}));
    EXPECT_FALSE(packets_per_second(rate("50%"), {64, 1}, 0));
}

TEST(Duration, keeps_whole_nanoseconds_and_refuses_less) {
    std::string why;
    EXPECT_EQ(parse_duration("1.5us", why), Duration{1500});
    EXPECT_EQ(parse_duration("2m", why), Duration{120'000'000'000});
    EXPECT_FALSE(parse_duration("0.5ns", why));
    EXPECT_FALSE(parse_duration("10", why));
    EXPECT_NE(why.find("no unit"), std::string::npos);
    EXPECT_EQ(to_text(Duration{1'500'000'000}), "1500ms");
    EXPECT_EQ(to_text(Duration{0}), "0s");
}

TEST(Nearest, finds_the_name_that_was_meant_and_nothing_for_a_stranger) {
    constexpr std::string_view names[] = {"rate", "count", "frame_size"};
    EXPECT_EQ(nearest("ratte", names), "rate");
    EXPECT_EQ(nearest("Count", names), "count");
    EXPECT_EQ(nearest("frame-size", names), "frame_size");
    EXPECT_EQ(nearest("zzzzzz", names), "");
}

TEST(time, is_read_by_rfc_3339_and_written_so_that_it_reads_back) {
    const struct {
        std::string_view text;
        std::uint64_t ns;
        std::string_view written;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"},
        {"2026-07-01T12:00:00Z", 1'782'907'200'000'000'000, "2026-07-01T12:00:00Z"},
        {"2026-07-01t14:00:00.5+02:00", 1'782'907'200'500'000'000, "2026-07-01T12:00:00.5Z"},
        {"2024-02-29 23:59:59.000000001z", 1'709'251'199'000'000'001, "2024-02-29T23:59:59.000000001Z"},
        {"1999-12-31T19:00:00-05:30", 946'686'600'000'000'000, "2000-01-01T00:30:00Z"},
    };
    for (const auto& c : cases) {
        std::string why;
        EXPECT_EQ(parse_time(c.text, why), c.ns) << c.text;
        EXPECT_EQ(time_text(c.ns), c.written);
    }
}

TEST(time, refuses_what_is_no_time) {
    for (const std::string_view text :
         {"", "tomorrow", "2026-07-01", "2026-07-01T12:00:00", "2026-02-30T12:00:00Z", "2026-07-01T24:00:00Z",
          "2026-07-01T12:60:00Z", "2026-07-01T12:00:00.Z", "2026-07-01T12:00:00Z ", "1969-12-31T23:59:59Z",
          "2026-7-1T12:00:00Z", "2026-07-01T12:00:00+2:00"}) {
        std::string why;
        EXPECT_FALSE(parse_time(text, why)) << text;
        EXPECT_NE(why.find("RFC 3339"), std::string::npos);
    }
}

}  // namespace
}  // namespace volley
