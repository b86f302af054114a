#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "support/json_lines.h"
#include "system/volleyd.h"

namespace volley::test {
namespace {

namespace fs = std::filesystem;

json small() {
    return configuration(1, true, {port("east", "net_null0,copy=0,no-rx=1")},
                         {{{"name", "flood"},
                           {"port", "east"},
                           {"rate", "10kpps"},
                           {"count", 100},
                           {"packet", raw_packet()}}});
}

Result volleyd(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), volleyd_path());
    const TempDir dir;
    return run(std::move(arguments), {"RUNTIME_DIRECTORY=" + dir.path().string()});
}

int exit_code(const json& config, const std::vector<std::string>& arguments = {}) {
    Volleyd::Options options;
    options.arguments = arguments;
    Volleyd process(config, options);
    const int code = process.wait().value_or(-1);
    EXPECT_EQ(process.lines().empty(), code != 0 && code != 75);
    // The operator's next step, or at least what is wrong.
    if (code != 0) {
        EXPECT_FALSE(process.process().err().empty());
    }
    return code;
}

TEST(ExitCode, is_0_after_a_run_that_did_what_it_was_asked) {
    EXPECT_EQ(exit_code(small()), 0);
}

TEST(ExitCode, is_64_for_a_wrong_command_line) {
    const TempDir dir;
    const std::string file = dir.write("volley.json", small().dump());
    EXPECT_EQ(volleyd({}).status, 64);
    EXPECT_EQ(volleyd({"--config", file, "--no-such-option"}).status, 64);
    EXPECT_EQ(volleyd({"--config", file, "--log-level", "loud"}).status, 64);
    EXPECT_EQ(volleyd({"--config"}).status, 64);
}

TEST(ExitCode, is_65_for_wrong_content) {
    json config = small();
    config["streams"][0]["rate"] = "1000";
    EXPECT_EQ(exit_code(config), 65);
    EXPECT_EQ(exit_code(small(), {"--set", "/streams/0/rate=1000"}), 65);
    EXPECT_EQ(exit_code(small(), {"--duration", "10"}), 65);
    EXPECT_EQ(exit_code(small(), {"--check", "--set", "/nonsense=1"}), 65);
}

TEST(ExitCode, is_66_without_the_file) {
    const Result result = volleyd({"--config", "/nonexistent/volley.json"});
    EXPECT_EQ(result.status, 66);
    EXPECT_NE(result.err.find("/nonexistent/volley.json"), std::string::npos);
}

TEST(ExitCode, is_69_without_the_nic) {
    json config = small();
    config["ports"][0]["device"] = "0000:ff:1f.7";
    EXPECT_EQ(exit_code(config), 69);
}

TEST(ExitCode, is_75_when_packets_stay_unsent) {
    json config = small();
    config["ports"][0]["device"] = "net_ring0";  // no reader: it takes 1023 and then nothing
    config["streams"][0]["count"] = 1100;
    EXPECT_EQ(exit_code(config), 75);
}

TEST(ExitCode, is_78_when_the_host_lacks_what_the_file_takes_for_granted) {
    json config = small();
    config["eal"]["lcores"] = "0@0,1@0,2@0,3@1000";
    EXPECT_EQ(exit_code(config), 78);
}

TEST(ExitCode, is_78_where_the_report_could_not_be_written_and_nothing_is_sent) {
    EXPECT_EQ(exit_code(small(), {"--report", "/nonexistent/report.json"}), 78);
    EXPECT_EQ(exit_code(small(), {"--report", "/tmp"}), 78);
}

TEST(Names, of_two_that_run_at_once_are_two) {
    json config = small();
    config["service"]["unix"] = "auto";
    config["run"]["start"] = "manual";
    const TempDir runtime;
    Volleyd::Options options;
    options.prefix = {"env", "RUNTIME_DIRECTORY=" + runtime.path().string()};
    Volleyd first(config, options);
    ASSERT_TRUE(first.wait_for_state("idle"));
    Volleyd second(config, options);
    EXPECT_EQ(second.wait(), 78);
    EXPECT_TRUE(second.lines().empty());
    EXPECT_NE(second.process().err().find("served by a running program"), std::string::npos)
        << second.process().err();
    config["name"] = "another";
    Volleyd third(config, options);
    EXPECT_TRUE(third.wait_for_state("idle"));
}

