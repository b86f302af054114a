#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "service/mailbox.h"
#include "telemetry/totals.h"
#include "worker/rx_worker.h"

namespace volley::daemon {

/// A capture that is over.
struct CaptureFile {
    std::string text;  ///< pcapng
    std::uint64_t packets = 0;
    std::uint64_t dropped = 0;  ///< packets that the filter took and no ring had room for
};

/// Captures what the receivers of one port take until one of the order's bounds is met or `stop` says so, and
/// returns it as a file in the order of arrival. Receivers run the filter and copy what it takes into
/// rings of their own, one capture at a time; all else is done here. Throws imports::Error when the filter is
/// wrong, dpdk::Error when a receiver does not look.
CaptureFile capture(const std::string& port, std::span<worker::RxWorker* const> receivers,
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
    /// Any thread.
    [[nodiscard]] telemetry::CaptureTotals totals() const {
        const std::lock_guard lock(mutex_);
        return totals_;
    }

  private:
    struct One {
        std::uint32_t port = 0;
        std::atomic<bool> over{false};  ///< written by its thread as its last act, read by control
        std::thread thread;
    };
    void run(const std::vector<worker::RxWorker*>& receivers, const service::CaptureOrder& order,
             service::Outcome& out);

    mutable std::mutex mutex_;
    telemetry::CaptureTotals totals_;  ///< under mutex_
    std::vector<std::unique_ptr<One>> under_way_;
    std::atomic<bool> stop_{false};  ///< written by control, read by the threads
};

}  // namespace volley::daemon
