#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "service/mailbox.h"
#include "worker/rx_worker.h"

namespace volley::daemon {

/// Captures what the receivers of one port take until one of the order's bounds is met or `stop` says so, and
/// returns it as a pcapng file in the order of arrival. Receivers run the filter and copy what it takes into
/// rings of their own, one capture at a time; all else is done here. Throws imports::Error when the filter is
/// wrong, dpdk::Error when a receiver does not look.
std::string capture(const std::string& port, std::span<worker::RxWorker* const> receivers,
                    const service::CaptureOrder& order, const std::atomic<bool>& stop);

/// The captures that are under way, each by a thread of its own: one a port at most.
class Captures {
  public:
    using Answer = std::function<void(service::Outcome)>;

    Captures() = default;
    /// Ends all; what they have so far is answered.
    ~Captures();
    Captures(const Captures&) = delete;
    Captures& operator=(const Captures&) = delete;

    /// Control: false, and nothing is answered, when that port has one under way. The answer comes from
    /// another thread, or from here where none can be had, with `situation` and either the file or what was
    /// wrong.
    bool begin(std::uint32_t port, std::vector<worker::RxWorker*> receivers, service::CaptureOrder order,
               service::Outcome situation, const Answer& answer);

  private:
    struct One {
        std::uint32_t port = 0;
        std::atomic<bool> over{false};  ///< written by its thread as its last act, read by control
        std::thread thread;
    };
    std::vector<std::unique_ptr<One>> under_way_;
    std::atomic<bool> stop_{false};  ///< written by control, read by the threads
};

}  // namespace volley::daemon
