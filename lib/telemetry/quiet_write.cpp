#include "telemetry/quiet_write.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace volley::telemetry {

// Blocked meanwhile, and taken back when it was ours: the process may want its own SIGPIPE.
ssize_t quiet_write(int fd, const char* data, std::size_t size) noexcept {
    sigset_t pipe_only;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    const bool not_ours = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    const ssize_t n = ::write(fd, data, size);
    const int error = errno;
    if (n < 0 && error == EPIPE && !not_ours) {
        const timespec now{};
        while (sigtimedwait(&pipe_only, nullptr, &now) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return n;
}

}  // namespace volley::telemetry
