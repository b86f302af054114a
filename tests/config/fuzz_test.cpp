#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "config/load.h"
#include "config/support.h"

namespace volley::config {
namespace {

const std::filesystem::path corpus = std::filesystem::path(VOLLEY_SOURCE_ROOT) / "tests/config/corpus";

// Independent of the reader: does any object of the text hold a key twice?
bool has_duplicates(const std::string& text) {
    std::vector<std::set<std::string>> open;
    bool duplicates = false;
    const auto look = [&](int /*depth*/, nlohmann::json::parse_event_t event, nlohmann::json& value) {
        using Event = nlohmann::json::parse_event_t;
        if (event == Event::object_start) open.emplace_back();
        if (event == Event::object_end) open.pop_back();
        if (event == Event::key) duplicates |= !open.back().insert(value.get<std::string>()).second;
        return true;
    };
    const auto parsed = nlohmann::json::parse(text, look, false, true);
    EXPECT_FALSE(parsed.is_discarded()) << text;
    return duplicates;
}

class Mutator {
  public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    std::string mutated(std::string text, const std::vector<std::string>& others) {
        for (std::size_t i = 0, n = below(3) == 0 ? 3 : 1; i < n; ++i) mutate(text, others);
        return text;
    }

    std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  private:
    void mutate(std::string& text, const std::vector<std::string>& others) {
        static const std::vector<std::string> tokens{"{",
                                                     "}",
                                                     "[",
                                                     "]",
                                                     ",",
                                                     ":",
                                                     "\"",
                                                     "null",
                                                     "true",
                                                     "-1",
                                                     "0",
                                                     "1e400",
                                                     "1e-400",
                                                     "18446744073709551616",
                                                     "-0",
                                                     "0.1",
                                                     "\"0x\"",
                                                     "//",
                                                     "/*",
                                                     "*/",
                                                     "\n",
                                                     std::string(1, '\0'),
                                                     "\xff",
                                                     "\\ud800",
                                                     "\"max\"",
                                                     "\"10.0.0.1\"",
                                                     "{\"increment\":{\"from\":1,\"to\":9}}",
                                                     "{\"list\":[]}",
                                                     "\"variable\":\"x\",",
                                                     "\"name\":\"s\",",
                                                     "\"version\":1,",
                                                     "\"nest\":\"ipv4.src\",",
                                                     "\"shift\":-127,",
                                                     "\"mask\":0,"};
        const std::size_t at = below(text.size());
        switch (below(7)) {
            case 0:
                text[at] = static_cast<char>(below(256));
                break;
            case 1:
                text.erase(at, 1 + below(8));
                break;
            case 2:
                text.insert(at, tokens[below(tokens.size())]);
                break;
            case 3:
                text.insert(at, text.substr(below(text.size()), below(60)));
                break;
            case 4: {
                const std::string& other = others[below(others.size())];
                text.insert(at, other.substr(below(other.size()), below(200)));
                break;
            }
            case 5:
                text.resize(at);
                break;
            default:
                replace_number(text, at);
                break;
        }
        if (text.empty()) text = "{";
    }

    void replace_number(std::string& text, std::size_t at) {
        static const std::vector<std::string> numbers{
            "0", "1", "-1", "255", "256", "65536", "4294967296", "18446744073709551615", "3.5", "1e30"};
        at = text.find_first_of("0123456789", at);
        if (at == std::string::npos) return;
        const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
        text.replace(at, end - at, numbers[below(numbers.size())]);
    }

    std::mt19937_64 random_;
};

// More by hand: VOLLEY_FUZZ_ROUNDS=1000000 VOLLEY_FUZZ_SEED=7.
std::uint64_t from_environment(const char* name, std::uint64_t standard) {
    const char* text = std::getenv(name);
    return text == nullptr ? standard : std::strtoull(text, nullptr, 10);
}

TEST(Fuzz, mutated_files_are_judged_without_a_crash_and_what_is_accepted_is_sound) {
    std::vector<std::string> texts;
    for (const char* folder : {"good", "bad"}) {
        for (const auto& file : files_of(corpus / folder)) texts.push_back(text_of(file));
    }
    ASSERT_GE(texts.size(), 60U);
    Mutator mutator(from_environment("VOLLEY_FUZZ_SEED", 20240607));
    const std::uint64_t rounds = from_environment("VOLLEY_FUZZ_ROUNDS", 20'000);
    std::uint64_t accepted = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
        const std::string text = mutator.mutated(texts[i % texts.size()], texts);
        ParseOptions options;
        if (i % 8 == 0)
            options.sets = {"/ports/0/tx/lcores/-=9",
                            "/streams/0/packet/headers/-=" + texts[mutator.below(texts.size())]};
        try {
            const Model model = parse(text, "f", options);
            ++accepted;
            EXPECT_FALSE(has_duplicates(text)) << text;
            EXPECT_EQ(parse(dump_config(model), "dump"), model) << text;
        } catch (const Error& error) {
            ASSERT_FALSE(error.problems.empty());
            for (const Problem& problem : error.problems) {
                EXPECT_FALSE(problem.text.empty());
                EXPECT_TRUE(problem.pointer.empty() || problem.pointer[0] == '/') << problem.pointer;
                EXPECT_EQ(to_line(problem).find('\n'), std::string::npos) << to_line(problem);
            }
        }
    }
    EXPECT_GE(accepted, rounds / 100);
}

TEST(Fuzz, every_member_written_twice_is_refused) {
    int tried = 0;
    for (const auto& file : files_of(corpus / "good")) {
        const std::string text = text_of(file);
        // A member whose value is a plain scalar: "key": value up to , or } outside of texts.
        for (std::size_t at = text.find("\": "); at != std::string::npos; at = text.find("\": ", at + 1)) {
            const std::size_t start = text.rfind('"', at - 1);
            const std::size_t end = text.find_first_of(",}{[\n", at);
            if (start == std::string::npos || end == std::string::npos || text[end] == '{' ||
                text[end] == '[')
                continue;
            const std::string member = text.substr(start, end - start);
            if (std::count(member.begin(), member.end(), '"') % 2 != 0 ||
                member.find("//") != std::string::npos)
                continue;
            ++tried;
            const std::string told = problems_of(text.substr(0, start) + member + ", " + text.substr(start));
            EXPECT_NE(told.find("duplicate key"), std::string::npos)
                << member << " in " << file << ": " << told;
        }
    }
    EXPECT_GE(tried, 200);
}

}  // namespace
}  // namespace volley::config
