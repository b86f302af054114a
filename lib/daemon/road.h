#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/tsc.h"
#include "config/model.h"
#include "port/port.h"
#include "traffic/plan.h"
#include "worker/evidence.h"
#include "worker/lcore_loop.h"
#include "worker/replies.h"
#include "worker/rx_lane.h"
#include "worker/tx_lane.h"

namespace volley::daemon {

/// From plan to wire: ports, pools, rings, workers and the lcores that turn them, for one topology. Needs a
/// running EAL that outlives it. Control owns it; all members are control's unless said otherwise.
class Road {
  public:
    /// Probes the ports. Throws dpdk::Error.
    explicit Road(const config::Model& model);
    ~Road();
    Road(const Road&) = delete;
    Road& operator=(const Road&) = delete;

    /// Starts ports, makes queues and launches the data path lcores, which have nothing to send yet: links
    /// may still be down. Frame lengths without FCS by port, with the stream that needs it for messages.
    /// Throws dpdk::Error.
    struct Longest {
        std::uint32_t length = 60;
        std::string stream;
        std::uint32_t received = 60;  ///< the longest that may arrive
        std::string received_stream{};
    };
    void start(const std::vector<Longest>& longest);
    /// Stops the lcores. False when one has not ended in time, for it hangs in its device: then nothing may
    /// be freed.
    bool stop_lcores(std::chrono::milliseconds patience) noexcept;
    /// Stops the lcores for good, gives back what is pending and stops the ports.
    void stop() noexcept;

    /// Hands the plan's lane schedules to the lanes (nullptr: emit nothing more) as the next generation of
    /// turns.
    void offer(traffic::Plan* plan);
    /// Every lane works on what was offered last. Names one that does not in `laggard`.
    [[nodiscard]] bool adopted(std::string* laggard = nullptr) const;
    /// Bursts emitted by each lane before its last adoption; valid once adopted().
    [[nodiscard]] std::vector<std::uint64_t> emitted_before() const;
    /// True when every worker has finished that many bursts. Names the port that has not in `laggard`.
    [[nodiscard]] bool finished(const std::vector<std::uint64_t>& emitted,
                                std::string* laggard = nullptr) const;
    /// No lane will emit more from what it has.
    [[nodiscard]] bool emission_over() const;
    /// Rings and batches are empty.
    [[nodiscard]] bool rings_dry() const;
    /// By what the stats lcore has read last: the devices have sent, or counted as errors, every packet that
    /// they accepted since start().
    [[nodiscard]] bool devices_dry() const;
    /// Packets that port p accepted and has neither sent nor counted as errors, apart from those written off.
    [[nodiscard]] std::uint64_t in_flight(std::size_t p) const;
    /// Waits for what is in flight no longer. Returns what was written off so far, by port.
    std::vector<std::uint64_t> write_off();
    /// Packets of the stream that its port's workers have handed to the device since the process started.
    [[nodiscard]] std::uint64_t sent(StreamSlot slot) const;
    /// The same of all streams.
    [[nodiscard]] std::uint64_t sent() const;
    /// Row for a stream in every worker of its port. False when the stream table is full.
    bool add_row(std::uint32_t port, StreamSlot slot);

    [[nodiscard]] std::vector<std::unique_ptr<port::Port>>& ports() { return ports_; }
    [[nodiscard]] const std::vector<std::unique_ptr<port::Port>>& ports() const { return ports_; }
    [[nodiscard]] const std::vector<std::unique_ptr<worker::TxLane>>& lanes() const { return lanes_; }
    [[nodiscard]] const std::vector<std::unique_ptr<worker::RxLane>>& receivers() const { return receivers_; }
    /// By receiver; empty when the configuration asks for none.
    [[nodiscard]] const std::vector<std::unique_ptr<worker::Evidence>>& evidence() const { return evidence_; }
    /// By port; nullptr where it has no addresses.
    [[nodiscard]] const std::vector<std::unique_ptr<worker::Replies>>& replies() const { return replies_; }
    [[nodiscard]] const std::vector<std::unique_ptr<worker::LcoreLoop>>& loops() const { return loops_; }
    /// Longest frame without FCS that the buffers of that port hold.
    [[nodiscard]] std::uint32_t data_room(std::uint32_t port) const;

  private:
    void build_lanes(const std::vector<Longest>& longest);
    void build_receivers();
    void build_replies();
    worker::LcoreLoop& loop_on(LcoreId lcore);

    config::Model model_;
    std::vector<std::unique_ptr<port::Port>> ports_;
    std::vector<port::Statistics> at_start_;
    std::vector<std::uint64_t> written_off_;  ///< by port
    std::vector<std::unique_ptr<worker::TxLane>> lanes_;
    std::vector<std::unique_ptr<worker::Replies>> replies_;    ///< by port
    std::vector<std::unique_ptr<worker::Evidence>> evidence_;  ///< by receiver; empty: none is kept
    std::vector<std::unique_ptr<worker::RxLane>> receivers_;
    std::vector<std::unique_ptr<worker::LcoreLoop>> loops_;
    std::uint64_t turn_ = 0;  ///< offers so far
    bool launched_ = false;
};

}  // namespace volley::daemon
