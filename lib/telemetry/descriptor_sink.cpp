#include "telemetry/descriptor_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <system_error>

#include "telemetry/quiet_write.h"

namespace volley::telemetry {
namespace {

// A tick may come a little early against the one before; 950 ms still makes one line a second.
constexpr std::uint64_t live_interval_ns = 950'000'000;

}  // namespace

DescriptorSink::DescriptorSink(std::string name, int fd, Content content)
    : name_(std::move(name)), content_(content), fd_(fd), poller_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (!poller_) throw std::system_error(errno, std::system_category(), "epoll for " + name_);
    choose_kind(fd);
}

void DescriptorSink::choose_kind(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) {
        fd_ = -1;
    } else if (S_ISSOCK(status.st_mode)) {
        kind_ = Kind::socket;
    } else if (S_ISFIFO(status.st_mode) || ::isatty(fd) == 1) {
        const std::string again = "/proc/self/fd/" + std::to_string(fd);
        own_.reset(::open(again.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        kind_ = own_ ? Kind::nonblocking : Kind::polled;
        if (own_) fd_ = own_.get();
    }
}

void DescriptorSink::offer(const std::shared_ptr<const Published>& published) noexcept {
    const bool live = content_ == Content::live;
    if (live && !published->snapshot.report) {
        const std::uint64_t now = published->snapshot.monotonic_ns;
        if (last_live_ns_ != 0 && now - last_live_ns_ < live_interval_ns) return;
        last_live_ns_ = now;
    }
    if (queue_.push(Text(published, live ? &published->live : &published->line))) ++dropped_;
    flush();
}

ssize_t DescriptorSink::write(const char* data, std::size_t size) const noexcept {
    switch (kind_) {
        case Kind::socket:
            return ::send(fd_, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        case Kind::polled: {
            // Room for one write of PIPE_BUF is what poll() promises of a pipe; pipe(7).
            pollfd room{fd_, POLLOUT, 0};
            if (::poll(&room, 1, 0) <= 0) {
                errno = EAGAIN;
                return -1;
            }
            return quiet_write(fd_, data, std::min<std::size_t>(size, PIPE_BUF));
        }
        case Kind::plain:
        case Kind::nonblocking:
            break;
    }
    return quiet_write(fd_, data, size);
}

void DescriptorSink::ready() noexcept {
    epoll_event taken{};
    ::epoll_wait(poller_.get(), &taken, 1, 0);  // the one shot is over only when it is taken
    flush();
}

void DescriptorSink::flush() noexcept {
    const auto outcome =
        queue_.flush([this](const char* data, std::size_t size) { return write(data, size); });
    waiting_ = outcome == LineQueue::Outcome::blocked;
    if (waiting_) {
        // One shot: a reader that is gone would otherwise wake the loop for ever.
        epoll_event event{};
        event.events = EPOLLOUT | EPOLLONESHOT;
        watched_ = ::epoll_ctl(poller_.get(), watched_ ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd_, &event) == 0 ||
                   watched_;
        return;
    }
    if (outcome != LineQueue::Outcome::failed) return;
    // On a full disk the line that is begun must be finished first; whoever closed a pipe wants no more of
    // it.
    const int error = queue_.error();
    const bool disk_full = kind_ == Kind::plain && (error == ENOSPC || error == EDQUOT);
    dropped_ += disk_full ? queue_.clear_unbegun() : queue_.clear();
}

}  // namespace volley::telemetry
