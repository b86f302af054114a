#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "base/fd.h"
#include "telemetry/line_queue.h"
#include "telemetry/sink.h"
#include "telemetry/unix_listener.h"

namespace volley::telemetry {

/// Serves each client of a Unix socket every line from its connection on. A client that reads too slowly
/// loses whole lines, which are counted; one that hangs up is forgotten; the one after max_clients is closed
/// at once.
class SocketSink : public Sink {
  public:
    static constexpr std::size_t max_clients = 64;

    /// Throws as UnixListener does.
    explicit SocketSink(std::string path);

    [[nodiscard]] std::string_view name() const noexcept override { return "socket"; }
    void offer(const std::shared_ptr<const Published>& published) noexcept override;
    [[nodiscard]] std::uint64_t dropped_lines() const noexcept override { return dropped_; }
    [[nodiscard]] int poll_fd() const noexcept override { return poller_.get(); }
    void ready() noexcept override;
    [[nodiscard]] bool pending() const noexcept override;

    [[nodiscard]] const std::string& path() const noexcept { return listener_.path(); }
    [[nodiscard]] std::size_t clients() const noexcept { return clients_.size(); }

  private:
    struct Client {
        Fd fd;
        LineQueue queue;
        bool waiting = false;  ///< poller_ tells when there is room again
    };
    void accept_all() noexcept;
    void listen_again() noexcept;
    /// False: the client is gone.
    bool flush(Client& client) noexcept;
    bool watch(int operation, int fd, std::uint32_t events) noexcept;

    UnixListener listener_;
    Fd poller_;
    bool accepting_ = false;
    std::unordered_map<int, Client> clients_;  ///< by descriptor
    std::uint64_t dropped_ = 0;
};

}  // namespace volley::telemetry
