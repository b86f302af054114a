#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "config/load.h"
#include "dpdk/log.h"
#include "packet/template.h"
#include "port/port.h"
#include "soft82599/fixture.h"
#include "worker/tx_lane.h"

namespace volley::port {

/// A template of the first stream's packet: what stands in "packet", such as R"({"headers": [{"eth": {}}]})".
inline std::unique_ptr<const packet::PacketTemplate> packet_of(const std::string& json) {
    const config::Model model = config::parse(
        R"({"version": 1, "ports": [{"name": "east", "device": "net_null0", "tx": {"lcores": [2]}}],
                          "streams": [{"name": "s", "port": "east", "rate": "1pps", "packet": )" +
            json + "}]}",
        "test");
    auto built = packet::build(model.streams.at(0).packet);
    return std::move(std::get<0>(built));
}

/// A soft 82599 driven by Port and TxWorker as on the road, turned by hand.
class Rig {
  public:
    using Change = std::function<void(config::Port&)>;

    /// soft: the model's options. change: of the port's settings, which send from one queue.
    explicit Rig(const std::string& soft = "id=10f7", const Change& change = {},
                 std::uint32_t longest_frame = 60)
        : nic(0, soft) {
        dpdk::route_log();
        config::Port settings;
        settings.name = "east";
        settings.device = nic->device_name();
        settings.tx = config::TxQueues{};
        settings.tx->lcores = {0};
        settings.tx->descriptors = 512;
        if (change) change(settings);
        port = std::make_unique<Port>(settings);
        port->start(longest_frame, "test");
        for (std::uint16_t q = 0; q < settings.tx->lcores.size(); ++q) make_lane(q, 32, longest_frame);
    }
    // The driver gives the last mbufs back as it closes, so the pools go after the port.
    ~Rig() {
        port.reset();
        dpdk::restore_log();
    }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    /// A further worker for a queue that no other uses at the time; send() takes it by its index.
    std::size_t make_lane(std::uint16_t queue, std::uint32_t threshold, std::uint32_t longest_frame = 60,
                          Tsc flush_timeout = 0) {
        worker::TxWorker::Settings settings;
        settings.port = port->id();
        settings.queue = QueueId{queue};
        settings.flush_threshold = threshold;
        settings.flush_timeout = flush_timeout;
        settings.packets_per_tail_write = port->packets_per_tail_write();
        settings.offloads = port->tx_offloads();
        lanes.push_back(std::make_unique<worker::TxLane>(settings, "rig" + std::to_string(lanes.size()), 512,
                                                         longest_frame, 0, 200'000, true));
        return lanes.size() - 1;
    }

    /// A stream of `count` packets that are due at once, in bursts of `burst`.
    static traffic::LaneStream flood(const packet::PacketTemplate& packet, std::uint32_t burst,
                                     std::uint64_t count) {
        traffic::LaneStream stream;
        stream.packet = &packet;
        stream.max = true;
        stream.burst = burst;
        stream.count = count;
        return stream;
    }
    /// Turns a worker until it has sent what the streams hold, or for `turns` turns.
    void send(const std::vector<traffic::LaneStream>& streams, std::size_t index = 0,
              std::uint64_t turns = 10'000'000) {
        worker::TxLane& lane = *lanes[index];
        traffic::LaneSchedule schedule(streams, ~Tsc{0}, tsc_hz());
        std::uint64_t goal = lane.worker.counters().packets.get();
        for (const traffic::LaneStream& stream : streams) {
            lane.worker.rows().add(stream.slot);
            goal += stream.count;
        }
        lane.lane.offer(&schedule, lane.lane.adopted() + 1);
        while (turns-- != 0 && lane.worker.counters().packets.get() < goal) lane.worker.turn(tsc_now());
        EXPECT_EQ(lane.worker.counters().packets.get(), goal);
        lane.lane.offer(nullptr, lane.lane.adopted() + 1);
        lane.worker.turn(tsc_now());
    }
    [[nodiscard]] const worker::TxCounters& counters(std::size_t index = 0) const {
        return lanes[index]->worker.counters();
    }

    soft82599::SoftPort nic;
    std::vector<std::unique_ptr<worker::TxLane>> lanes;
    std::unique_ptr<Port> port;
};

/// Limits the vector registers that drivers may use to 64 bits, which leaves them none.
class NoVectors {
  public:
    NoVectors();
    ~NoVectors();
    NoVectors(const NoVectors&) = delete;
    NoVectors& operator=(const NoVectors&) = delete;
};

}  // namespace volley::port
