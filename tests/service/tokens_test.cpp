#include "service/tokens.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temp_dir.h"

namespace volley::service {
namespace {

constexpr const char* text =
    "# who may do what\n"
    "read-only 0123456789abcdef-reader\n"
    "\n"
    "  admin\t0123456789abcdef-admin   # the script\r\n";

TEST(Tokens, give_the_right_of_their_line_and_nothing_else) {
    const Tokens tokens = Tokens::parse(text, "tokens");
    EXPECT_EQ(tokens.right_of("Bearer 0123456789abcdef-reader"), Right::read);
    EXPECT_EQ(tokens.right_of("bearer  0123456789abcdef-admin"), Right::change);
    for (const char* wrong :
         {"", "Bearer", "Bearer ", "Bearer 0123456789abcdef-readeR", "Bearer 0123456789abcdef-reader ",
          "Basic 0123456789abcdef-reader", "0123456789abcdef-reader", "Bearer admin"}) {
        EXPECT_EQ(tokens.right_of(wrong), std::nullopt) << wrong;
    }
}

TEST(Tokens, misformed_files_are_refused_by_line) {
    const auto problem = [](const char* content) -> std::string {
        try {
            Tokens::parse(content, "tokens");
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(problem("# nothing\n").find("holds no token"), std::string::npos);
    EXPECT_NE(problem("\nroot 0123456789abcdef\n").find("tokens:2: a line is"), std::string::npos);
    EXPECT_NE(problem("admin short\n").find("16 characters"), std::string::npos);
    EXPECT_NE(problem("admin 0123456789abcdef two\n").find("one word"), std::string::npos);
    EXPECT_EQ(problem(text), "");
}

TEST(Tokens, a_file_that_everybody_may_read_is_refused) {
    const test::TempDir folder;
    folder.write("tokens", text);
    const std::string path = folder.file("tokens");
    ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
    EXPECT_THROW(Tokens::load(path), std::runtime_error);
    ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
    EXPECT_EQ(Tokens::load(path).right_of("Bearer 0123456789abcdef-admin"), Right::change);
    EXPECT_THROW(Tokens::load(folder.file("none")), std::runtime_error);
}

}  // namespace
}  // namespace volley::service
