#include "config/edit.h"

#include <gtest/gtest.h>

#include "config/load.h"
#include "config/reader.h"
#include "config/support.h"

namespace volley::config {
namespace {

std::string edited(const std::string& text, const std::vector<std::string>& edits) {
    Problems problems;
    auto node = read_json(text, "f", true, problems);
    EXPECT_TRUE(node);
    for (const std::string& edit : edits) apply_edit(*node, edit, problems);
    try {
        problems.throw_if_any();
    } catch (const Error& error) {
        return error.what();
    }
    return write_json(*node, 0);
}

TEST(Set, takes_json_values_and_anything_else_as_a_text) {
    const char* file = R"({"a": 1})";
    EXPECT_EQ(edited(file, {"/a=2"}), R"({"a":2})");
    EXPECT_EQ(edited(file, {"/a=true"}), R"({"a":true})");
    EXPECT_EQ(edited(file, {"/a=null"}), R"({"a":null})");
    EXPECT_EQ(edited(file, {R"(/a={"b": [1]})"}), R"({"a":{"b":[1]}})");
    EXPECT_EQ(edited(file, {"/a=50%"}), R"({"a":"50%"})");
    EXPECT_EQ(edited(file, {"/a=\"2\""}), R"({"a":"2"})");
    EXPECT_EQ(edited(file, {"/a="}), R"({"a":""})");
    EXPECT_EQ(edited(file, {"/a=x=y"}), R"({"a":"x=y"})");
    EXPECT_EQ(edited(file, {"/a=net_null0,copy=0"}), R"({"a":"net_null0,copy=0"})");
}

TEST(Set, makes_objects_on_the_way_and_appends_to_arrays) {
    EXPECT_EQ(edited("{}", {"/a/b/c=1"}), R"({"a":{"b":{"c":1}}})");
    EXPECT_EQ(edited(R"({"a": null})", {"/a/b=1"}), R"({"a":{"b":1}})");
    EXPECT_EQ(edited(R"({"a": [1]})", {"/a/-=2", "/a/2=3", "/a/0=0"}), R"({"a":[0,2,3]})");
    EXPECT_EQ(edited(R"({"a": []})", {"/a/-/name=x"}), R"({"a":[{"name":"x"}]})");
    EXPECT_EQ(edited("{}", {"/x~1y=1"}), R"({"x/y":1})");
}

TEST(Set, of_a_decoded_model_gives_what_the_text_with_the_same_edits_does) {
    const std::string text =
        R"({"version": 1, "name": "gr\u00fc\u00df", "ports": [{"name": "east", "device": "net_null0", "tx": {"lcores": [2]}}],
        "streams": [{"name": "s", "port": "east", "rate": "1pps", "packet": {"frame_size": 128, "headers": [{"eth": {}}, {"ipv4": {"dst": {"list": ["10.0.0.1", "10.0.0.2"]}}}, {"udp": {}}]}}]})";
    ParseOptions options;
    options.sets = {"/streams/0/rate=1.5Mpps", "/run/multiplier=0.5"};
    const Model both = parse(text, "f", options);
    EXPECT_EQ(dump_config(edit(parse(text, "f"), "f", options.sets)), dump_config(both));
    try {
        edit(both, "f", {"/streams/0/rate=fast"});
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("/streams/0/rate"), std::string::npos) << error.what();
    }
}

TEST(Set, text_is_written_as_it_is_read_whatever_is_in_it) {
    const std::string text =
        R"({"a\"b":[],"c":{},"d":[1,-2,2.5,true,null,"x\u0001\\\t\u00e9"],"e":{"f":[{}]}})";
    const std::string once = edited(text, {});
    EXPECT_EQ(once, edited(once, {}));
    Problems problems;
    EXPECT_EQ(write_json(*read_json(text, "f", true, problems), 2),
              "{\n  \"a\\\"b\": [],\n  \"c\": {},\n  \"d\": [\n    1,\n    -2,\n    2.5,\n    true,\n    "
              "null,\n    "
              "\"x\\u0001\\\\\\t\xc3\xa9\"\n  ],\n  \"e\": {\n    \"f\": [\n      {}\n    ]\n  }\n}");
}

TEST(Set, names_the_pointer_that_does_not_work) {
    EXPECT_EQ(edited(R"({"a": 5})", {"/a/b=1"}), "--set: /a/b: /a is the number 5, which holds nothing");
    EXPECT_EQ(edited(R"({"a": [1]})", {"/a/2=1"}),
              "--set: /a/2: /a has 1 entries; there is no entry \"2\" (\"-\" appends)");
    EXPECT_EQ(edited("{}", {"a=1"}),
              "--set: \"a=1\" is not of the form /json/pointer=value, such as /streams/0/rate=50%");
    EXPECT_EQ(edited("{}", {"/a"}).substr(0, 25), "--set: \"/a\" is not of the");
    EXPECT_EQ(edited("{}", {"=1"}).substr(0, 25), "--set: \"=1\" is not of the");
    EXPECT_EQ(edited("{}", {R"(/a={"b": 1, "b": 2})"}).substr(0, 34), "--set: /a: a key stands twice in \"");
}

TEST(Set, is_checked_like_the_file_and_says_that_it_came_from_set) {
    ParseOptions options;
    options.sets = {"/streams/0/rate=5", "/run/duration=1s", "/ports/0/tx/lcores/-=1", "/eal/memory_mb=5"};
    EXPECT_EQ(problems_of(small_file("", ""), options),
              "--set: /streams/0/rate: is the number 5; a text with a unit such as \"10Gbps\", \"50%\", "
              "\"1.2Mpps\" or \"max\" is needed\n"
              "--set: /eal/memory_mb: unknown key \"memory_mb\" in eal; did you mean \"memory_mib\"?\n"
              "--set: /ports/0/tx/lcores/2: lcore 1 is the stats lcore (lcores.stats); a worker needs one of "
              "its own");
    options.sets = {"/streams/0/rate=5pps", "/ports/0/tx/lcores=[7]"};
    EXPECT_EQ(decoded(small_file("", ""), options).ports[0].tx->lcores, std::vector<std::uint32_t>{7});
}

TEST(Set, refuses_a_pointer_that_is_too_deep_and_text_that_is_not_utf_8) {
    std::string pointer;
    for (int i = 0; i < 100'000; ++i) pointer += "/a";
    EXPECT_NE(edited("{}", {pointer + "=1"}).find("goes deeper than 64 levels"), std::string::npos);
    EXPECT_EQ(edited("{}", {"/name=\xff"}), "--set: \"/name=\\xff\" is not valid UTF-8");
}

}  // namespace
}  // namespace volley::config
