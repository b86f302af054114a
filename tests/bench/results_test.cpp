#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <regex>

#include "volley-bench/compare.h"
#include "volley-bench/ring/advice.h"
#include "volley-bench/ring/kinds.h"

namespace volley::bench {
namespace {

Cell cell(double median) {
    return measured(summarize({median, median, median}));
}

TEST(Summary, holds_minimum_median_and_ninetieth_percentile) {
    const Summary s = summarize({5, 1, 4, 2, 3, 6, 7, 8, 9, 10});
    EXPECT_EQ(s.min, 1);
    EXPECT_EQ(s.median, 5.5);
    EXPECT_EQ(s.p90, 9);
}

TEST(Summary, is_spoiled_by_a_wide_tail_and_by_many_dropped_repetitions) {
    EXPECT_FALSE(summarize({10, 10, 11}).spoiled());
    EXPECT_TRUE(summarize({10, 10, 16}).spoiled());
    EXPECT_TRUE(summarize({10}, 2).spoiled());
    EXPECT_TRUE(summarize({}, 3).spoiled());
}

TEST(BreakEven, is_the_first_bulk_from_which_on_all_lie_below) {
    const TableRow row{"q", {cell(90), cell(20), cell(60), cell(24), cell(10)}};
    EXPECT_EQ(break_even(row, 25), std::optional<std::size_t>(3));
    EXPECT_EQ(break_even(row, 100), std::optional<std::size_t>(0));
    EXPECT_EQ(break_even(row, 5), std::nullopt);
}

TEST(Advice, names_the_bulk_that_the_many_to_many_queue_needs) {
    Table table;
    table.columns = {"1", "8", "32"};
    table.rows = {{"ptr_ring locked (2016)", {cell(25.5), cell(23), cell(22)}},
                  {"alf MPMC", {cell(328), cell(49), cell(14)}}};
    const auto advice = advice_from(table);
    ASSERT_EQ(advice.size(), 1U);
    EXPECT_EQ(
        advice[0],
        "alf MPMC needs bulk 32 to beat the one-at-a-time locked ptr_ring (25.5 cycles) on this machine.");
}

TEST(KernelFormat, truncates_each_side_before_it_averages_as_time_bench_does) {
    PairRun run;
    run.enqueue = {1000, 1000 + 10'999, 1000, Stop::done, 0};
    run.dequeue = {1000, 1000 + 13'999, 1000, Stop::empty, 0};
    const std::string lines = kernel_lines("alf_queue", 1, run, 1'000'000'000);
    EXPECT_NE(lines.find("CPU(0) 10 cycles(tsc) 10.999 ns (step:1)"), std::string::npos) << lines;
    EXPECT_NE(lines.find("CPU(1) 13 cycles(tsc) 13.999 ns"), std::string::npos) << lines;
    EXPECT_NE(lines.find("WARN: deq emptyq(CPU:1) i:1000\n"), std::string::npos) << lines;
    EXPECT_NE(lines.find("Sum Type:alf_queue Average: 11 cycles(tsc) CPUs:2 step:1\n"), std::string::npos)
        << lines;
    EXPECT_EQ(lines.find("fullq"), std::string::npos);
}

TEST(KernelFormat, has_the_shape_that_the_kernel_prints) {
    PairRun run;
    run.enqueue = {0, 4600, 100, Stop::done, 0};
    run.dequeue = {0, 4600, 100, Stop::done, 0};
    const std::regex type(
        R"(Type:\S+ CPU\(\d+\) \d+ cycles\(tsc\) \d+\.\d{3} ns \(step:\d+\) - \(measurement period )"
        R"(time:\d+\.\d{9} sec time_interval:\d+\) - \(invoke count:\d+ tsc_interval:\d+\))");
    const std::string lines = kernel_lines("skb_array", 8, run, 2'300'000'000);
    EXPECT_EQ(std::distance(std::sregex_iterator(lines.begin(), lines.end(), type), std::sregex_iterator()),
              2);
    EXPECT_EQ(posting_line("alf_queue MPMC", 32, 13.99),
              "alf_queue MPMC            CPUs:2 bulk=step:32 Average: 13 cycles(tsc)\n");
}

TEST(PairRun, that_ran_together_for_less_than_nine_tenths_is_not_clean) {
    PairRun run;
    run.enqueue = {1000, 2000, 10, Stop::done, 0};
    run.dequeue = {1050, 2000, 10, Stop::done, 0};
    EXPECT_TRUE(run.clean());
    run.dequeue.start = 1200;
    EXPECT_DOUBLE_EQ(run.overlap(), 0.8);
    EXPECT_FALSE(run.clean());
}

TEST(PairRun, with_a_thread_off_its_cpu_is_not_clean) {
    PairRun run;
    run.enqueue = {1000, 2000, 10, Stop::done, tsc_hz() / 1000};
    run.dequeue = {1000, 2000, 10, Stop::done, 0};
    EXPECT_FALSE(run.clean());
}

TEST(PairRun, ends_early_and_says_so_when_the_queue_is_full_or_the_other_side_late) {
    PairSpec spec;
    spec.queue_size = 256;
    spec.prefill = 128;
    spec.objects = 1'000'000;
    spec.producer = spec.consumer = ~0U;
    spec.late_consumer = tsc_hz() / 100;
    const RingKind& kind = ring_kinds().front();
    const PairRun run = kind.pair(spec);
    EXPECT_LT(run.enqueue.objects, spec.objects);
    EXPECT_EQ(run.enqueue.why, Stop::full);
    EXPECT_FALSE(run.clean());
}

Result small_result() {
    Result out;
    out.subcommand = "ring";
    out.machine.host = "here \"and\" <there>";
    Table table;
    table.name = "Two CPUs, by bulk";
    table.unit = "cycles";
    table.columns = {"1", "8"};
    table.rows = {{"a & b", {measured(summarize({10, 11, 12}, 1)), number(7.5)}},
                  {"c", {words("none"), cell(0.5)}}};
    out.tables = {table};
    out.advice = {"Take a."};
    return out;
}

TEST(Result, read_back_from_json_is_what_was_written) {
    const std::string file = testing::TempDir() + "volley_bench_result.json";
    std::ofstream(file) << to_json(small_result());
    const Result back = read_json(file);
    EXPECT_EQ(to_csv(back), to_csv(small_result()));
    EXPECT_EQ(back.machine.host, small_result().machine.host);
    std::remove(file.c_str());
}

TEST(Result, that_is_no_result_is_refused_with_its_name) {
    const std::string file = testing::TempDir() + "volley_bench_broken.json";
    std::ofstream(file) << "{\"schema\": 2}";
    try {
        read_json(file);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find(file), std::string::npos);
    }
    std::remove(file.c_str());
}

TEST(Result, as_csv_has_one_line_a_cell) {
    EXPECT_EQ(to_csv(small_result()),
              "table,row,column,min,median,p90,kept,dropped,spoiled,value\n"
              "\"Two CPUs, by bulk\",\"a & b\",\"1\",10.000,11.000,12.000,3,1,false,\n"
              "\"Two CPUs, by bulk\",\"a & b\",\"8\",,,,,,,7.5\n"
              "\"Two CPUs, by bulk\",\"c\",\"1\",,,,,,,\"none\"\n"
              "\"Two CPUs, by bulk\",\"c\",\"8\",0.500,0.500,0.500,3,0,false,\n");
}

TEST(Result, as_svg_escapes_what_labels_hold_and_draws_each_row) {
    const std::string svg = to_svg(small_result());
    EXPECT_NE(svg.find("a &amp; b"), std::string::npos);
    EXPECT_EQ(svg.find("<there>"), std::string::npos);
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = svg.find("<polyline", at)) != std::string::npos; ++at) ++lines;
    EXPECT_EQ(lines, 2U);
}

TEST(Result, as_svg_draws_ratios_as_bars_beside_each_other) {
    Result result = small_result();
    result.tables[0].columns = {"cycles", "ratio"};
    const std::string svg = to_svg(result);
    EXPECT_EQ(svg.find("<polyline"), std::string::npos);
    std::size_t drawn = 0;
    for (std::size_t at = 0; (at = svg.find("height=\"12\"", at)) != std::string::npos; ++at) ++drawn;
    EXPECT_EQ(drawn, 2U);
}

TEST(Compare, tells_a_difference_from_the_spread) {
    Result before = small_result();
    Result after = small_result();
    after.tables[0].rows[0].cells[0] = measured(summarize({5, 6, 7}));
    const Result found = compare(before, after);
    ASSERT_EQ(found.tables.size(), 1U);
    ASSERT_EQ(found.tables[0].rows.size(), 2U);
    EXPECT_EQ(found.tables[0].rows[0].cells[2].text, "0.545");
    EXPECT_EQ(found.tables[0].rows[0].cells[3].text, "less");
    EXPECT_EQ(found.tables[0].rows[1].cells[3].text, "within the spread");
}

}  // namespace
}  // namespace volley::bench
