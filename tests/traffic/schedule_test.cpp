// The time lines that configuration can ask for, compiled and run in simulated time.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "config/load.h"
#include "model.h"
#include "traffic/compile.h"

namespace volley::traffic {
namespace {

using model::attended;
using model::hold_each_index_once;
using model::hz;
using Bursts = std::vector<TemplateBurst>;

std::string stream_text(const std::string& name, const std::string& keys, int size = 64) {
    return R"({"name": ")" + name + R"(", "port": "east", "packet": {"frame_size": )" + std::to_string(size) +
           R"(, "headers": [{"eth": {}}, {"ipv4": {}}, {"udp": {}}]}, )" + keys + "}";
}

config::Model model_of(const std::string& streams, const std::string& port_keys = "") {
    return config::parse(
        R"({"version": 1, "ports": [{"name": "east", "device": "net_null0", "tx": {"lcores": [2, 3, 4]})" +
            port_keys + R"(}], "streams": [)" + streams + "]}",
        "test.json");
}

Inputs inputs_of(std::uint32_t workers) {
    Inputs inputs;
    inputs.ports = {{10'000'000'000, 0x020000000001, workers}};
    inputs.tsc_hz = hz;
    return inputs;
}

std::unique_ptr<Plan> plan_of(const config::Model& model, StreamTable& table, const Inputs& inputs,
                              const Plan* previous = nullptr) {
    auto result = compile(model, inputs, table, previous);
    if (auto* problems = std::get_if<std::vector<Problem>>(&result)) {
        for (const Problem& problem : *problems) ADD_FAILURE() << problem.pointer << ": " << problem.text;
        return std::make_unique<Plan>();
    }
    return std::move(std::get<0>(result));
}

void adopt_all(Plan& plan, const Plan* previous, Tsc now) {
    for (std::size_t w = 0; w < plan.lanes.at(0).size(); ++w) {
        plan.lanes[0][w]->adopt(previous == nullptr ? nullptr : previous->lanes[0][w].get(), now);
    }
}

Bursts run_all(Plan& plan, Tsc from, Tsc to) {
    Bursts out;
    for (auto& lane : plan.lanes.at(0)) {
        TemplateBurst portion[64];
        for (Tsc now = from; now <= to; now += hz / 10'000) {
            const std::uint32_t n = lane->fill(now, now, 64, 4, portion);
            out.insert(out.end(), portion, portion + n);
        }
    }
    return out;
}

Bursts of_name(const Bursts& bursts, const StreamTable& table, const std::string& name) {
    Bursts out;
    std::copy_if(bursts.begin(), bursts.end(), std::back_inserter(out),
                 [&](const TemplateBurst& burst) { return table.name({burst.stream}) == name; });
    return out;
}

std::uint64_t packets_between(const Bursts& bursts, Tsc from, Tsc to) {
    std::uint64_t packets = 0;
    for (const TemplateBurst& burst : bursts)
        packets += burst.due >= from && burst.due < to ? burst.count : 0;
    return packets;
}

// S9 and its sum of 22, over any number of workers, and looped.
TEST(schedules, a_chain_of_bursts_sends_its_exact_total) {
    for (const std::uint32_t workers : {1U, 2U, 3U}) {
        StreamTable table;
        const auto plan = plan_of(
            model_of(stream_text("s0", R"("rate": "100pps", "count": 2, "next": "s1", "loop": 2)") + "," +
                     stream_text(
                         "s1", R"("rate": "10kpps", "bursts": {"packets": 4, "gap": "100ms", "count": 5})")),
            table, inputs_of(workers));
        adopt_all(*plan, nullptr, 0);
        const Bursts sent = run_all(*plan, 0, 2 * hz);
        EXPECT_TRUE(hold_each_index_once(of_name(sent, table, "s0"), 4)) << workers;
        EXPECT_TRUE(hold_each_index_once(of_name(sent, table, "s1"), 40)) << workers;
        for (auto& lane : plan->lanes[0]) EXPECT_TRUE(lane->finished(2 * hz));
    }
}

// burst_3st: 3 x 10000 packets, one stream after the other.
TEST(schedules, three_streams_run_one_after_the_other_at_max_and_paced) {
    StreamTable table;
    const auto plan =
        plan_of(model_of(stream_text("a", R"("rate": "1Mpps", "count": 10000, "next": "b", "loop": 2)") +
                         "," + stream_text("b", R"("rate": "max", "count": 10000, "next": "c")") + "," +
                         stream_text("c", R"("rate": "2Mpps", "duration": "5ms")")),
                table, inputs_of(1));
    adopt_all(*plan, nullptr, 0);
    const Bursts sent = run_all(*plan, 0, hz);
    for (const char* name : {"a", "b", "c"})
        EXPECT_TRUE(hold_each_index_once(of_name(sent, table, name), 20'000)) << name;
    for (std::size_t i = 1; i < sent.size(); ++i) {
        const std::uint64_t round = sent[i].first_index / 10'000;
        if (sent[i].stream != sent[i - 1].stream) {
            EXPECT_EQ(sent[i].first_index % 10'000, 0U);
            EXPECT_EQ(sent[i].stream, (sent[i - 1].stream + 1) % 3);
        }
        EXPECT_LE(round, 1U);
    }
}

// S14: 10, 20, 40, 60 % of the line rate, a while each, without a stop.
TEST(schedules, a_profile_of_steps_meets_each_rate) {
    StreamTable table;
    const auto plan =
        plan_of(model_of(stream_text(
                    "a", R"("rate": {"steps": [{"rate": "10%", "for": "10ms"}, {"rate": "20%", "for": "10ms"},
        {"rate": "40%", "for": "10ms"}, {"rate": "60%", "for": "10ms"}]})")),
                table, inputs_of(2));
    adopt_all(*plan, nullptr, 0);
    const Bursts sent = run_all(*plan, 0, hz / 10);
    const double line = 1e10 / 672;
    for (int i = 0; i < 4; ++i) {
        const double share[] = {0.1, 0.2, 0.4, 0.6};
        const Tsc from = static_cast<Tsc>(i) * hz / 100;
        EXPECT_NEAR(static_cast<double>(packets_between(sent, from, from + hz / 100)), line * share[i] / 100,
                    33)
            << i;
    }
    EXPECT_TRUE(plan->lanes[0][0]->finished(hz / 10));
}

TEST(schedules, a_ramp_rises_and_holds_and_a_looped_one_begins_again) {
    for (const bool looped : {false, true}) {
        StreamTable table;
        const auto plan = plan_of(
            model_of(stream_text(
                "a", std::string(R"("rate": {"ramp": {"from": "0pps", "to": "1Mpps", "for": "20ms"}})") +
                         (looped ? R"(, "loop": 0)" : ""))),
            table, inputs_of(2));
        adopt_all(*plan, nullptr, 0);
        const Bursts sent = run_all(*plan, 0, hz / 10);
        EXPECT_NEAR(static_cast<double>(packets_between(sent, 0, hz / 50)), 10'000, 33);
        EXPECT_NEAR(static_cast<double>(packets_between(sent, hz / 50, hz / 25)), looped ? 10'000 : 20'000,
                    66);
        EXPECT_NEAR(static_cast<double>(packets_between(sent, 0, hz / 100)), 2500, 33);
    }
}

TEST(schedules, groups_count_with_their_mean_rate_against_the_link_and_chains_with_their_greediest) {
    const std::string groups =
        stream_text("a", R"("rate": "100%", "bursts": {"packets": 1000, "gap": "1ms"})") + "," +
        stream_text("b", R"("rate": "50%")");
    StreamTable table;
    EXPECT_EQ(plan_of(model_of(groups), table, inputs_of(1))->streams.size(), 2U);
    const std::string chain = stream_text("c", R"("rate": "100%", "count": 10, "next": "d")") + "," +
                              stream_text("d", R"("rate": "100%")");
    EXPECT_EQ(plan_of(model_of(chain), table, inputs_of(1))->streams.size(), 2U);
    auto result =
        compile(model_of(chain + "," + stream_text("e", R"("rate": "1%")")), inputs_of(1), table, nullptr);
    EXPECT_TRUE(std::holds_alternative<std::vector<Problem>>(result));
}

TEST(schedules, a_loop_of_a_count_is_a_greater_count) {
    StreamTable table;
    const auto plan = plan_of(
        model_of(
            stream_text("a", R"("rate": "1Mpps", "count": 33, "loop": 3)") + "," +
            stream_text("b", R"("rate": "1Mpps", "count": 33, "loop": 0)") + "," +
            stream_text("c",
                        R"("rate": "1Mpps", "bursts": {"packets": 7, "gap": "1us", "count": 2}, "loop": 3)")),
        table, inputs_of(3));
    ASSERT_EQ(plan->streams.size(), 3U);
    EXPECT_EQ(plan->streams[0].count, 99U);
    EXPECT_EQ(plan->streams[1].count, endless);
    adopt_all(*plan, nullptr, 0);
    const Bursts sent = run_all(*plan, 0, hz / 100);
    EXPECT_TRUE(hold_each_index_once(of_name(sent, table, "a"), 99));
    EXPECT_TRUE(hold_each_index_once(of_name(sent, table, "c"), 42));
}

TEST(schedules, a_start_at_a_time_of_day_does_not_move_with_the_plan) {
    StreamTable table;
    Inputs inputs = inputs_of(1);
    inputs.epoch = 100 * hz;
    inputs.epoch_unix_ns = 1'782'907'200'000'000'000;  // 2026-07-01T12:00:00Z
    const auto plan = plan_of(
        model_of(stream_text("a", R"("rate": "1kpps", "start": {"at": "2026-07-01T12:00:02Z"})") + "," +
                 stream_text("b", R"("rate": "1kpps", "start": {"at": "2026-07-01T11:59:59.9995Z"})")),
        table, inputs);
    begin_at(*plan, 101 * hz);
    adopt_all(*plan, nullptr, 100 * hz);
    EXPECT_EQ(plan->streams.at(0).start, 102 * hz);
    EXPECT_EQ(plan->streams.at(0).start_delay.ns, 1'000'000'000U);
    const Bursts sent = run_all(*plan, 100 * hz, 102 * hz + hz / 100);
    EXPECT_EQ(of_name(sent, table, "a").front().due, 102 * hz);
    // Past: on its own grid, half a millisecond beside that of the clock, from the plan's zero on.
    EXPECT_EQ(of_name(sent, table, "b").front().due - 101 * hz, hz / 2000);
}

TEST(schedules, reloads_of_shapes_and_chains_lose_and_repeat_nothing) {
    StreamTable table;
    std::unique_ptr<Plan> plan;
    Bursts sent;
    Tsc now = 0;
    for (int generation = 0; generation <= 60; ++generation) {
        const bool last = generation == 60;
        const std::string rate = std::to_string(20'000 + generation * 977);
        const std::string streams =
            stream_text("a", R"("rate": ")" + rate + R"(pps", "count": 10, "next": "b", "loop": 100)") + "," +
            stream_text("b", R"("rate": "1Mpps", "bursts": {"packets": 9, "gap": ")" +
                                 std::to_string(10 + generation) + R"(us", "count": 2})") +
            "," +
            stream_text("c", R"("count": 5000, "rate": {"steps": [{"rate": ")" + rate +
                                 R"(pps", "for": "3ms"}, {"rate": "100kpps"}]})") +
            "," + stream_text("d", R"("count": 2000, "departure": "poisson", "rate": ")" + rate + R"(pps")");
        auto next = plan_of(model_of(streams), table, inputs_of(3), plan.get());
        adopt_all(*next, plan.get(), now);
        plan = std::move(next);
        const Tsc until = now + (last ? hz : hz / 1000);
        const Bursts part = run_all(*plan, now, until);
        sent.insert(sent.end(), part.begin(), part.end());
        now = until;
    }
    EXPECT_TRUE(hold_each_index_once(of_name(sent, table, "a"), 1000));
    EXPECT_TRUE(hold_each_index_once(of_name(sent, table, "b"), 1800));
    EXPECT_TRUE(hold_each_index_once(of_name(sent, table, "c"), 5000));
    EXPECT_TRUE(hold_each_index_once(of_name(sent, table, "d"), 2000));
    for (const StreamPlan& stream : plan->streams) EXPECT_EQ(stream.epoch, 0U) << stream.name;
}

}  // namespace
}  // namespace volley::traffic
