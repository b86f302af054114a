#include "telemetry/socket_sink.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace volley::telemetry {

SocketSink::SocketSink(std::string path)
    : listener_(std::move(path)), poller_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (!poller_) throw std::system_error(errno, std::system_category(), "epoll for the telemetry socket");
    listen_again();
}

bool SocketSink::watch(int operation, int fd, std::uint32_t events) noexcept {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    return ::epoll_ctl(poller_.get(), operation, fd, &event) == 0;
}

void SocketSink::listen_again() noexcept {
    if (!accepting_) accepting_ = watch(EPOLL_CTL_ADD, listener_.fd(), EPOLLIN);
}

void SocketSink::accept_all() noexcept {
    for (;;) {
        Fd fd = listener_.accept();
        if (!fd) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            if (errno != EAGAIN) {
                // No descriptor left: the waiting client would wake the loop for ever, so look again at the
                // next line.
                watch(EPOLL_CTL_DEL, listener_.fd(), 0);
                accepting_ = false;
            }
            return;
        }
        if (clients_.size() >= max_clients) continue;
        // No events asked: a hang-up is told always. What a client sends is never read, and ending its
        // sending side (socat with an empty stdin) is no hang-up.
        if (!watch(EPOLL_CTL_ADD, fd.get(), 0)) continue;
        const int number = fd.get();
        clients_[number].fd = std::move(fd);
    }
}

bool SocketSink::flush(Client& client) noexcept {
    const auto outcome = client.queue.flush([&](const char* data, std::size_t size) {
        return ::send(client.fd.get(), data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    });
    if (outcome == LineQueue::Outcome::failed) return false;
    const bool waiting = outcome == LineQueue::Outcome::blocked;
    if (waiting != client.waiting) {
        watch(EPOLL_CTL_MOD, client.fd.get(), waiting ? EPOLLOUT : 0U);
        client.waiting = waiting;
    }
    return true;
}

void SocketSink::offer(const std::shared_ptr<const Published>& published) noexcept {
    listen_again();
    accept_all();
    const Text line(published, &published->line);
    for (auto i = clients_.begin(); i != clients_.end();) {
        if (i->second.queue.push(line)) ++dropped_;
        i = flush(i->second) ? std::next(i) : clients_.erase(i);
    }
}

void SocketSink::ready() noexcept {
    std::array<epoll_event, max_clients + 1> events;
    const int n = ::epoll_wait(poller_.get(), events.data(), static_cast<int>(events.size()), 0);
    bool waiting_clients = false;
    for (int i = 0; i < n; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        if (event.data.fd == listener_.fd()) {
            waiting_clients = true;
            continue;
        }
        const auto client = clients_.find(event.data.fd);
        if (client == clients_.end()) continue;
        const bool gone = (event.events & (EPOLLHUP | EPOLLERR)) != 0;
        if (gone || !flush(client->second)) clients_.erase(client);
    }
    // Last: a new client may get the number of one that has just gone, and must not get its events.
    if (waiting_clients) accept_all();
}

bool SocketSink::pending() const noexcept {
    return std::any_of(clients_.begin(), clients_.end(),
                       [](const auto& client) { return client.second.waiting; });
}

}  // namespace volley::telemetry
