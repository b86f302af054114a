#include "daemon/signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace volley::daemon {
namespace {

sigset_t handled() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&set, signal);
    return set;
}

}  // namespace

void block_signals() {
    const sigset_t set = handled();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

Signals::Signals() {
    const sigset_t set = handled();
    fd_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "creating the signal descriptor");
}

Signals::~Signals() {
    close(fd_);
}

std::optional<int> Signals::wait(std::chrono::milliseconds patience) const {
    pollfd entry{fd_, POLLIN, 0};
    if (poll(&entry, 1, static_cast<int>(patience.count())) <= 0) return std::nullopt;
    signalfd_siginfo info{};
    if (read(fd_, &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) return std::nullopt;
    return static_cast<int>(info.ssi_signo);
}

}  // namespace volley::daemon
