#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "system/long_run.h"
#include "system/volleyd.h"

namespace volley::test {
namespace {

constexpr std::uint64_t counts[] = {1, 7, 31, 32, 33, 1000003};

/// Workers, dispatch lcore or inline.
class Counts : public testing::TestWithParam<std::tuple<unsigned, bool>> {};

TEST_P(Counts, hold_alone_whatever_burst_and_workers) {
    const auto [workers, dispatch] = GetParam();
    for (const std::uint64_t count : counts) {
        // A start takes seconds under a sanitizer; there these three do, the others share a port below.
        if (sanitized() && count != 1 && count != 33 && count < 1000) continue;
        SCOPED_TRACE(count);
        const json report =
            run_volleyd(configuration(workers, dispatch, {port("east", "net_null0,copy=0,no-rx=1", workers)},
                                      {{{"name", "flood"},
                                        {"port", "east"},
                                        {"rate", "max"},
                                        {"burst", 32},
                                        {"count", count},
                                        {"packet", raw_packet()}}}));
        expect_consistent(report);
        EXPECT_EQ(sum(report.at("streams"), "/tx/packets"), count);
        EXPECT_EQ(sum(report.at("ports"), "/tx/bytes"), 60 * count);
        EXPECT_EQ(report.at("queues").size(), workers);
    }
}

TEST_P(Counts, of_streams_that_share_a_port_hold_in_each) {
    const auto [workers, dispatch] = GetParam();
    json streams = json::array();
    for (const std::uint64_t count : counts) {
        const bool large = count > 1000;
        streams.push_back({{"name", "of-" + std::to_string(count)},
                           {"port", "east"},
                           {"rate", large ? "max" : "2kpps"},
                           {"count", count},
                           {"packet", raw_packet()}});
    }
    const json report = run_volleyd(
        configuration(workers, dispatch, {port("east", "net_null0,copy=0,no-rx=1", workers)}, streams));
    expect_consistent(report);
    for (const std::uint64_t count : counts) {
        EXPECT_EQ(named(report.at("streams"), "of-" + std::to_string(count)).at("tx").at("packets"), count);
    }
}

INSTANTIATE_TEST_SUITE_P(OneToThreeWorkers, Counts,
                         testing::Combine(testing::Values(1U, 2U, 3U), testing::Bool()),
                         [](const auto& param_info) {
                             return std::to_string(std::get<0>(param_info.param)) + "_worker_" +
                                    (std::get<1>(param_info.param) ? "dispatched" : "inline");
                         });

/// A stream with its keys and what it has sent when it is over.
struct Ending {
    std::string name;
    json keys;
    std::uint64_t packets;
};

std::vector<Ending> every_ending() {
    return {
        {"count", {{"rate", "50kpps"}, {"count", 1001}}, 1001},
        {"bytes", {{"rate", "20kpps"}, {"bytes", 64 * 333 + 10}}, 333},
        {"duration", {{"rate", "7777pps"}, {"duration", "50ms"}}, 389},
        {"groups", {{"rate", "max"}, {"bursts", {{"packets", 10}, {"gap", "5ms"}, {"count", 7}}}}, 70},
        {"steps",
         {{"rate",
           {{"steps",
             json::array({{{"rate", "10kpps"}, {"for", "20ms"}}, {{"rate", "5kpps"}, {"for", "20ms"}}})}}},
          {"duration", "40ms"}},
         300},
        {"first", {{"rate", "30kpps"}, {"count", 11}, {"next", "second"}, {"loop", 3}}, 33},
        {"second", {{"rate", "10kpps"}, {"count", 5}}, 15},
        {"run", {{"rate", "12345pps"}}, 3704},
    };
}

class Endings : public testing::TestWithParam<unsigned> {};

TEST_P(Endings, of_every_kind_are_exact) {
    const unsigned workers = GetParam();
    if (sanitized() && workers != 3) GTEST_SKIP() << "a start takes seconds";
    json streams = json::array();
    for (const Ending& ending : every_ending()) {
        json stream = {{"name", ending.name}, {"port", "east"}, {"packet", raw_packet()}};
        stream.update(ending.keys);
        streams.push_back(std::move(stream));
    }
    json config = configuration(workers, workers % 2 == 0,
                                {port("east", "net_null0,copy=0,no-rx=1", workers)}, streams);
    config["run"]["duration"] = "300ms";
    const json report = run_volleyd(config);
    expect_consistent(report);
    for (const Ending& ending : every_ending()) {
        const json& stream = named(report.at("streams"), ending.name);
        const std::uint64_t sent = stream.at("tx").at("packets");
        // What a machine that stands still for long costs, the lane gives up and says so.
        if (stream.at("slips") == 0) {
            EXPECT_EQ(sent, ending.packets) << ending.name;
        } else {
            EXPECT_LE(sent, ending.packets) << ending.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(OneToEightWorkers, Endings, testing::Range(1U, 9U));

class Stopped : public testing::TestWithParam<unsigned> {};

// Whatever is emitted when the order comes is sent and counted, by the device as by every sum over it: once
// by control, once by a signal.
TEST_P(Stopped, by_control_and_by_a_signal_leaves_no_packet_uncounted) {
    const unsigned workers = GetParam();
    if (sanitized() && workers != 3) GTEST_SKIP() << "a start takes seconds";
    json config = configuration(
        workers, workers == 3, {port("east", "net_null0,copy=0,no-rx=1", workers)},
        {{{"name", "most"}, {"port", "east"}, {"rate", "max"}, {"packet", raw_packet()}},
         {{"name", "paced"}, {"port", "east"}, {"rate", "20kpps"}, {"burst", 7}, {"packet", raw_packet()}}});
    Volleyd volleyd(config);
    const auto sending = [](const json& line) {
        return line.at("type") == "snapshot" && line.at("state") == "running" &&
               named(line.at("streams"), "paced").at("tx").at("packets") > 100;
    };
    const auto control = [&](const std::string& verb) {
        const Result done =
            run({volleyctl_path(), "--socket", volleyd.dir().file("test.control.sock"), verb});
        EXPECT_EQ(done.status, 0) << done.err;
    };
    ASSERT_TRUE(volleyd.wait_for_line(sending)) << volleyd.process().err();
    control("stop");
    const auto first = volleyd.wait_for_line([](const json& line) { return line.at("type") == "report"; });
    ASSERT_TRUE(first) << volleyd.process().err();
    expect_consistent(volleyd.lines()[*first]);
    control("start");
    ASSERT_TRUE(volleyd.wait_for_line(sending, *first)) << volleyd.process().err();
    volleyd.process().signal(SIGTERM);
    EXPECT_EQ(volleyd.wait(), 0) << volleyd.process().err();
    const json report = volleyd.report();
    expect_consistent(report);
    EXPECT_NE(report.at("run_id"), volleyd.lines()[*first].at("run_id"));
    EXPECT_EQ(report.at("queues").size(), workers);
}

INSTANTIATE_TEST_SUITE_P(OneToEightWorkers, Stopped, testing::Values(1U, 2U, 3U, 8U));

/// How long the clocks are compared: a millionth is one packet of 10 kpps in 100 s.
unsigned seconds_of_rates() {
    return std::getenv("VOLLEY_LONG") != nullptr ? 100 : 1;
}

// What the machine did not let go out in time is told; the time line is that of the clock.
TEST(LongRun, of_ten_thousand_and_a_million_packets_a_second_has_the_rate_of_the_clock) {
    const json report = run_volleyd(rates_config(seconds_of_rates(), "net_null0,copy=0,no-rx=1"));
    expect_rates(report, seconds_of_rates());
}

TEST(Blackhole, takes_a_hundred_million_packets_from_two_queues_exactly) {
    const std::uint64_t count = sanitized() ? 1'000'000 : 100'000'000;
    const auto begin = std::chrono::steady_clock::now();
    const json report = run_volleyd(configuration(2, false, {port("du0", "net_null0,copy=0,no-rx=1", 2)},
                                                  {{{"name", "blackhole"},
                                                    {"port", "du0"},
                                                    {"rate", "max"},
                                                    {"count", count},
                                                    {"packet", raw_packet()}}}));
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    expect_consistent(report);
    EXPECT_EQ(sum(report.at("streams"), "/tx/packets"), count);
    for (const json& queue : report.at("queues")) EXPECT_GT(queue.at("tx").at("packets"), count / 4);
    std::printf("%.1f million packets in %.3f s of traffic, %.3f s from start to end of the process\n",
                static_cast<double>(count) / 1e6, report.at("duration_ns").get<double>() / 1e9, wall.count());
}

}  // namespace
}  // namespace volley::test
