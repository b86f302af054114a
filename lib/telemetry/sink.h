#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "telemetry/published.h"

namespace volley::telemetry {

/// A taker of lines. All members are called on the stats lcore only; none may wait, and none may throw once
/// built. A line is delivered whole or not at all, and one that is not is counted.
class Sink {
  public:
    virtual ~Sink() = default;
    /// The key under which telemetry shows the sink: "stdout", "file", "socket", "live".
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    virtual void offer(const std::shared_ptr<const Published>& published) noexcept = 0;
    [[nodiscard]] virtual std::uint64_t dropped_lines() const noexcept = 0;
    /// Closes and opens anew what has a name in the file system.
    virtual void reopen() noexcept {}

    /// A descriptor that becomes readable when ready() has something to do, or -1.
    [[nodiscard]] virtual int poll_fd() const noexcept { return -1; }
    virtual void ready() noexcept {}
    /// True while a reader has yet to take a line that it was given.
    [[nodiscard]] virtual bool pending() const noexcept { return false; }
};

}  // namespace volley::telemetry