TEST(Check, works_for_any_user_and_starts_no_eal) {
    if (geteuid() != 0) GTEST_SKIP() << "becoming another user needs root";
    const TempDir dir;
    // The build may lie where another user cannot go.
    const std::string program = dir.file("volleyd");
    fs::copy_file(volleyd_path(), program);
    const std::string good = dir.write("good.json", small().dump());
    json wrong = small();
    wrong["streams"][0]["ratte"] = 1;
    wrong["ports"][0]["name"] = "west";
    const std::string bad = dir.write("bad.json", wrong.dump(2));
    fs::permissions(dir.path(), fs::perms::all);
    const auto as_nobody = [&](const std::vector<std::string>& arguments) {
        std::vector<std::string> command{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                                         program};
        command.insert(command.end(), arguments.begin(), arguments.end());
        return run(std::move(command), {"RUNTIME_DIRECTORY=" + dir.path().string()});
    };

    const Result accepted = as_nobody({"--config", good, "--check"});
    EXPECT_EQ(accepted.status, 0) << accepted.err;
    const Result refused = as_nobody({"--config", bad, "--check"});
    EXPECT_EQ(refused.status, 65);
    // All problems at once, each with file, line and pointer.
    EXPECT_TRUE(std::regex_search(refused.err, std::regex("bad\\.json:\\d+:\\d+: /streams/0/ratte: ")))
        << refused.err;
    EXPECT_TRUE(std::regex_search(refused.err, std::regex("bad\\.json:\\d+:\\d+: /streams/0/port: ")))
        << refused.err;
    const Result dumped = as_nobody({"--config", good, "--dump-config"});
    EXPECT_EQ(dumped.status, 0) << dumped.err;
    EXPECT_EQ(parse_json(dumped.out).at("ports").at(0).at("tx").at("descriptors"), 1024);
    // The EAL would have left its folder.
    EXPECT_FALSE(fs::exists(dir.file("dpdk")));
    EXPECT_EQ(accepted.err.find("EAL"), std::string::npos) << accepted.err;
}

TEST(Check, accepts_what_dump_config_writes_and_all_of_conf) {
    const TempDir dir;
    for (const fs::directory_entry& entry : fs::directory_iterator(source_path() + "/conf")) {
        if (entry.path().extension() != ".json" || entry.path().string().ends_with(".schema.json")) continue;
        SCOPED_TRACE(entry.path());
        const Result dumped = volleyd({"--config", entry.path(), "--dump-config"});
        ASSERT_EQ(dumped.status, 0) << dumped.err;
        const std::string again = dir.write("again.json", dumped.out);
        const Result second = volleyd({"--config", again, "--dump-config"});
        EXPECT_EQ(second.status, 0) << second.err;
        EXPECT_EQ(second.out, dumped.out);
        EXPECT_EQ(volleyd({"--config", again, "--check"}).status, 0);
    }
}

TEST(Report, is_also_written_to_a_file) {
    const TempDir dir;
    Volleyd::Options options;
    options.arguments = {"--report", dir.file("report.json")};
    Volleyd process(small(), options);
    EXPECT_EQ(process.wait(), 0) << process.process().err();
    EXPECT_EQ(parse_json(read_file(dir.file("report.json"))), process.report());
}

TEST(Report, of_no_packet_at_all_is_valid_json) {
    json config = small();
    config["streams"][0]["start"] = {{"delay", "1h"}};
    Volleyd::Options options;
    options.arguments = {"--duration", "50ms"};
    Volleyd process(config, options);
    EXPECT_EQ(process.wait(), 0) << process.process().err();
    expect_consistent(process.report());
    EXPECT_EQ(sum(process.report().at("streams"), "/tx/packets"), 0U);
}

TEST(Stdout, can_be_piped_into_jq) {
    const TempDir dir;
    const std::string file = dir.write("volley.json", small().dump());
    const Result result = run({"bash", "-o", "pipefail", "-c",
                               "'" + volleyd_path() + "' --config '" + file +
                                   "' | jq -e 'select(.type == \"report\") | .streams[0].tx.packets'"},
                              {"RUNTIME_DIRECTORY=" + dir.path().string()});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, "100\n");
}

