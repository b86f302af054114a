#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "support/json_lines.h"
#include "system/volleyd.h"

namespace volley::test {
namespace {

json paced(const std::string& name, const std::string& rate) {
    return {{"name", name}, {"port", "east"}, {"rate", rate}, {"packet", raw_packet()}};
}

/// Endless until a signal: a dispatch lcore, a worker, one stream.
json endless() {
    return configuration(1, true, {port("east", "net_null0,copy=0,no-rx=1")}, {paced("flood", "100kpps")});
}

bool sends(const json& line) {
    return sum(line.at("streams"), "/tx/packets") > 0;
}

TEST(LifeCycle, a_process_killed_by_sigkill_starts_again_at_once) {
    json config = endless();
    const TempDir shared;
    config["telemetry"]["socket"] = shared.file("telemetry.sock");
    Volleyd first(config);
    ASSERT_TRUE(first.wait_for_line(sends)) << first.process().err();
    first.process().signal(SIGKILL);
    ASSERT_EQ(first.wait(), 128 + SIGKILL);
    config["run"]["duration"] = "200ms";
    Volleyd second(config);
    EXPECT_EQ(second.wait(), 0) << second.process().err();
    expect_consistent(second.report());
}

TEST(LifeCycle, a_signal_at_any_moment_ends_with_a_whole_report_or_at_once) {
    // 0 ms and 10 ms fall into start-up, where there may be nothing to report yet.
    for (const int milliseconds : {0, 1, 3, 10, 30, 100, 1000}) {
        SCOPED_TRACE(milliseconds);
        Volleyd volleyd(endless());
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        volleyd.process().signal(milliseconds % 2 == 0 ? SIGINT : SIGTERM);
        const auto status = volleyd.wait();
        ASSERT_TRUE(status) << volleyd.process().err();
        const std::vector<json> lines = parse_json_lines(volleyd.process().out());
        if (*status == 0 && !lines.empty()) {
            expect_consistent(volleyd.report());
        } else {
            EXPECT_TRUE(lines.empty()) << *status;
            EXPECT_TRUE(*status == 0 || *status == 128 + SIGINT || *status == 128 + SIGTERM) << *status;
        }
    }
}

TEST(LifeCycle, sigint_while_sending_drains_and_reports) {
    Volleyd volleyd(endless());
    ASSERT_TRUE(volleyd.wait_for_line(sends)) << volleyd.process().err();
    volleyd.process().signal(SIGINT);
    EXPECT_EQ(volleyd.wait(), 0);
    const json report = volleyd.report();
    expect_consistent(report);
    EXPECT_GT(sum(report.at("streams"), "/tx/packets"), 0U);
}

/// net_ring without a reader takes some packets and then nothing: the port is stuck.
json stuck() {
    return configuration(1, true, {port("east", "net_ring0")}, {paced("flood", "100kpps")});
}

bool stuck_now(const json& line) {
    return named(line.at("ports"), "east").at("tx").at("stalled") == true;
}

TEST(LifeCycle, a_stuck_port_is_shown_and_one_signal_ends_after_the_drain_deadline_with_75) {
    Volleyd volleyd(stuck());
    ASSERT_TRUE(volleyd.wait_for_line(stuck_now)) << volleyd.process().err();
    volleyd.process().signal(SIGTERM);
    EXPECT_EQ(volleyd.wait(), 75);
    EXPECT_EQ(volleyd.report().at("settled"), false);
}

TEST(LifeCycle, a_second_signal_ends_a_stuck_port_at_once) {
    Volleyd volleyd(stuck());
    ASSERT_TRUE(volleyd.wait_for_line(stuck_now)) << volleyd.process().err();
    const auto begin = std::chrono::steady_clock::now();
    volleyd.process().signal(SIGINT);
    ASSERT_TRUE(volleyd.wait_for_state("draining")) << volleyd.process().err();
    volleyd.process().signal(SIGINT);
    EXPECT_EQ(volleyd.wait(), 75);
    // Well below the drain deadline of 5 s.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
    EXPECT_EQ(volleyd.report().at("type"), "report");
}

TEST(LifeCycle, two_signals_in_a_row_while_sending_end_at_once_with_whole_lines) {
    Volleyd volleyd(endless());
    ASSERT_TRUE(volleyd.wait_for_line(sends)) << volleyd.process().err();
    volleyd.process().signal(SIGINT);
    volleyd.process().signal(SIGTERM);
    const auto status = volleyd.wait();
    EXPECT_TRUE(status == 0 || status == 75) << volleyd.process().err();
    parse_json_lines(volleyd.process().out());
}

TEST(LifeCycle, a_duration_sends_exactly_the_packets_due_in_it) {
    json config = endless();
    config["run"]["duration"] = "500ms";
    config["streams"].push_back(paced("slow", "7pps"));
    // A machine that stops for 100 ms makes a lane give up what it is late with; the report then says so.
    json report;
    for (int attempt = 0; attempt < 5; ++attempt) {
        report = run_volleyd(config);
        expect_consistent(report);
        if (sum(report.at("streams"), "/shortfall_packets") == 0) break;
    }
    EXPECT_EQ(named(report.at("streams"), "flood").at("tx").at("packets"), 50'000);
    EXPECT_EQ(named(report.at("streams"), "slow").at("tx").at("packets"), 4);
}

TEST(LifeCycle, without_streams_the_duration_ends_with_a_report_of_nothing) {
    json config = endless();
    config["streams"] = json::array();
    config["run"]["duration"] = "100ms";
    const json report = run_volleyd(config);
    expect_consistent(report);
    EXPECT_EQ(sum(report.at("ports"), "/tx/packets"), 0U);
}

// B37
TEST(LifeCycle, a_run_in_which_nothing_was_sent_says_so_in_log_and_report) {
    json stream = paced("late", "100kpps");
    stream["start"] = {{"delay", "10s"}};
    json config = configuration(1, true, {port("east", "net_null0,copy=0,no-rx=1")}, {stream});
    config["run"]["duration"] = "10ms";
    Volleyd volleyd(config);
    EXPECT_EQ(volleyd.wait(), 0);
    EXPECT_NE(volleyd.process().err().find("no packet was sent in this run"), std::string::npos);
    EXPECT_NE(volleyd.report().at("warnings").dump().find("no packet was sent in this run"),
              std::string::npos);
}

TEST(LifeCycle, when_done_idle_publishes_the_report_and_stays) {
    json config = endless();
    config["run"]["when_done"] = "idle";
    config["streams"][0]["count"] = 1000;
    Volleyd volleyd(config);
    const auto report = volleyd.wait_for_line([](const json& line) { return line.at("type") == "report"; });
    ASSERT_TRUE(report) << volleyd.process().err();
    expect_consistent(volleyd.lines()[*report]);
    EXPECT_TRUE(
        volleyd.wait_for_line([](const json& line) { return line.at("state") == "idle"; }, *report + 1));
    EXPECT_FALSE(volleyd.wait(Seconds{0}));
    volleyd.process().signal(SIGTERM);
    EXPECT_EQ(volleyd.wait(), 0);
    parse_json_lines(volleyd.process().out());
}

TEST(LifeCycle, a_run_that_waits_for_a_command_stays_idle_until_it_is_told_to_end) {
    json config = endless();
    config["run"]["start"] = "manual";
    Volleyd volleyd(config);
    ASSERT_TRUE(volleyd.wait_for_state("idle")) << volleyd.process().err();
    volleyd.process().signal(SIGTERM);
    EXPECT_EQ(volleyd.wait(), 0);
    for (const json& line : parse_json_lines(volleyd.process().out())) {
        EXPECT_EQ(sum(line.at("ports"), "/tx/packets"), 0U);
    }
}

TEST(LifeCycle, sigusr1_reopens_the_telemetry_file) {
    json config = endless();
    const TempDir logs;
    config["telemetry"]["file"] = logs.file("lines");
    Volleyd volleyd(config);
    ASSERT_TRUE(volleyd.wait_for_line(sends)) << volleyd.process().err();
    std::filesystem::rename(logs.file("lines"), logs.file("lines.1"));
    volleyd.process().signal(SIGUSR1);
    const std::size_t so_far = volleyd.lines().size();
    ASSERT_TRUE(volleyd.wait_for_line([](const json&) { return true; }, so_far + 2));
    volleyd.process().signal(SIGTERM);
    EXPECT_EQ(volleyd.wait(), 0);
    const std::vector<json> before = parse_json_lines(read_file(logs.file("lines.1")));
    const std::vector<json> after = parse_json_lines(read_file(logs.file("lines")));
    ASSERT_FALSE(before.empty());
    ASSERT_FALSE(after.empty());
    EXPECT_EQ(after.front().at("sequence"), before.back().at("sequence").get<std::uint64_t>() + 1);
    EXPECT_EQ(after.back(), volleyd.report());
}

TEST(LifeCycle, every_line_goes_on_where_the_one_before_ended) {
    json config = endless();
    config["run"]["duration"] = "1s";
    Volleyd volleyd(config);
    EXPECT_EQ(volleyd.wait(), 0) << volleyd.process().err();
    const std::vector<json> lines = parse_json_lines(volleyd.process().out());
    ASSERT_GE(lines.size(), 4U);
    EXPECT_EQ(lines[0].at("run_id"), "");  // before there is a run
    for (std::size_t i = 1; i < lines.size(); ++i) {
        EXPECT_EQ(lines[i].at("sequence"), lines[i - 1].at("sequence").get<std::uint64_t>() + 1);
        EXPECT_EQ(lines[i].at("run_id"), lines.back().at("run_id"));
        EXPECT_GE(sum(lines[i].at("streams"), "/tx/packets"), sum(lines[i - 1].at("streams"), "/tx/packets"));
        EXPECT_GT(lines[i].at("monotonic_ns"), lines[i - 1].at("monotonic_ns"));
    }
}

}  // namespace
}  // namespace volley::test
