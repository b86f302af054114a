#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "port/link_watch.h"
#include "port/port.h"

namespace volley::daemon {

/// Every port's link, looked at by control alone and shown to the stats lcore: who waits for what, and since
/// when.
class Links {
  public:
    using Ports = std::vector<std::unique_ptr<port::Port>>;

    /// The ports must outlive it and be started before the first look.
    explicit Links(const Ports& ports);

    /// Control. now_ns: CLOCK_MONOTONIC. Looks at every link, logs what has changed and asks for links that
    /// do not come by themselves.
    void look(std::uint64_t now_ns);
    /// Control. Every link was up since the start, so traffic may begin. Throws dpdk::Error, with the port,
    /// the reason and the next step, when one will not be.
    [[nodiscard]] bool ready() const;
    /// Control. Ports whose links have come up since this was called last; at first, all that are up.
    std::vector<std::size_t> take_risen();

    struct View {
        bool up = false;
        std::uint64_t speed_bps = 0;
        std::string reason;
        std::uint64_t since_unix_ns = 0;
    };
    /// Any thread.
    [[nodiscard]] View view(std::size_t port) const;

  private:
    const Ports& ports_;
    std::vector<port::LinkWatch> watches_;
    std::vector<std::size_t> risen_;
    mutable std::mutex mutex_;  ///< guards views_
    std::vector<View> views_;
};

}  // namespace volley::daemon
