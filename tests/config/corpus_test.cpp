#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/load.h"
#include "config/support.h"

namespace volley::config {
namespace {

const std::filesystem::path corpus = std::filesystem::path(VOLLEY_SOURCE_ROOT) / "tests/config/corpus";

TEST(Corpus, good_files_are_accepted_and_decode_from_their_dump_to_the_same_model) {
    const auto files = files_of(corpus / "good");
    EXPECT_GE(files.size(), 30U);
    for (const auto& file : files) {
        try {
            const Model model = load(file);
            for (const unsigned indent : {0U, 2U}) {
                EXPECT_EQ(parse(dump_config(model, indent), "dump"), model) << file << '\n'
                                                                            << dump_config(model);
            }
        } catch (const Error& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

TEST(Corpus, bad_files_are_refused_with_the_texts_that_their_first_lines_foretell) {
    const auto files = files_of(corpus / "bad");
    EXPECT_GE(files.size(), 30U);
    for (const auto& file : files) {
        std::istringstream text(text_of(file));
        const std::string told = problems_of(text.str());
        std::string line;
        int expected = 0;
        while (std::getline(text, line) && line.starts_with("// ")) {
            ++expected;
            EXPECT_NE(told.find(line.substr(3)), std::string::npos)
                << file << ": no \"" << line.substr(3) << "\" in\n"
                << told;
        }
        EXPECT_GE(expected, 1) << file << " does not say what is wrong with it";
    }
}

}  // namespace
}  // namespace volley::config
