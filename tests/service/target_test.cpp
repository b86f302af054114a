#include "service/target.h"

#include <gtest/gtest.h>

namespace volley::service {
namespace {

TEST(Target, is_taken_apart_and_decoded) {
    const auto target = parse_target("/api/v1/streams/a%20b%2fc?name=x%2a+y&empty=&flag");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->path, (std::vector<std::string>{"api", "v1", "streams", "a b/c"}));
    EXPECT_EQ(*target->parameter("name"), "x* y");
    EXPECT_EQ(*target->parameter("empty"), "");
    EXPECT_EQ(*target->parameter("flag"), "");
    EXPECT_EQ(target->parameter("nothing"), nullptr);
}

TEST(Target, what_is_misformed_or_leaves_the_tree_is_none) {
    for (const char* text : {"", "api", "http://host/", "//", "/a//b", "/a/", "/a/?x", "/a/../b", "/%2e%2E/b",
                             "/.", "/a%", "/a%2", "/a%zz", "/a%00", "/a\nb", "/a?x=%0a", "/a?%zz", "*"}) {
        EXPECT_FALSE(parse_target(text)) << text;
    }
    EXPECT_TRUE(parse_target("/"));
}

TEST(Host, of_the_loopback_is_told_from_names_that_look_like_it) {
    for (const char* host : {"localhost", "localhost:9464", "127.0.0.1:9464", "127.1.2.3", "[::1]:9464"})
        EXPECT_TRUE(names_loopback(host)) << host;
    for (const char* host : {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::2]",
                             "10.0.0.1", "127.evil.example:80"})
        EXPECT_FALSE(names_loopback(host)) << host;
}

TEST(Origin, must_be_that_of_the_host) {
    EXPECT_TRUE(same_origin("", "localhost:9464"));
    EXPECT_TRUE(same_origin("http://localhost:9464", "localhost:9464"));
    for (const char* origin : {"null", "http://localhost", "http://evil.example", "localhost:9464"})
        EXPECT_FALSE(same_origin(origin, "localhost:9464")) << origin;
}

}  // namespace
}  // namespace volley::service
