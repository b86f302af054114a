#include "telemetry/file_sink.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <system_error>
#include <thread>

#include "telemetry/sink_fixture.h"

namespace volley::telemetry {
namespace {

using testing::contents;
using testing::drain;
using testing::line;
using testing::numbers;

class FileSinkTest : public testing::Folder {};

TEST_F(FileSinkTest, appends_to_what_is_there) {
    { std::ofstream(path("t.json")) << line(1)->line; }
    FileSink sink(path("t.json"));
    sink.offer(line(2));
    sink.offer(line(3));
    EXPECT_EQ(contents(path("t.json")), "1:\n2:\n3:\n");
    EXPECT_EQ(sink.dropped_lines(), 0U);
}

TEST_F(FileSinkTest, a_renamed_file_is_left_and_a_new_one_begun) {
    FileSink sink(path("t.json"));
    sink.offer(line(1));
    std::filesystem::rename(path("t.json"), path("t.json.1"));
    sink.offer(line(2));
    EXPECT_EQ(contents(path("t.json.1")), "1:\n");
    EXPECT_EQ(contents(path("t.json")), "2:\n");
}

TEST_F(FileSinkTest, a_removed_file_is_made_again) {
    FileSink sink(path("t.json"));
    sink.offer(line(1));
    std::filesystem::remove(path("t.json"));
    sink.offer(line(2));
    EXPECT_EQ(contents(path("t.json")), "2:\n");
}

TEST_F(FileSinkTest, a_replaced_file_is_followed_to_the_new_inode) {
    FileSink sink(path("t.json"));
    sink.offer(line(1));
    { std::ofstream(path("other")) << line(7)->line; }
    std::filesystem::rename(path("other"), path("t.json"));
    sink.offer(line(2));
    EXPECT_EQ(contents(path("t.json")), "7:\n2:\n");
}

TEST_F(FileSinkTest, a_truncated_file_goes_on_at_its_start) {
    FileSink sink(path("t.json"));
    sink.offer(line(1));
    std::filesystem::resize_file(path("t.json"), 0);
    sink.offer(line(2));
    EXPECT_EQ(contents(path("t.json")), "2:\n");
}

TEST_F(FileSinkTest, reopening_loses_nothing) {
    FileSink sink(path("t.json"));
    sink.offer(line(1));
    sink.reopen();
    sink.offer(line(2));
    EXPECT_EQ(contents(path("t.json")), "1:\n2:\n");
    EXPECT_EQ(sink.dropped_lines(), 0U);
}

TEST_F(FileSinkTest, while_its_folder_is_gone_lines_are_counted_and_tried_again) {
    std::filesystem::create_directory(path("d"));
    FileSink sink(path("d/t.json"));
    std::filesystem::rename(path("d"), path("e"));
    sink.offer(line(1));
    sink.offer(line(2));
    EXPECT_EQ(sink.dropped_lines(), 2U);
    std::filesystem::create_directory(path("d"));
    sink.offer(line(3));
    EXPECT_EQ(contents(path("d/t.json")), "3:\n");
    EXPECT_EQ(sink.dropped_lines(), 2U);
}

TEST_F(FileSinkTest, a_full_disk_holds_whole_lines_only_and_is_tried_again) {
    if (!make_small_disk("64k")) GTEST_SKIP() << "no mount namespace here (needs CAP_SYS_ADMIN)";
    { std::ofstream(path("ballast")) << std::string(30'000, 'b'); }
    FileSink sink(path("t.json"));
    for (std::uint64_t i = 0; i < 20; ++i) {
        sink.offer(line(i, 3000));
        numbers(contents(path("t.json")), 3000);
    }
    const std::uint64_t lost = sink.dropped_lines();
    EXPECT_GT(lost, 0U);
    EXPECT_LT(lost, 20U);
    std::filesystem::remove(path("ballast"));
    sink.offer(line(99, 3000));
    const auto read = numbers(contents(path("t.json")), 3000);
    EXPECT_EQ(read.back(), 99U);
    EXPECT_EQ(read.size() + lost, 21U);
    EXPECT_EQ(sink.dropped_lines(), lost);
}

TEST_F(FileSinkTest, a_full_device_costs_lines_only) {
    FileSink sink("/dev/full");
    sink.offer(line(1));
    sink.offer(line(2));
    EXPECT_EQ(sink.dropped_lines(), 2U);
}

TEST_F(FileSinkTest, half_a_line_of_a_killed_process_stays_alone) {
    { std::ofstream(path("t.json")) << "{\"torn\":"; }
    FileSink sink(path("t.json"));
    sink.offer(line(1));
    EXPECT_EQ(contents(path("t.json")), "{\"torn\":\n1:\n");
}

TEST_F(FileSinkTest, a_named_pipe_without_a_reader_blocks_nobody_and_with_one_gets_whole_lines) {
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    FileSink sink(path("fifo"));
    sink.offer(line(1, 50'000));
    EXPECT_EQ(sink.dropped_lines(), 1U);
    const Fd reader(::open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    for (std::uint64_t i = 2; i < 6; ++i) sink.offer(line(i, 50'000));
    std::string text = drain(reader.get());
    sink.offer(line(6, 50'000));
    text += drain(reader.get());
    const auto read = numbers(text.substr(0, text.rfind('\n') + 1), 50'000);
    ASSERT_GE(read.size(), 2U);
    EXPECT_EQ(read.front(), 2U);
    EXPECT_GT(sink.dropped_lines(), 1U);
}

TEST_F(FileSinkTest, a_path_that_can_never_work_is_refused_by_name_at_the_start) {
    try {
        FileSink sink(path("missing/t.json"));
        FAIL() << "no error";
    } catch (const std::system_error& e) {
        EXPECT_NE(std::string(e.what()).find(path("missing/t.json")), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("telemetry.file"), std::string::npos) << e.what();
    }
    EXPECT_THROW(FileSink sink(folder_), std::system_error);
}

TEST_F(FileSinkTest, a_report_file_is_replaced_whole_or_not_at_all) {
    write_whole_file(path("report.json"), "old\n");
    write_whole_file(path("report.json"), "new\n");
    EXPECT_EQ(contents(path("report.json")), "new\n");
    EXPECT_FALSE(std::filesystem::exists(path("report.json.new")));
    EXPECT_THROW(write_whole_file(path("missing/report.json"), "x\n"), std::system_error);
    EXPECT_THROW(write_whole_file("/dev/full", "x\n"), std::system_error);
    EXPECT_NO_THROW(write_whole_file("/dev/null", "x\n"));
}

TEST_F(FileSinkTest, a_report_that_does_not_fit_leaves_the_old_one) {
    if (!make_small_disk("64k")) GTEST_SKIP() << "no mount namespace here (needs CAP_SYS_ADMIN)";
    write_whole_file(path("report.json"), "old\n");
    EXPECT_THROW(write_whole_file(path("report.json"), std::string(100'000, 'x')), std::system_error);
    EXPECT_EQ(contents(path("report.json")), "old\n");
    EXPECT_FALSE(std::filesystem::exists(path("report.json.new")));
}

}  // namespace
}  // namespace volley::telemetry
