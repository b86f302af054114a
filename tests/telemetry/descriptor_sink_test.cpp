#include "telemetry/descriptor_sink.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>

#include "telemetry/sink_fixture.h"

namespace volley::telemetry {
namespace {

using testing::contents;
using testing::drain;
using testing::line;
using testing::numbers;
using Content = DescriptorSink::Content;

struct Pipe {
    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) == 0) {
            reader.reset(ends[0]);
            writer.reset(ends[1]);
        }
    }
    Fd reader;
    Fd writer;
};

class DescriptorSinkTest : public testing::Folder {};

// Offers lines of `size` bytes that nobody reads, then reads all there is: every line whole, in order, the
// newest there, and each of the others either read or counted.
void expect_bounded_and_whole(DescriptorSink& sink, int reader, std::size_t size) {
    constexpr std::uint64_t lines = 60;
    for (std::uint64_t i = 0; i < lines; ++i) sink.offer(line(i, size));
    EXPECT_TRUE(sink.pending());
    EXPECT_GT(sink.dropped_lines(), 0U);
    std::string text;
    for (;;) {
        const std::string more = drain(reader);
        text += more;
        sink.ready();
        if (more.empty() && !sink.pending()) break;
    }
    const auto read = numbers(text, size);
    EXPECT_EQ(read.size() + sink.dropped_lines(), lines);
    EXPECT_TRUE(std::is_sorted(read.begin(), read.end()));
    ASSERT_FALSE(read.empty());
    EXPECT_EQ(read.back(), lines - 1);
}

TEST_F(DescriptorSinkTest, a_pipe_gets_every_line_at_once) {
    const Pipe pipe;
    DescriptorSink sink("stdout", pipe.writer.get(), Content::json);
    sink.offer(line(1));
    sink.offer(line(2));
    EXPECT_EQ(drain(pipe.reader.get()), "1:\n2:\n");
    EXPECT_FALSE(sink.pending());
    EXPECT_EQ(sink.dropped_lines(), 0U);
}

TEST_F(DescriptorSinkTest, a_pipe_that_nobody_reads_loses_whole_lines_and_blocks_nobody) {
    const Pipe pipe;
    DescriptorSink sink("stdout", pipe.writer.get(), Content::json);
    expect_bounded_and_whole(sink, pipe.reader.get(), 3001);
}

