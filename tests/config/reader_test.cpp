#include "config/reader.h"

#include <gtest/gtest.h>

#include "config/support.h"

namespace volley::config {
namespace {

using namespace std::string_literals;

std::string told(std::string_view text, bool comments = true) {
    Problems problems;
    const auto node = read_json(text, "f", comments, problems);
    try {
        problems.throw_if_any();
    } catch (const Error& error) {
        return error.what();
    }
    return node ? "accepted" : "refused without a word";
}

TEST(Reader, knows_line_and_column_of_every_value_and_key) {
    Problems problems;
    const auto node = read_json(
        "{ // {\"x\"\n  \"a\" : [1, /* \" */ \"é\\\"\", {\"b\":\n null}],\n\t\"é\": -2.5e3, \"d\": {}}", "f",
        true, problems);
    ASSERT_TRUE(node);
    const auto place = [&](const char* pointer) {
        const Mark mark = locate(*node, pointer);
        return std::to_string(mark.line) + ":" + std::to_string(mark.column);
    };
    EXPECT_EQ(place(""), "1:1");
    EXPECT_EQ(place("/a"), "2:9");
    EXPECT_EQ(place("/a/0"), "2:10");
    EXPECT_EQ(place("/a/1"), "2:21");
    EXPECT_EQ(place("/a/2"), "2:28");
    EXPECT_EQ(place("/a/2/b"), "3:2");
    EXPECT_EQ(place("/é"), "4:7");
    EXPECT_EQ(place("/d"), "4:20");
    EXPECT_EQ(place("/a/2/missing/deeper"), "2:28") << "the deepest value that exists";
    EXPECT_EQ((*node->object())[1].mark.column, 2U);
}

TEST(Reader, takes_windows_lines_and_a_byte_order_mark) {
    Problems problems;
    const auto node = read_json("\xef\xbb\xbf{\r\n \"a\": 1}\r\n", "f", true, problems);
    ASSERT_TRUE(node);
    EXPECT_EQ(locate(*node, "").column, 1U);
    EXPECT_EQ(locate(*node, "/a").line, 2U);
}

TEST(Reader, finds_every_duplicate_key_and_says_where_the_first_stands) {
    EXPECT_EQ(told("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2}, \"a\": 3, \"\\u0061\": 4}"),
              "f:2:16: /b/c: duplicate key; it already stands at line 2, column 8: keep one of them\n"
              "f:2:25: /a: duplicate key; it already stands at line 1, column 2: keep one of them\n"
              "f:2:33: /a: duplicate key; it already stands at line 1, column 2: keep one of them");
    EXPECT_EQ(told(R"([{"x/y~": 1, "x/y~": 2}])").substr(0, 22), "f:1:14: /0/x~1y~0: dup");
}

TEST(Reader, explains_syntax_errors_with_place_and_next_step) {
    const std::pair<const char*, const char*> cases[] = {
        {"{\"a\": 1,\n}", "f:2:1: remove the comma before \"}\": nothing follows it"},
        {"[1,]", "f:1:4: remove the comma before \"]\""},
        {"[1,,2]", "f:1:4: two commas in a row; remove one"},
        {"{\"a\": 1\n \"b\": 2}", "f:2:2: \",\" is missing before this"},
        {"{\"a\" 1}", "f:1:6: \":\" is missing between a key and its value"},
        {"{\"a\": }", "f:1:7: a value is missing before \"}\""},
        {"{\"a\": [1, 2}", "f:1:12: \"}\" stands where \"]\" or \",\" was expected"},
        {"{\"a\": 1}}", "f:1:9: nothing may follow the end of the configuration"},
        {"{\"a\": [\n1", "f:2:2: the file ends here, but the \"[\" of line 1, column 7 is not closed"},
        {"", "f:1:1: the file is empty"},
        {"{'a': 1}", "f:1:2: texts need double quotes"},
        {"{a: 1}", "f:1:2: a key needs double quotes: \"a\""},
        {"{1: 2}", "f:1:2: a key needs double quotes: \"1\""},
        {"{,}", "f:1:2: a key in double quotes was expected here"},
        {"{\"a\": True}", "f:1:7: write true in small letters"},
        {"{\"a\": None}", "f:1:7: \"None\" is not JSON; write null"},
        {"{\"a\": yes}", "f:1:7: \"yes\" is not JSON; write true"},
        {"{\"a\": off}", "f:1:7: \"off\" is not JSON; write false"},
        {"{\"a\": NaN}", "f:1:7: \"NaN\" is not a number that JSON knows"},
        {"{\"a\": 10Gbps}", "f:1:7: \"10Gbps\" is not a number"},
        {"{\"a\": east}", "f:1:7: \"east\" needs double quotes to be a text"},
        {"{\"a\": 0x10}", "f:1:7: a hexadecimal number needs double quotes: \"0x10\""},
        {"{\"a\": 01}", "f:1:7: \"01\" is not a number"},
        {"{\"a\": +1}", "f:1:7: \"+1\" is not a number"},
        {"{\"a\": 1e400}", "f:1:7: the number \"1e400\" is too large"},
        {"{\"a\": -1e400}", "f:1:7: the number \"-1e400\" is too large"},
        {"{\"a\": “x”}", "f:1:7: this character stands outside a text"},
        {"# x\n{}", "f:1:1: a comment starts with // or stands between /* and */"},
        {"{} /* x", "the comment /* has no closing */"},
        {"{\"a\": \"x", "f:1:7: this text has no closing \""},
        {"{\"a\": \"x\ny\"}", "f:1:9: a text must end on its line"},
        {"{\"a\": \"\t\"}", "f:1:8: a control character in a text; write it as an escape such as \\t"},
        {"{\"a\": \"\\q\"}", "f:1:9: unknown escape; write \\\\ for a backslash"},
        {"{\"a\": \"\\ud800\"}", "\\u needs 4 hex digits, and a character above U+FFFF needs a pair of them"},
        {"{\"a\": \"\\udc00\"}", "\\u needs 4 hex digits"},
        {"{\"a\": \"\\u12g4\"}", "\\u needs 4 hex digits"},
        {"{\"a\": \"\xff\"}", "this byte is not valid UTF-8; save the file as UTF-8"},
        {"{\"a\": \"\xed\xa0\x80\"}", "this byte is not valid UTF-8"},
        {"\xff\xfe{", "f:1:1: this character stands outside a text"},
        {"\xef\xbb{}", "f:1:1: the file is not UTF-8; save it as UTF-8"},
        {"{\"a\": (1)}", "f:1:7: unexpected \"(\"; a value was expected here"},
    };
    for (const auto& [text, wanted] : cases) {
        EXPECT_NE(told(text).find(wanted), std::string::npos)
            << text << "\ntells " << told(text) << "\nnot   " << wanted;
    }
}

TEST(Reader, refuses_comments_where_they_are_turned_off) {
    EXPECT_EQ(told("{} // x"), "accepted");
    EXPECT_NE(told("{} // x", false).find("f:1:4: comments are allowed in files only"), std::string::npos);
    EXPECT_NE(told("{/* x */}", false).find("comments are allowed in files only; send plain JSON"),
              std::string::npos);
    EXPECT_NE(told("// x\n{}", false).find("f:1:1: comments are allowed in files only"), std::string::npos);
    ParseOptions options;
    options.comments = false;
    EXPECT_NE(problems_of("/* */" + small_file("", R"(, "rate": "1pps")"), options), "");
}

TEST(Reader, does_not_stop_at_a_nul_byte) {
    EXPECT_EQ(told("{}\0garbage"s), "f:1:3: a NUL byte; this is not a text file in UTF-8");
    EXPECT_EQ(told("{\"a\": \"\\u0000\"}"), "accepted");
}

TEST(Reader, bounds_depth_size_and_number_of_values) {
    for (const char* open : {"[", "{\"a\":"}) {
        std::string deep;
        for (int i = 0; i < 1'000'000; ++i) deep += open;
        EXPECT_NE(told(deep).find("is nested deeper than 64 levels"), std::string::npos);
    }
    std::string many = "[0";
    for (std::size_t i = 0; i < most_values; ++i) many += ",0";
    EXPECT_NE(told(many + "]").find("more than 1000000 values"), std::string::npos);
    const std::string large = "{\"a\": \"" + std::string(100'000'000, 'x') + "\"}";
    EXPECT_EQ(told(large), "f: is 100000009 bytes long; the most is 33554432");
    const std::string longest = "[\"" + std::string(most_bytes - 4, 'x') + "\"]";
    EXPECT_EQ(told(longest), "accepted");
}

TEST(Reader, keeps_a_number_in_the_form_it_has) {
    Problems problems;
    const auto node =
        read_json("[0, -0, 18446744073709551615, -9223372036854775808, 18446744073709551616, 1.0]", "f", true,
                  problems);
    ASSERT_TRUE(node);
    EXPECT_EQ(*(*node->array())[1].number(), 0U);
    EXPECT_EQ(*(*node->array())[2].number(), UINT64_MAX);
    EXPECT_EQ(std::get<std::int64_t>((*node->array())[3].value), INT64_MIN);
    EXPECT_EQ(std::get<double>((*node->array())[4].value), 18446744073709551616.0);
    EXPECT_EQ(std::get<double>((*node->array())[5].value), 1.0);
}

TEST(Reader, writes_what_it_reads) {
    const std::string text = R"({"a":[1,-2,0.1,true,null,"é\n\u0001"],"b":{},"c":18446744073709551615})";
    Problems problems;
    const auto node = read_json(text, "f", true, problems);
    ASSERT_TRUE(node);
    EXPECT_EQ(write_json(*node, 0), text);
}

TEST(Pointer, follows_rfc_6901) {
    EXPECT_EQ(child_pointer("/a", "b/c~d"), "/a/b~1c~0d");
    EXPECT_EQ(next_step("/b~1c~0d/0").key, "b/c~d");
    EXPECT_EQ(next_step("/b~1c~0d/0").rest, "/0");
    EXPECT_EQ(array_index("1", 2), 1U);
    for (const char* wrong : {"2", "01", "-", "", "1x", "-1", "99999999999999999999"})
        EXPECT_EQ(array_index(wrong, 2), 2U);
}

}  // namespace
}  // namespace volley::config
