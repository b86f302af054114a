#pragma once

#include <string>

#include "base/fd.h"
#include "telemetry/line_queue.h"
#include "telemetry/sink.h"

namespace volley::telemetry {

/// Lines to a descriptor that others opened: stdout, or stderr for the live line. It may be a closed, slow or
/// stopped pipe, a terminal, a socket or a full disk: lines are lost and counted, the loop neither waits nor
/// gets SIGPIPE. The descriptor's own flags stay as they are, for a terminal shares them with the shell.
class DescriptorSink : public Sink {
  public:
    enum class Content {
        json,  ///< every line
        live,  ///< the line for humans, at most one a second, and the report
    };

    /// fd stays the caller's and must outlive the sink. One that is not open loses every line.
    DescriptorSink(std::string name, int fd, Content content);

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    void offer(const std::shared_ptr<const Published>& published) noexcept override;
    [[nodiscard]] std::uint64_t dropped_lines() const noexcept override { return dropped_; }
    [[nodiscard]] int poll_fd() const noexcept override { return poller_.get(); }
    void ready() noexcept override;
    [[nodiscard]] bool pending() const noexcept override { return waiting_; }

  private:
    enum class Kind {
        plain,        ///< a file or a device that never blocks for long
        nonblocking,  ///< pipe or terminal, opened a second time with flags of our own
        polled,       ///< pipe or terminal that could not be opened again: asked before each small write
        socket,
    };
    void choose_kind(int fd);
    [[nodiscard]] ssize_t write(const char* data, std::size_t size) const noexcept;
    void flush() noexcept;

    std::string name_;
    Content content_;
    Kind kind_ = Kind::plain;
    Fd own_;  ///< our own description, where there is one
    int fd_;
    Fd poller_;
    bool watched_ = false;  ///< fd_ is in poller_
    bool waiting_ = false;  ///< blocked; poller_ tells when to go on
    LineQueue queue_;
    std::uint64_t dropped_ = 0;
    std::uint64_t last_live_ns_ = 0;
};

}  // namespace volley::telemetry
