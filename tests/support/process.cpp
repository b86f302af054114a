#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace volley::test {
namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

struct Pipe {
    int read = -1;
    int write = -1;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
    return {ends[0], ends[1]};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

// A later assignment replaces an earlier one, so no name stands there twice.
std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
    std::vector<std::string> result;
    for (char** variable = environ; *variable != nullptr; ++variable) result.emplace_back(*variable);
    for (const std::string& assignment : added) {
        const std::string name = assignment.substr(0, assignment.find('=') + 1);
        std::erase_if(result, [&](const std::string& other) { return other.starts_with(name); });
        result.push_back(assignment);
    }
    return result;
}

int milliseconds_left(std::chrono::steady_clock::time_point end) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

std::chrono::steady_clock::time_point after(Seconds time) {
    return std::chrono::steady_clock::now() + std::chrono::ceil<std::chrono::milliseconds>(time);
}

// Between fork and exec: calls that are safe after fork only.
[[noreturn]] void become(char* const* command, char* const* environment, int out, int err, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execvpe(command[0], command, environment);
    _exit(127);
}

}  // namespace

Process::Process(std::vector<std::string> command, const std::vector<std::string>& environment) {
    std::vector<std::string> variables = merged_environment(environment);
    const std::vector<char*> arguments = pointers(command);
    const std::vector<char*> assignments = pointers(variables);
    const Pipe out = make_pipe();
    const Pipe err = make_pipe();
    stop_fd_ = eventfd(0, EFD_CLOEXEC);
    if (stop_fd_ < 0) fail("eventfd");
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) become(arguments.data(), assignments.data(), out.write, err.write, parent);
    close(out.write);
    close(err.write);
    if (pid_ < 0) fail("fork");
    // By number: glibc 2.36 declares pidfd_open without C linkage.
    pid_fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    if (pid_fd_ < 0) fail("pidfd_open");
    reader_ = std::thread([this, out, err] { read_streams(out.read, err.read, stop_fd_); });
}

Process::~Process() {
    if (!status_) {
        signal(SIGKILL);
        wait();
    }
    const std::uint64_t one = 1;
    if (write(stop_fd_, &one, sizeof one) == sizeof one) reader_.join();
    close(stop_fd_);
    close(pid_fd_);
}

void Process::read_streams(int out, int err, int stop) {
    std::array<pollfd, 3> fds{pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}, pollfd{stop, POLLIN, 0}};
    std::array<char, 65536> buffer{};
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (poll(fds.data(), fds.size(), -1) < 0) continue;
        bool read_any = false;
        for (std::size_t i = 0; i < 2; ++i) {
            if (fds[i].fd < 0 || fds[i].revents == 0) continue;
            const ssize_t size = read(fds[i].fd, buffer.data(), buffer.size());
            if (size <= 0) {
                close(std::exchange(fds[i].fd, -1));
                continue;
            }
            read_any = true;
            const std::lock_guard lock(mutex_);
            (i == 0 ? out_ : err_).append(buffer.data(), static_cast<std::size_t>(size));
        }
        changed_.notify_all();
        if (fds[2].revents != 0 && !read_any) break;
    }
    for (const pollfd& fd : {fds[0], fds[1]}) {
        if (fd.fd >= 0) close(fd.fd);
    }
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
}

std::string Process::out() const {
    const std::lock_guard lock(mutex_);
    return out_;
}

std::string Process::err() const {
    const std::lock_guard lock(mutex_);
    return err_;
}

bool Process::wait_until(const std::function<bool(const std::string&, const std::string&)>& condition,
                         Seconds deadline) {
    std::unique_lock lock(mutex_);
    bool held = false;
    changed_.wait_until(lock, after(deadline), [&] {
        held = condition(out_, err_);
        return held || closed_;
    });
    return held;
}

bool Process::wait_for_out(const std::string& text, Seconds deadline) {
    return wait_until(
        [&](const std::string& out, const std::string&) { return out.find(text) != std::string::npos; },
        deadline);
}

bool Process::wait_for_err(const std::string& text, Seconds deadline) {
    return wait_until(
        [&](const std::string&, const std::string& err) { return err.find(text) != std::string::npos; },
        deadline);
}

void Process::signal(int number) const {
    if (!status_) syscall(SYS_pidfd_send_signal, pid_fd_, number, nullptr, 0);
}

std::optional<int> Process::wait(Seconds deadline) {
    if (status_) return status_;
    const auto end = after(deadline);
    pollfd ended{pid_fd_, POLLIN, 0};
    int ready = 0;
    do {
        ready = poll(&ended, 1, milliseconds_left(end));
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) return std::nullopt;
    int status = 0;
    if (waitpid(pid_, &status, 0) != pid_) fail("waitpid");
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, end, [&] { return closed_; });
    return status_;
}

Result run(std::vector<std::string> command, const std::vector<std::string>& environment, Seconds deadline) {
    Process process(std::move(command), environment);
    const int status = process.wait(deadline).value_or(-1);
    return {status, process.out(), process.err()};
}

}  // namespace volley::test