TEST(Stdout, that_nobody_reads_to_the_end_stops_nothing) {
    const TempDir dir;
    json config = small();
    config["streams"][0]["count"] = 5000;
    const std::string file = dir.write("volley.json", config.dump());
    const Result result = run({"bash", "-c",
                               "{ '" + volleyd_path() + "' --config '" + file + "' --report '" +
                                   dir.file("report.json") + "'; echo $? >&2; } | head -n 1"},
                              {"RUNTIME_DIRECTORY=" + dir.path().string()});
    EXPECT_TRUE(result.err.ends_with("0\n")) << result.err;
    EXPECT_EQ(parse_json(read_file(dir.file("report.json"))).at("streams").at(0).at("tx").at("packets"),
              5000);
}

TEST(Live, line_goes_to_stderr_and_leaves_stdout_to_json) {
    Volleyd::Options options;
    options.arguments = {"--live"};
    Volleyd process(small(), options);
    EXPECT_EQ(process.wait(), 0);
    expect_consistent(process.report());
    EXPECT_NE(process.process().err().find("east"), std::string::npos) << process.process().err();
}

TEST(Version, names_dpdk) {
    const Result result = volleyd({"--version"});
    EXPECT_EQ(result.status, 0);
    EXPECT_NE(result.out.find("DPDK 22.11"), std::string::npos) << result.out;
}

class Readme : public testing::Test {
  protected:
    const std::string text_ = read_file(source_path() + "/README.md");
};

TEST_F(Readme, shows_a_configuration_that_is_accepted) {
    const std::size_t begin = text_.find("```json\n");
    ASSERT_NE(begin, std::string::npos);
    const std::size_t end = text_.find("```", begin + 8);
    const std::string example = text_.substr(begin + 8, end - begin - 8);
    EXPECT_LE(std::count(example.begin(), example.end(), '\n'), 15);
    const TempDir dir;
    const Result result = volleyd({"--config", dir.write("readme.json", example), "--check"});
    EXPECT_EQ(result.status, 0) << result.err;
}

TEST_F(Readme, names_files_that_exist) {
    const std::regex link("\\]\\(([^)]+)\\)|`((?:app|conf|docs|lib|tests|tools)/[^` ]*)`");
    for (std::sregex_iterator match(text_.begin(), text_.end(), link), end; match != end; ++match) {
        const std::string name = (*match)[1].matched ? (*match)[1] : (*match)[2];
        EXPECT_TRUE(fs::exists(source_path() + "/" + name)) << name;
    }
}

TEST_F(Readme, starts_with_two_commands_and_the_first_one_works) {
    const std::size_t quickstart = text_.find("    tools/quickstart.sh");
    const std::size_t tests = text_.find("    tools/test.sh");
    EXPECT_LT(quickstart, 100U);
    EXPECT_LT(quickstart, tests);
    EXPECT_LT(tests, 300U);
    if (std::string(VOLLEY_BUILD) != source_path() + "/build")
        GTEST_SKIP() << "only build/ is what the command builds";
    const Result result =
        run({source_path() + "/tools/quickstart.sh", "--", "--duration", "300ms"}, {}, Seconds{300});
    ASSERT_EQ(result.status, 0) << result.err;
    const json report = parse_json_lines(result.out).back();
    expect_consistent(report);
    EXPECT_EQ(report.at("streams").size(), 3U);
    for (const json& stream : report.at("streams")) {
        EXPECT_GT(stream.at("tx").at("packets"), 0) << stream;
        EXPECT_GT(stream.at("rx").at("latency_ns").at("count"), 0) << stream;
        EXPECT_EQ(stream.at("rx").at("lost"), 0) << stream;
        EXPECT_EQ(stream.at("rx").at("corrupted"), 0) << stream;
    }
    EXPECT_NE(result.err.find("latency:"), std::string::npos) << result.err;
}

TEST(Quickstart, runs_on_a_machine_of_one_cpu) {
    Volleyd::Options options;
    options.prefix = {"taskset", "-c", "0"};
    options.arguments = {"--duration", "300ms"};
    Volleyd process(
        parse_json(
            run({volleyd_path(), "--config", source_path() + "/conf/quickstart.json", "--dump-config"}).out),
        options);
    EXPECT_EQ(process.wait(), 0) << process.process().err();
    expect_consistent(process.report());
}

}  // namespace
}  // namespace volley::test
