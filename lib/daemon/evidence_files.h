#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/tsc.h"
#include "config/model.h"
#include "telemetry/totals.h"
#include "worker/evidence.h"

namespace volley::daemon {

/// Writes findings into capture files by a thread of its own, so that a slow disk holds up nobody: one file a
/// run, RUN_ID.pcapng, which begins to exist with the run's first finding and is whole after each. What there
/// is no room for, and what cannot be written, is counted.
class EvidenceFiles {
  public:
    struct Item {
        worker::EvidenceCase* found = nullptr;  ///< given back when it is written
        std::uint32_t port = 0;                 ///< index into the ports
        std::uint32_t receiver = 0;             ///< of that port
        std::string stream;
    };

    /// name: of the process, with which its files begin. Throws config::FileError where nothing can be
    /// written to the folder.
    EvidenceFiles(config::Evidence settings, std::string name, std::vector<std::string> ports);
    /// Writes what is waiting.
    ~EvidenceFiles();
    EvidenceFiles(const EvidenceFiles&) = delete;
    EvidenceFiles& operator=(const EvidenceFiles&) = delete;

    /// Control: what is put from now on belongs to that run.
    void begin_run(const std::string& run_id);
    /// Control. At most as many are under way as there are cases, so the queue is bounded.
    void put(Item item);
    /// False when it took longer.
    bool wait_until_written(std::chrono::milliseconds patience);
    /// Any thread.
    [[nodiscard]] telemetry::EvidenceTotals totals() const;

  private:
    struct Order {
        Item item;
        std::string run_id;
    };

    void run();
    void write(const Order& order);
    void begin_file(const std::string& run_id);
    void open();
    void make_room() const;
    [[nodiscard]] bool cut() const;
    bool append(const std::string& blocks);
    [[nodiscard]] std::string render(const Item& item) const;
    void failed(int error);

    const config::Evidence settings_;
    const std::string name_;
    const std::vector<std::string> ports_;
    const TscClock clock_;

    // The writing thread's.
    std::optional<std::string> open_run_;  ///< that file_ belongs to
    std::string path_;
    Fd file_;
    std::uint64_t size_ = 0;               ///< of the whole findings in it, with its head
    std::optional<std::string> told_run_;  ///< in which the log has been told that it fails

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::string run_id_;                ///< under mutex_
    std::deque<Order> orders_;          ///< under mutex_
    bool busy_ = false;                 ///< under mutex_
    bool over_ = false;                 ///< under mutex_
    telemetry::EvidenceTotals totals_;  ///< under mutex_
    std::thread thread_;
};

}  // namespace volley::daemon