TEST_F(DescriptorSinkTest, a_line_longer_than_the_pipe_arrives_in_pieces_and_whole) {
    const Pipe pipe;
    DescriptorSink sink("stdout", pipe.writer.get(), Content::json);
    expect_bounded_and_whole(sink, pipe.reader.get(), 300'000);
}

TEST_F(DescriptorSinkTest, tells_through_its_descriptor_that_a_slow_reader_has_made_room) {
    const Pipe pipe;
    DescriptorSink sink("stdout", pipe.writer.get(), Content::json);
    sink.offer(line(1, 100'000));
    pollfd woken{sink.poll_fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&woken, 1, 0), 0);
    const std::string first = drain(pipe.reader.get());
    EXPECT_EQ(::poll(&woken, 1, 10'000), 1);
    sink.ready();
    EXPECT_FALSE(sink.pending());
    EXPECT_EQ(numbers(first + drain(pipe.reader.get()), 100'000).size(), 1U);
}

TEST_F(DescriptorSinkTest, the_flags_of_a_shared_pipe_stay_as_they_were) {
    const Pipe pipe;
    DescriptorSink sink("stdout", pipe.writer.get(), Content::json);
    sink.offer(line(1, 200'000));
    EXPECT_EQ(::fcntl(pipe.writer.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(DescriptorSinkTest, a_pipe_without_reader_costs_lines_and_no_signal) {
    struct sigaction fatal {};
    struct sigaction before {};
    fatal.sa_handler = SIG_DFL;
    ::sigaction(SIGPIPE, &fatal, &before);
    Pipe pipe;
    DescriptorSink sink("stdout", pipe.writer.get(), Content::json);
    sink.offer(line(1, 200'000));
    pipe.reader.reset();
    for (std::uint64_t i = 2; i <= 5; ++i) sink.offer(line(i));
    EXPECT_EQ(sink.dropped_lines(), 5U);
    EXPECT_FALSE(sink.pending());
    sigset_t pending;
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
    ::sigaction(SIGPIPE, &before, nullptr);
}

TEST_F(DescriptorSinkTest, a_reader_that_is_gone_does_not_wake_the_loop_for_ever) {
    Pipe pipe;
    DescriptorSink sink("stdout", pipe.writer.get(), Content::json);
    sink.offer(line(1, 200'000));
    pipe.reader.reset();
    pollfd woken{sink.poll_fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&woken, 1, 10'000), 1);
    sink.ready();
    EXPECT_EQ(::poll(&woken, 1, 0), 0);
}

// As after su: the pipe belongs to somebody else and cannot be opened a second time.
TEST_F(DescriptorSinkTest, a_pipe_that_cannot_be_opened_again_blocks_nobody_either) {
    const Pipe pipe;
    ASSERT_EQ(::fchmod(pipe.writer.get(), 0), 0);
    const auto user = static_cast<uid_t>(::setfsuid(65534));
    DescriptorSink sink("stdout", pipe.writer.get(), Content::json);
    ::setfsuid(user);
    expect_bounded_and_whole(sink, pipe.reader.get(), 30'001);
}

TEST_F(DescriptorSinkTest, a_socket_that_nobody_reads_loses_whole_lines_and_blocks_nobody) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const Fd reader(ends[0]);
    Fd writer(ends[1]);
    const int room = 100'000;  // the machine's default may hold all that is offered
    ASSERT_EQ(::setsockopt(writer.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
    DescriptorSink sink("stdout", writer.get(), Content::json);
    expect_bounded_and_whole(sink, reader.get(), 30'000);
}

TEST_F(DescriptorSinkTest, a_stopped_terminal_blocks_nobody_and_keeps_its_flags) {
    const Fd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!terminal || ::grantpt(terminal.get()) != 0 || ::unlockpt(terminal.get()) != 0) {
        GTEST_SKIP() << "no pseudo terminal here";
    }
    char name[64];
    ASSERT_EQ(::ptsname_r(terminal.get(), name, sizeof(name)), 0);
    const Fd shell(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    DescriptorSink sink("live", shell.get(), Content::json);
    for (std::uint64_t i = 0; i < 100; ++i) sink.offer(line(i, 4000));
    EXPECT_TRUE(sink.pending());
    EXPECT_GT(sink.dropped_lines(), 0U);
    EXPECT_EQ(::fcntl(shell.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(DescriptorSinkTest, a_file_gets_every_line) {
    const Fd file(::open(path("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    DescriptorSink sink("stdout", file.get(), Content::json);
    for (std::uint64_t i = 0; i < 100; ++i) sink.offer(line(i, 5000));
    EXPECT_EQ(numbers(contents(path("out")), 5000).size(), 100U);
}

TEST_F(DescriptorSinkTest, a_full_device_costs_lines_only) {
    const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    DescriptorSink sink("stdout", full.get(), Content::json);
    for (std::uint64_t i = 0; i < 10; ++i) sink.offer(line(i));
    EXPECT_EQ(sink.dropped_lines(), 10U);
}

TEST_F(DescriptorSinkTest, a_line_that_a_full_disk_cut_is_finished_before_the_next) {
    if (!make_small_disk("64k")) GTEST_SKIP() << "no mount namespace here (needs CAP_SYS_ADMIN)";
    const Fd file(::open(path("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    { std::ofstream(path("ballast")) << std::string(40'000, 'b'); }
    DescriptorSink sink("stdout", file.get(), Content::json);
    for (std::uint64_t i = 0; i < 20; ++i) sink.offer(line(i, 3000));
    EXPECT_GT(sink.dropped_lines(), 0U);
    std::filesystem::remove(path("ballast"));
    sink.offer(line(99, 3000));
    const auto read = numbers(contents(path("out")), 3000);
    EXPECT_EQ(read.back(), 99U);
    EXPECT_EQ(read.size() + sink.dropped_lines(), 21U);
}

TEST_F(DescriptorSinkTest, a_descriptor_that_is_not_open_loses_every_line) {
    DescriptorSink sink("stdout", 9999, Content::json);
    sink.offer(line(1));
    sink.offer(line(2));
    EXPECT_EQ(sink.dropped_lines(), 2U);
}

TEST_F(DescriptorSinkTest, the_live_line_comes_once_a_second_and_with_the_report) {
    const Pipe pipe;
    DescriptorSink sink("live", pipe.writer.get(), Content::live);
    const auto at = [&](std::uint64_t ms, bool report = false) {
        auto out = std::make_shared<Published>(*line(ms));
        out->snapshot.monotonic_ns = 1'000'000'000 + ms * 1'000'000;
        out->snapshot.report = report;
        sink.offer(out);
    };
    for (std::uint64_t ms = 0; ms <= 2000; ms += 100) at(ms);
    at(2010, true);
    EXPECT_EQ(drain(pipe.reader.get()), "live 0:\nlive 1000:\nlive 2000:\nlive 2010:\n");
}

}  // namespace
}  // namespace volley::telemetry
