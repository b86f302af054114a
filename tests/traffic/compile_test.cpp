#include "traffic/compile.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "config/load.h"
#include "model.h"

namespace volley::traffic {
namespace {

using model::attended;
using model::hold_each_index_once;
using model::hz;

/// Streams as JSON on two ports of two workers each.
config::Model model_of(const std::string& streams, const std::string& port_keys = "",
                       const std::string& run = "{}") {
    const std::string text = R"({"version": 1, "run": )" + run + R"(,
        "ports": [{"name": "east", "device": "net_null0", "tx": {"lcores": [2, 3]})" +
                             port_keys + R"(},
                  {"name": "west", "device": "net_null1", "tx": {"lcores": [4, 5]}}],
        "streams": [)" + streams +
                             "]}";
    return config::parse(text, "test.json");
}

std::string stream_text(const std::string& name, const std::string& keys, int size = 64) {
    return R"({"name": ")" + name + R"(", "port": "east", "packet": {"frame_size": )" + std::to_string(size) +
           R"(, "headers": [{"eth": {"dst": "02:00:00:00:00:02"}}, {"ipv4": {}}, {"udp": {}}]}, )" + keys +
           "}";
}

std::string listed(const std::vector<std::string>& streams) {
    std::string out;
    for (const std::string& stream : streams) out += (out.empty() ? "" : ",") + stream;
    return out;
}

/// east: 10 Gbit/s; west: unknown.
Inputs inputs_of(std::uint32_t workers = 2) {
    Inputs inputs;
    inputs.ports = {{10'000'000'000, 0x020000000001, workers}, {0, 0x020000000009, workers}};
    inputs.tsc_hz = hz;
    return inputs;
}

std::unique_ptr<Plan> plan_of(const config::Model& model, StreamTable& table, const Plan* previous = nullptr,
                              const Inputs& inputs = inputs_of()) {
    auto result = compile(model, inputs, table, previous);
    if (auto* problems = std::get_if<std::vector<Problem>>(&result)) {
        for (const Problem& problem : *problems) ADD_FAILURE() << problem.pointer << ": " << problem.text;
        return std::make_unique<Plan>();
    }
    return std::move(std::get<0>(result));
}

std::vector<Problem> problems_of(const config::Model& model, const Inputs& inputs = inputs_of()) {
    StreamTable table;
    auto result = compile(model, inputs, table, nullptr);
    EXPECT_EQ(table.size(), 0U);
    auto* problems = std::get_if<std::vector<Problem>>(&result);
    return problems == nullptr ? std::vector<Problem>{} : std::move(*problems);
}

void adopt_all(Plan& plan, const Plan* previous, Tsc now) {
    for (std::size_t port = 0; port < plan.lanes.size(); ++port) {
        for (std::size_t worker = 0; worker < plan.lanes[port].size(); ++worker) {
            plan.lanes[port][worker]->adopt(
                previous == nullptr ? nullptr : previous->lanes[port][worker].get(), now);
        }
    }
}

std::vector<TemplateBurst> run_all(Plan& plan, Tsc from, Tsc to) {
    std::vector<TemplateBurst> out;
    for (auto& lanes : plan.lanes) {
        for (auto& lane : lanes) {
            const auto part = attended(*lane, from, to);
            out.insert(out.end(), part.begin(), part.end());
        }
    }
    return out;
}

void append(std::vector<TemplateBurst>& to, const std::vector<TemplateBurst>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

std::vector<TemplateBurst> of_slot(const std::vector<TemplateBurst>& bursts, StreamSlot slot) {
    std::vector<TemplateBurst> out;
    std::copy_if(bursts.begin(), bursts.end(), std::back_inserter(out),
                 [&](const TemplateBurst& burst) { return burst.stream == slot.value; });
    return out;
}

std::uint64_t packets_in_all(const std::vector<TemplateBurst>& bursts) {
    std::uint64_t packets = 0;
    for (const TemplateBurst& burst : bursts) packets += burst.count;
    return packets;
}

TEST(stream_table, a_name_keeps_its_slot_and_every_life_has_its_own_epoch) {
    StreamTable table;
    const StreamSlot a = table.slot("a");
    const StreamSlot b = table.slot("b");
    for (int i = 0; i < 1000; ++i) table.slot("s" + std::to_string(i));
    EXPECT_EQ(table.slot("a"), a);
    EXPECT_EQ(table.slot("b"), b);
    EXPECT_EQ(table.name(b), "b");
    EXPECT_EQ(table.size(), 1002U);
    EXPECT_EQ(table.next_epoch(a), 0U);
    EXPECT_EQ(table.next_epoch(a), 1U);
    EXPECT_EQ(table.next_epoch(b), 0U);
}

TEST(compile, rates_bursts_and_counts_come_from_the_frame_and_the_link) {
    StreamTable table;
    const auto plan =
        plan_of(model_of(listed({stream_text("half", R"("rate": "50%")"),
                                 stream_text("slow", R"("rate": "100pps", "count": 5)", 1518),
                                 stream_text("rest", R"("rate": "max", "burst": 8, "weight": 3)")})),
                table);
    ASSERT_EQ(plan->streams.size(), 3U);
    EXPECT_EQ(plan->streams[0].pps, reduced(5'000'000'000, 672));
    EXPECT_EQ(plan->streams[0].burst, 32U);
    EXPECT_EQ(plan->streams[0].mean_l2_bytes, (Rational{64, 1}));
    EXPECT_EQ(plan->streams[1].pps, (Rational{100, 1}));
    EXPECT_EQ(plan->streams[1].burst, 1U);
    EXPECT_EQ(plan->streams[1].count, 5U);
    EXPECT_TRUE(plan->streams[2].max);
    EXPECT_EQ(plan->streams[2].burst, 8U);
    EXPECT_EQ(plan->streams[2].weight, 3U);
    EXPECT_EQ(plan->streams[0].workers, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(plan->lanes.size(), 2U);
    EXPECT_EQ(plan->lanes[0].size(), 2U);
}

TEST(compile, the_source_address_is_the_ports) {
    StreamTable table;
    const auto plan = plan_of(model_of(stream_text("a", R"("rate": "1pps")")), table);
    ASSERT_EQ(plan->streams.size(), 1U);
    EXPECT_EQ(plan->streams[0].packet->image()[6], 0x02);
    EXPECT_EQ(plan->streams[0].packet->image()[11], 0x01);
}

TEST(compile, a_disabled_stream_is_absent) {
    StreamTable table;
    const auto plan = plan_of(model_of(stream_text("a", R"("rate": "1pps", "enabled": false)")), table);
    EXPECT_TRUE(plan->streams.empty());
    EXPECT_EQ(table.size(), 0U);
    adopt_all(*plan, nullptr, 0);
    EXPECT_TRUE(plan->lanes.at(0).at(0)->finished(0));
}

// B33: two million packets of 9000 bytes do not fit 10 Gbit/s.
TEST(compile, a_total_above_the_link_is_refused_with_the_numbers_unless_oversubscribed) {
    const std::string streams =
        listed({stream_text("big", R"("rate": "2Mpps")", 9000), stream_text("small", R"("rate": "1%")")});
    const auto problems = problems_of(model_of(streams));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].pointer, "/ports/0");
    for (const char* part : {"144.42Gbps", "10Gbps", "big 144.32Gbps", "small 100Mbps", "oversubscribe"}) {
        EXPECT_NE(problems[0].text.find(part), std::string::npos) << part << " in: " << problems[0].text;
    }
    StreamTable table;
    EXPECT_EQ(plan_of(model_of(streams, R"(, "oversubscribe": true)"), table)->streams.size(), 2U);
}

TEST(compile, a_link_may_be_filled_to_the_last_bit) {
    std::vector<std::string> streams;
    for (int i = 0; i < 7; ++i) {
        streams.push_back(
            stream_text("s" + std::to_string(i), R"("weight": )" + std::to_string(1 + i), 64 + 7 * i));
    }
    StreamTable table;
    EXPECT_EQ(plan_of(model_of(listed(streams), R"(, "rate": "100%")"), table)->streams.size(), 7U);
}

TEST(compile, all_problems_come_at_once_at_their_places) {
    config::Model model =
        model_of(listed({stream_text("a", R"("rate": "50%")"), stream_text("b", R"("rate": "1pps")"),
                         stream_text("c", R"("rate": "1pps")")}));
    model.streams[0].port = "west";
    model.streams[1].workers = {7};
    auto problems = problems_of(model);
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems[0].pointer, "/streams/1/workers");
    EXPECT_EQ(problems[1].pointer, "/streams/0/rate");
    EXPECT_NE(problems[1].text.find("\"50%\""), std::string::npos);
    EXPECT_NE(problems[1].text.find("west"), std::string::npos);
    model.streams[0].port = "east";
    model.streams[1].workers = {1};
    model.streams[2].count = 0;  // B39
    problems = problems_of(model);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].pointer, "/streams/2/count");
}

TEST(compile, the_configured_speed_counts_where_the_link_tells_none) {
    Inputs inputs = inputs_of();
    inputs.ports[0].link_bps = 0;
    StreamTable table;
    const auto plan = plan_of(model_of(stream_text("a", R"("rate": "50%")"), R"(, "speed": "1Gbps")"), table,
                              nullptr, inputs);
    ASSERT_EQ(plan->streams.size(), 1U);
    EXPECT_EQ(plan->streams[0].pps, reduced(500'000'000, 672));
}

TEST(compile, counts_durations_and_bytes_end_a_stream_whichever_is_first) {
    const struct {
        const char* keys;
        std::uint64_t packets;
    } cases[] = {
        {R"("rate": "1000pps", "count": 33)", 33},
        {R"("rate": "1000pps", "duration": "1500us")", 2},
        {R"("rate": "1Mpps", "duration": "10ms")", 10'000},
        {R"("rate": "1Mpps", "duration": "10ms", "count": 7)", 7},
        {R"("rate": "1Mpps", "bytes": 6463)", 100},
        {R"("rate": "1Mpps", "bytes": 6464, "count": 500)", 101},
    };
    for (const auto& c : cases) {
        StreamTable table;
        const auto plan = plan_of(model_of(stream_text("a", c.keys)), table);
        adopt_all(*plan, nullptr, 0);
        EXPECT_TRUE(hold_each_index_once(run_all(*plan, 0, hz), c.packets)) << c.keys;
    }
}

TEST(compile, bytes_are_never_exceeded_by_frames_of_varying_size) {
    StreamTable table;
    const auto plan =
        plan_of(model_of(R"({"name": "a", "port": "east", "rate": "1Mpps", "bytes": 100000, "packet": {
        "frame_size": {"increment": {"from": 64, "to": 1518}}, "headers": [{"eth": {}}, {"ipv4": {}}, {"udp": {}}]}})"),
                table);
    ASSERT_EQ(plan->streams.size(), 1U);
    const std::uint64_t count = plan->streams[0].count;
    std::uint64_t bytes = 0;
    std::uint16_t length = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        plan->streams[0].packet->lengths(i, 1, &length);
        bytes += length + fcs_bytes;
    }
    EXPECT_LE(bytes, 100'000U);
    plan->streams[0].packet->lengths(count, 1, &length);
    EXPECT_GT(bytes + length + fcs_bytes, 100'000U);
}

TEST(compile, a_timed_run_sends_exactly_its_packets_for_every_number_of_workers) {
    for (const std::uint32_t workers : {1U, 2U, 3U, 8U}) {
        Inputs inputs = inputs_of(workers);
        inputs.epoch = 12'345;
        inputs.end = inputs.epoch + ticks_of({100'000'000}, hz);
        StreamTable table;
        std::vector<std::string> streams;
        for (int i = 0; i < 5; ++i) {
            streams.push_back(stream_text("s" + std::to_string(i),
                                          i < 3 ? R"("rate": "123457pps")" : R"("rate": "777pps")"));
        }
        const auto plan = plan_of(model_of(listed(streams)), table, nullptr, inputs);
        adopt_all(*plan, nullptr, 0);
        const auto sent = run_all(*plan, inputs.epoch, inputs.end);
        for (std::uint32_t i = 0; i < 5; ++i) {
            EXPECT_TRUE(hold_each_index_once(of_slot(sent, {i}), i < 3 ? 12'346U : 78U))
                << i << " of " << workers;
        }
    }
}

TEST(compile, a_zero_that_is_set_after_compiling_gives_the_schedule_that_was_compiled_for_it) {
    const config::Model model = model_of(
        listed({stream_text("paced", R"("rate": "123457pps", "start": {"delay": "3ms"})"),
                stream_text("timed", R"("rate": "777pps", "duration": "50ms")"),
                stream_text("early", R"("rate": "31pps")"),
                stream_text("late", R"("rate": "31pps")")}));  // its last burst is pulled before the end
    for (const bool earlier : {false, true}) {
        for (const bool ends : {false, true}) {
            Inputs wanted = inputs_of();
            wanted.epoch = 7 * hz;
            if (ends) wanted.end = wanted.epoch + hz / 10;
            Inputs guessed = wanted;
            guessed.epoch += earlier ? hz : ~Tsc{0} - 5 * hz;
            if (ends) guessed.end = guessed.epoch + hz / 10;
            StreamTable table;
            const auto expected = plan_of(model, table, nullptr, wanted);
            const auto moved = plan_of(model, table, nullptr, guessed);
            begin_at(*moved, wanted.epoch);
            EXPECT_EQ(moved->epoch, expected->epoch);
            EXPECT_EQ(moved->end, expected->end);
            for (std::size_t s = 0; s < expected->streams.size(); ++s)
                EXPECT_EQ(moved->streams[s].start, expected->streams[s].start);
            adopt_all(*expected, nullptr, wanted.epoch - 1);
            adopt_all(*moved, nullptr, wanted.epoch - 1);
            const auto shape = [](const std::vector<TemplateBurst>& bursts) {
                std::vector<std::array<std::uint64_t, 4>> out;
                for (const TemplateBurst& b : bursts)
                    out.push_back({b.stream, b.first_index, b.count, b.due});
                return out;
            };
            const auto sent = shape(run_all(*expected, wanted.epoch, wanted.epoch + hz / 5));
            EXPECT_FALSE(sent.empty());
            EXPECT_EQ(shape(run_all(*moved, wanted.epoch, wanted.epoch + hz / 5)), sent);
        }
    }
}

TEST(compile, a_stream_at_max_starts_and_stops_by_the_zero_that_is_set_after_compiling) {
    const config::Model model = model_of(stream_text("max", R"("rate": "max", "duration": "10ms")"));
    for (const Tsc guess : {2 * hz, 8 * hz}) {
        Inputs inputs = inputs_of(1);
        inputs.epoch = guess;
        StreamTable table;
        const auto plan = plan_of(model, table, nullptr, inputs);
        begin_at(*plan, 7 * hz);
        adopt_all(*plan, nullptr, 7 * hz - 1);
        LaneSchedule& lane = *plan->lanes[0][0];
        TemplateBurst out[4];
        EXPECT_EQ(lane.fill(7 * hz - 1, 7 * hz - 1, 4, 4, out), 0U);
        EXPECT_EQ(lane.fill(7 * hz + hz / 1000, 7 * hz + hz / 1000, 4, 4, out), 4U);
        EXPECT_EQ(lane.fill(7 * hz + hz / 50, 7 * hz + hz / 50, 4, 4, out), 0U);
        EXPECT_TRUE(lane.finished(7 * hz + hz / 50));
    }
}

TEST(compile, equal_streams_never_fire_together) {
    StreamTable table;
    std::vector<std::string> streams;
    for (int i = 0; i < 40; ++i)
        streams.push_back(stream_text("s" + std::to_string(i), R"("rate": "1000pps")"));
    const auto plan = plan_of(model_of(listed(streams)), table);
    adopt_all(*plan, nullptr, 0);
    std::vector<Tsc> dues;
    for (const TemplateBurst& burst : run_all(*plan, 0, hz / 50)) dues.push_back(burst.due);
    std::sort(dues.begin(), dues.end());
    ASSERT_GT(dues.size(), 700U);
    for (std::size_t i = 1; i < dues.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(dues[i] - dues[i - 1]), hz / 40'000.0, 2);
    }
}

TEST(compile, a_stream_may_be_pinned_to_some_workers) {
    StreamTable table;
    const auto plan =
        plan_of(model_of(stream_text("a", R"("rate": "1000pps", "workers": [1], "count": 10)")), table);
    adopt_all(*plan, nullptr, 0);
    EXPECT_TRUE(plan->lanes.at(0).at(0)->finished(0));
    EXPECT_EQ(attended(*plan->lanes.at(0).at(1), 0, hz).size(), 10U);
}

TEST(compile, a_hundred_reloads_with_streams_that_come_and_go_lose_and_repeat_nothing) {
    StreamTable table;
    std::unique_ptr<Plan> plan;
    std::vector<TemplateBurst> sent;
    Tsc now = 0;
    constexpr std::uint64_t count = 30'011;
    for (int generation = 0; generation <= 100; ++generation) {
        const bool last = generation == 100;
        std::vector<std::string> streams;
        for (int i = 0; i < 10; ++i) {
            if (!last && i != 3 && i != 6 && (i * 7 + generation) % 5 == 0) continue;
            const std::string rate = std::to_string(last ? 500'000 : 20'000 + (generation * i * 37) % 90'000);
            streams.push_back(
                stream_text("s" + std::to_string(i),
                            R"("rate": ")" + rate + R"(pps", "count": )" + std::to_string(count)));
        }
        Inputs inputs = inputs_of();
        inputs.generation = static_cast<std::uint64_t>(generation);
        auto next = plan_of(model_of(listed(streams)), table, plan.get(), inputs);
        adopt_all(*next, plan.get(), now);
        plan = std::move(next);
        const Tsc until = now + (last ? hz : hz / 500);
        append(sent, run_all(*plan, now, until));
        now = until;
    }
    ASSERT_EQ(plan->streams.size(), 10U);
    for (const StreamPlan& stream : plan->streams) {
        if (stream.name != "s3" && stream.name != "s6") {
            EXPECT_GT(stream.epoch, 0U) << stream.name;
            continue;
        }
        EXPECT_EQ(stream.epoch, 0U);
        EXPECT_TRUE(hold_each_index_once(of_slot(sent, stream.slot), count)) << stream.name;
    }
    EXPECT_EQ(table.size(), 10U);
}

TEST(compile, what_becomes_signed_is_a_new_life_that_its_receiver_sees_from_index_0) {
    StreamTable table;
    const auto plain = plan_of(model_of(listed({stream_text("a", R"("rate": "1000pps")")})), table);
    EXPECT_EQ(plain->streams[0].signing, nullptr);
    const auto is_signed = plan_of(
        model_of(listed({stream_text("a", R"("rate": "1000pps", "signature": true)")})), table, plain.get());
    EXPECT_FALSE(is_signed->streams[0].carried);
    const auto faster =
        plan_of(model_of(listed({stream_text("a", R"("rate": "2000pps", "signature": true)")})), table,
                is_signed.get());
    EXPECT_TRUE(faster->streams[0].carried);
    EXPECT_NE(faster->streams[0].packet, is_signed->streams[0].packet);
    EXPECT_EQ(faster->streams[0].signing->generation, is_signed->streams[0].signing->generation);
    EXPECT_NE(is_signed->streams[0].epoch, plain->streams[0].epoch);
}

TEST(compile, a_latency_stream_has_a_queue_of_its_own_where_the_port_has_two) {
    StreamTable table;
    const auto plan =
        plan_of(model_of(listed({stream_text("load", R"("rate": "max")"),
                                 stream_text("probe", R"("rate": "1000pps", "latency": true)")})),
                table);
    const auto workers = plan->lanes[plan->streams[0].port].size();
    ASSERT_GE(workers, 2U);
    EXPECT_EQ(plan->streams[0].workers.size(), workers - 1);
    EXPECT_EQ(plan->streams[1].workers, std::vector{static_cast<std::uint32_t>(workers - 1)});
    EXPECT_TRUE(plan->streams[1].signing->closes_batch);
}

TEST(compile, a_changed_burst_or_set_of_workers_is_a_new_life) {
    StreamTable table;
    const auto first =
        plan_of(model_of(listed({stream_text("a", R"("rate": "1000pps", "burst": 4, "count": 70)"),
                                 stream_text("b", R"("rate": "1000pps", "count": 70)")})),
                table);
    adopt_all(*first, nullptr, 0);
    run_all(*first, 0, hz / 10);
    const auto second =
        plan_of(model_of(listed({stream_text("a", R"("rate": "1000pps", "burst": 8, "count": 70)"),
                                 stream_text("b", R"("rate": "1000pps", "workers": [0], "count": 70)")})),
                table, first.get());
    adopt_all(*second, first.get(), hz / 10);
    const auto sent = run_all(*second, hz / 10, hz / 2);
    ASSERT_EQ(second->streams.size(), 2U);
    for (const StreamPlan& stream : second->streams) {
        EXPECT_FALSE(stream.carried);
        EXPECT_EQ(stream.epoch, 1U);
        const auto of_stream = of_slot(sent, stream.slot);
        EXPECT_TRUE(hold_each_index_once(of_stream, 70)) << stream.name;
    }
}

TEST(compile, an_automatic_burst_follows_the_rate_on_one_worker_and_stays_on_several) {
    for (const std::uint32_t workers : {1U, 2U}) {
        StreamTable table;
        const Inputs inputs = inputs_of(workers);
        const auto fast = plan_of(model_of(stream_text("a", R"("rate": "1Mpps")")), table, nullptr, inputs);
        const auto slow =
            plan_of(model_of(stream_text("a", R"("rate": "1kpps")")), table, fast.get(), inputs);
        ASSERT_EQ(slow->streams.size(), 1U);
        EXPECT_TRUE(slow->streams[0].carried);
        EXPECT_EQ(slow->streams[0].burst, workers == 1 ? 1U : 32U);
        adopt_all(*fast, nullptr, 0);
        auto sent = run_all(*fast, 0, hz / 100);
        adopt_all(*slow, fast.get(), hz / 100 + 1);
        const auto more = run_all(*slow, hz / 100 + 1, hz / 2);
        EXPECT_GT(more.size(), 5U);
        append(sent, more);
        EXPECT_TRUE(hold_each_index_once(sent, packets_in_all(sent)));
    }
}

TEST(compile, the_multiplier_of_the_run_or_the_command_applies) {
    StreamTable table;
    const config::Model model = model_of(listed({stream_text("a", R"("rate": "1kpps")"),
                                                 stream_text("b", R"("rate": "1kpps", "scale": false)")}),
                                         "", R"({"multiplier": 0.1})");
    EXPECT_EQ(plan_of(model, table)->streams.at(0).pps, (Rational{100, 1}));
    EXPECT_EQ(plan_of(model, table)->streams.at(1).pps, (Rational{1000, 1}));
    Inputs inputs = inputs_of();
    inputs.multiplier = 2.5;
    EXPECT_EQ(plan_of(model, table, nullptr, inputs)->streams.at(0).pps, (Rational{2500, 1}));
}

TEST(compile, a_paused_stream_keeps_its_place) {
    StreamTable table;
    const config::Model model = model_of(stream_text("a", R"("rate": "1kpps", "count": 400)"));
    Inputs inputs = inputs_of();
    const auto running = plan_of(model, table, nullptr, inputs);
    adopt_all(*running, nullptr, 0);
    auto sent = run_all(*running, 0, hz / 10);
    config::Model held = model;
    held.streams.front().paused = true;
    const auto paused = plan_of(held, table, running.get(), inputs);
    adopt_all(*paused, running.get(), hz / 10);
    EXPECT_TRUE(run_all(*paused, hz / 10, hz / 5).empty());
    const auto resumed = plan_of(model, table, paused.get(), inputs);
    adopt_all(*resumed, paused.get(), hz / 5);
    const auto more = run_all(*resumed, hz / 5, hz / 2);
    EXPECT_NEAR(static_cast<double>(more.front().due), hz / 5.0, hz / 500.0);
    append(sent, more);
    EXPECT_TRUE(hold_each_index_once(sent, 400));
}

TEST(compile, a_plan_that_begins_later_is_the_same_schedule_moved) {
    const config::Model model =
        model_of(listed({stream_text("a", R"("rate": "12345pps", "start": {"delay": "1ms"})"),
                         stream_text("b", R"("rate": "max", "duration": "3ms")")}));
    Inputs inputs = inputs_of();
    inputs.end = hz / 50;
    StreamTable table;
    const auto plan = plan_of(model, table, nullptr, inputs);
    const auto moved = plan_of(model, table, nullptr, inputs);
    begin_at(*moved, 7 * hz);
    EXPECT_EQ(moved->epoch, 7 * hz);
    EXPECT_EQ(moved->end, 7 * hz + hz / 50);
    adopt_all(*plan, nullptr, 0);
    adopt_all(*moved, nullptr, 6 * hz);
    const auto expected = run_all(*plan, 0, hz / 50);
    const auto sent = run_all(*moved, 7 * hz, 7 * hz + hz / 50);
    ASSERT_EQ(sent.size(), expected.size());
    for (std::size_t i = 0; i < sent.size(); ++i) ASSERT_EQ(sent[i].due, expected[i].due + 7 * hz);
    EXPECT_TRUE(moved->lanes.at(0).at(0)->finished(7 * hz + hz / 50));
}

TEST(compile, an_unchanged_packet_keeps_its_template_over_a_reload) {
    StreamTable table;
    const config::Model before =
        model_of(listed({stream_text("a", R"("rate": "1kpps")"), stream_text("b", R"("rate": "1kpps")")}));
    const config::Model after = model_of(
        listed({stream_text("a", R"("rate": "2kpps")"), stream_text("b", R"("rate": "1kpps")", 128)}));
    const auto first = plan_of(before, table);
    Inputs inputs = inputs_of();
    inputs.previous_model = &before;
    const auto second = plan_of(after, table, first.get(), inputs);
    EXPECT_EQ(first->streams.at(0).packet, second->streams.at(0).packet);
    EXPECT_NE(first->streams.at(1).packet, second->streams.at(1).packet);
}

/// Six frames of two flows, 1 ms apart, written as a pcap of nanoseconds.
class RecordedFile {
  public:
    RecordedFile() {
        std::ofstream out(path, std::ios::binary);
        const auto word = [&](std::uint32_t value) {
            out.write(reinterpret_cast<const char*>(&value), sizeof value);
        };
        for (const std::uint32_t value : {0xa1b23c4dU, 0x00040002U, 0U, 0U, 65535U, 1U}) word(value);
        for (std::uint32_t i = 0; i < 6; ++i) {
            for (const std::uint32_t value : {7U, i * 1'000'000U, 60U, 60U}) word(value);
            std::string frame(60, '\0');
            frame[5] = static_cast<char>(i % 2);
            out << frame;
        }
    }
    ~RecordedFile() { std::remove(path.c_str()); }
    RecordedFile(const RecordedFile&) = delete;
    RecordedFile& operator=(const RecordedFile&) = delete;
    const std::string path = testing::TempDir() + "volley-recorded-" + std::to_string(getpid()) + ".pcap";
};

config::Model recorded_model(const RecordedFile& file, const std::string& pcap_keys,
                             const std::string& keys = "") {
    const std::string text = R"({"version": 1, "lcores": {"dispatch": 6},
        "ports": [{"name": "east", "device": "net_null0", "tx": {"lcores": [2, 3]}},
                  {"name": "west", "device": "net_null1", "tx": {"lcores": [4, 5]}}],
        "streams": [{"name": "a", "port": "east", "split": "flow", "packet": {"pcap": {"file": ")" +
                             file.path + R"(", "timing": "recorded", "loop": 0)" + pcap_keys + "}}" + keys +
                             "}]}";
    return config::parse(text, "test.json");
}

TEST(compile, a_recorded_capture_over_two_workers_is_one_time_line_that_reloads_carry_on) {
    const RecordedFile file;
    StreamTable table;
    const auto first = plan_of(recorded_model(file, ""), table);
    EXPECT_EQ(first->streams.at(0).pps, (Rational{1000, 1}));
    adopt_all(*first, nullptr, 0);
    const Tsc ms = hz / 1000;
    auto sent = run_all(*first, 0, 10 * ms);
    ASSERT_EQ(packets_in_all(sent), 11U);
    const auto second = plan_of(recorded_model(file, R"(, "speed": 2)"), table, first.get());
    EXPECT_TRUE(second->streams.at(0).carried);
    EXPECT_EQ(second->streams.at(0).clock, first->streams.at(0).clock);
    adopt_all(*second, first.get(), 10 * ms);
    append(sent, run_all(*second, 10 * ms + 1, 12 * ms));
    EXPECT_TRUE(hold_each_index_once(sent, 15));
    for (const TemplateBurst& burst : sent) {
        const Tsc due =
            burst.first_index <= 10 ? burst.first_index * ms : 10 * ms + (burst.first_index - 10) * ms / 2;
        EXPECT_NEAR(static_cast<double>(burst.due), static_cast<double>(due), 1) << burst.first_index;
    }
}

TEST(compile, a_recorded_stream_ends_by_its_duration_in_the_time_of_the_file) {
    const RecordedFile file;
    StreamTable table;
    const auto plan = plan_of(recorded_model(file, "", R"(, "duration": "7ms")"), table);
    EXPECT_EQ(plan->streams.at(0).count, 7U);
    const auto slow = plan_of(recorded_model(file, R"(, "speed": 0.5)", R"(, "duration": "7ms")"), table);
    EXPECT_EQ(slow->streams.at(0).count, 4U);
}

TEST(compile, a_stream_added_later_counts_its_delay_from_then) {
    StreamTable table;
    const std::string a = stream_text("a", R"("rate": "1kpps")");
    const auto first = plan_of(model_of(a), table);
    Inputs inputs = inputs_of();
    inputs.not_before = 5 * hz;
    const std::string b = stream_text("b", R"("rate": "1kpps", "start": {"delay": "1s"})");
    const auto second = plan_of(model_of(listed({a, b})), table, first.get(), inputs);
    ASSERT_EQ(second->streams.size(), 2U);
    EXPECT_EQ(second->streams[0].start, 0U);
    EXPECT_EQ(second->streams[1].start, 6 * hz);
}

}  // namespace
}  // namespace volley::traffic
