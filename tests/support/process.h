#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace volley::test {

using Seconds = std::chrono::duration<double>;

/// Long enough for a loaded machine under a sanitizer: reaching it is a failure, never a measurement.
inline constexpr Seconds patience{60};

/// A child process whose output is collected while it runs. It is always reaped: the destructor kills it, and
/// the kernel does when the test dies first. stdin is /dev/null.
class Process {
  public:
    /// command[0] is looked up in PATH. environment: "NAME=value", added to the test's own. Throws
    /// std::system_error; a command that cannot be executed exits with 127.
    explicit Process(std::vector<std::string> command, const std::vector<std::string>& environment = {});
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    /// What was read so far.
    [[nodiscard]] std::string out() const;
    [[nodiscard]] std::string err() const;

    /// Waits until the condition holds for what the child has written. False when it closed both streams
    /// without, or at the deadline.
    bool wait_until(const std::function<bool(const std::string& out, const std::string& err)>& condition,
                    Seconds deadline = patience);
    bool wait_for_out(const std::string& text, Seconds deadline = patience);
    bool wait_for_err(const std::string& text, Seconds deadline = patience);

    /// No effect after wait() has returned a status.
    void signal(int number) const;
    /// Exit code, or 128 + signal number; nothing when it still runs at the deadline. All output is there
    /// then, unless a grandchild holds the streams open.
    std::optional<int> wait(Seconds deadline = patience);

  private:
    void read_streams(int out, int err, int stop);

    pid_t pid_ = -1;
    int pid_fd_ = -1;
    int stop_fd_ = -1;
    std::optional<int> status_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::string out_;      ///< under mutex_
    std::string err_;      ///< under mutex_
    bool closed_ = false;  ///< under mutex_
    std::thread reader_;
};

struct Result {
    int status = -1;  ///< as of Process::wait(); -1 when it was killed at the deadline
    std::string out;
    std::string err;
};

/// Runs to the end.
Result run(std::vector<std::string> command, const std::vector<std::string>& environment = {},
           Seconds deadline = patience);

}  // namespace volley::test
