#include "telemetry/socket_sink.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <system_error>

#include "telemetry/sink_fixture.h"

namespace volley::telemetry {
namespace {

using testing::drain;
using testing::line;
using testing::numbers;

class SocketSinkTest : public testing::Folder {
  protected:
    [[nodiscard]] Fd connect() const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path("s").c_str(), sizeof(address.sun_path) - 1);
        Fd out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
            out.reset();
        return out;
    }
    [[nodiscard]] mode_t mode() const {
        struct stat status {};
        ::stat(path("s").c_str(), &status);
        return status.st_mode & 0777;
    }
};

// The other end has closed the connection and sent nothing.
bool closed(int fd) {
    char byte = 0;
    pollfd readable{fd, POLLIN, 0};
    return ::poll(&readable, 1, 10'000) == 1 && ::recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

TEST_F(SocketSinkTest, every_client_gets_every_line_whole) {
    SocketSink sink(path("s"));
    const Fd first = connect();
    sink.offer(line(1));
    const Fd second = connect();
    sink.offer(line(2));
    EXPECT_EQ(drain(first.get()), "1:\n2:\n");
    EXPECT_EQ(drain(second.get()), "2:\n");
    EXPECT_EQ(sink.clients(), 2U);
    EXPECT_EQ(sink.dropped_lines(), 0U);
}

TEST_F(SocketSinkTest, of_a_hundred_clients_64_are_served_and_the_others_closed) {
    SocketSink sink(path("s"));
    std::vector<Fd> clients;
    for (int i = 0; i < 100; ++i) {
        clients.push_back(connect());
        ASSERT_TRUE(clients.back());
    }
    sink.ready();
    sink.offer(line(1));
    EXPECT_EQ(sink.clients(), 64U);
    for (std::size_t i = 0; i < clients.size(); ++i) {
        if (i < 64) {
            EXPECT_EQ(drain(clients[i].get()), "1:\n") << i;
        } else {
            EXPECT_TRUE(closed(clients[i].get())) << i;
        }
    }
    clients.erase(clients.begin(), clients.begin() + 10);
    sink.ready();
    const Fd late = connect();
    sink.offer(line(2));
    EXPECT_EQ(drain(late.get()), "2:\n");
}

TEST_F(SocketSinkTest, a_slow_client_loses_whole_lines_and_delays_no_other) {
    SocketSink sink(path("s"));
    const Fd slow = connect();
    const Fd quick = connect();
    std::string quick_text;
    constexpr std::uint64_t lines = 400;
    for (std::uint64_t i = 0; i < lines; ++i) {
        sink.offer(line(i, 10'000));
        quick_text += drain(quick.get());
    }
    EXPECT_EQ(numbers(quick_text, 10'000).size(), lines);
    EXPECT_TRUE(sink.pending());
    std::string slow_text;
    for (;;) {
        const std::string more = drain(slow.get());
        slow_text += more;
        sink.ready();
        if (more.empty() && !sink.pending()) break;
    }
    const auto read = numbers(slow_text, 10'000);
    EXPECT_GT(sink.dropped_lines(), 0U);
    EXPECT_EQ(read.size() + sink.dropped_lines(), lines);
    EXPECT_EQ(read.back(), lines - 1);
}

TEST_F(SocketSinkTest, a_report_larger_than_the_socket_reaches_a_client_that_reads) {
    SocketSink sink(path("s"));
    const Fd client = connect();
    sink.offer(line(1, 5'000'000));
    std::string text;
    while (sink.pending()) {
        text += drain(client.get());
        pollfd woken{sink.poll_fd(), POLLIN, 0};
        ASSERT_EQ(::poll(&woken, 1, 10'000), 1);
        sink.ready();
    }
    text += drain(client.get());
    EXPECT_EQ(numbers(text, 5'000'000).size(), 1U);
}

TEST_F(SocketSinkTest, a_client_that_hangs_up_is_forgotten_at_once) {
    SocketSink sink(path("s"));
    Fd client = connect();
    sink.ready();
    EXPECT_EQ(sink.clients(), 1U);
    client.reset();
    pollfd woken{sink.poll_fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&woken, 1, 10'000), 1);
    sink.ready();
    EXPECT_EQ(sink.clients(), 0U);
    EXPECT_EQ(::poll(&woken, 1, 0), 0);
}

TEST_F(SocketSinkTest, a_client_that_dies_between_lines_raises_no_signal) {
    SocketSink sink(path("s"));
    Fd client = connect();
    sink.ready();
    client.reset();
    sink.offer(line(1));
    EXPECT_EQ(sink.clients(), 0U);
}

TEST_F(SocketSinkTest, a_client_that_only_ends_its_sending_side_is_served_on) {
    SocketSink sink(path("s"));
    const Fd client = connect();
    ::shutdown(client.get(), SHUT_WR);
    sink.ready();
    sink.offer(line(1));
    sink.ready();
    sink.offer(line(2));
    EXPECT_EQ(drain(client.get()), "1:\n2:\n");
}

TEST_F(SocketSinkTest, a_client_that_talks_wakes_nobody) {
    SocketSink sink(path("s"));
    const Fd client = connect();
    sink.ready();
    ASSERT_EQ(::send(client.get(), "hello", 5, MSG_NOSIGNAL), 5);
    pollfd woken{sink.poll_fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&woken, 1, 0), 0);
    sink.offer(line(1));
    EXPECT_EQ(drain(client.get()), "1:\n");
}

TEST_F(SocketSinkTest, without_descriptors_it_waits_for_the_next_line_instead_of_spinning) {
    SocketSink sink(path("s"));
    const Fd client = connect();
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit none{1, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    sink.ready();
    pollfd woken{sink.poll_fd(), POLLIN, 0};
    const int spinning = ::poll(&woken, 1, 0);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_EQ(spinning, 0);
    sink.offer(line(1));
    EXPECT_EQ(drain(client.get()), "1:\n");
}

TEST_F(SocketSinkTest, its_name_is_for_user_and_group_whatever_the_umask) {
    for (const mode_t mask : {mode_t{0}, mode_t{077}}) {
        const mode_t before = ::umask(mask);
        const SocketSink sink(path("s"));
        ::umask(before);
        EXPECT_EQ(mode(), 0660U);
    }
}

TEST_F(SocketSinkTest, the_name_of_a_dead_program_is_taken_over) {
    const Fd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path("s").c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    SocketSink sink(path("s"));
    const Fd client = connect();
    sink.offer(line(1));
    EXPECT_EQ(drain(client.get()), "1:\n");
}

TEST_F(SocketSinkTest, the_name_of_a_live_program_is_refused_and_left_in_peace) {
    SocketSink sink(path("s"));
    try {
        SocketSink second(path("s"));
        FAIL() << "no error";
    } catch (const std::system_error& e) {
        EXPECT_NE(std::string(e.what()).find(path("s") + " is served by a running program"),
                  std::string::npos);
    }
    const Fd client = connect();
    sink.offer(line(1));
    EXPECT_EQ(drain(client.get()), "1:\n");
}

TEST_F(SocketSinkTest, what_is_no_socket_is_not_removed) {
    { std::ofstream(path("s")) << "precious"; }
    EXPECT_THROW(SocketSink sink(path("s")), std::runtime_error);
    EXPECT_EQ(testing::contents(path("s")), "precious");
}

TEST_F(SocketSinkTest, a_path_that_no_socket_can_have_is_refused_with_the_numbers) {
    EXPECT_THROW(SocketSink sink(""), std::runtime_error);
    EXPECT_THROW(SocketSink sink(path("missing/s")), std::system_error);
    try {
        SocketSink sink(path(std::string(200, 'x')));
        FAIL() << "no error";
    } catch (const std::runtime_error& e) {
        EXPECT_NE(std::string(e.what()).find("107"), std::string::npos) << e.what();
    }
}

TEST_F(SocketSinkTest, the_name_goes_at_the_end_unless_another_has_taken_it) {
    { const SocketSink sink(path("s")); }
    EXPECT_FALSE(std::filesystem::exists(path("s")));
    {
        const SocketSink sink(path("s"));
        std::filesystem::remove(path("s"));
        std::ofstream(path("s")) << "another";
    }
    EXPECT_TRUE(std::filesystem::exists(path("s")));
}

class AutoSocketPath : public testing::Folder {
  protected:
    void SetUp() override {
        ::unsetenv("RUNTIME_DIRECTORY");
        ::unsetenv("XDG_RUNTIME_DIR");
    }
};

TEST_F(AutoSocketPath, is_systemds_first_folder_then_the_users) {
    ::setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    EXPECT_EQ(auto_socket_path("lab", "telemetry"), folder_ + "/volley/lab.telemetry.sock");
    EXPECT_TRUE(std::filesystem::is_directory(path("volley")));
    ::setenv("RUNTIME_DIRECTORY", "/run/one:/run/two", 1);
    EXPECT_EQ(auto_socket_path("lab", "control"), "/run/one/lab.control.sock");
}

TEST_F(AutoSocketPath, refuses_a_name_that_leaves_the_folder) {
    ::setenv("RUNTIME_DIRECTORY", folder_.c_str(), 1);
    EXPECT_THROW(auto_socket_path("../x", "telemetry"), std::runtime_error);
    EXPECT_THROW(auto_socket_path("", "telemetry"), std::runtime_error);
}

TEST_F(AutoSocketPath, names_the_folder_that_cannot_be_made) {
    ::setenv("XDG_RUNTIME_DIR", path("missing").c_str(), 1);
    try {
        auto_socket_path("lab", "telemetry");
        FAIL() << "no error";
    } catch (const std::system_error& e) {
        EXPECT_NE(std::string(e.what()).find(path("missing/volley")), std::string::npos);
    }
}

}  // namespace
}  // namespace volley::telemetry
