#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "port/rig.h"
#include "traffic/pace.h"

namespace volley::port {
namespace {

constexpr const char* frame = R"({"headers": [{"eth": {}}]})";

Tsc microseconds(std::uint64_t us) {
    return traffic::ticks_of(Duration{us * 1000}, tsc_hz());
}

/// Tail writes and largest batch for 32 streams of single packets at 1 kpps, 1 us apart, in simulated time.
std::pair<std::uint64_t, std::uint64_t> of_32_streams(Rig& rig, std::size_t index,
                                                      std::uint64_t packets_each) {
    const auto packet = packet_of(frame);
    const Tsc zero = tsc_now();
    std::vector<traffic::LaneStream> streams(32);
    for (std::uint32_t s = 0; s < streams.size(); ++s) {
        streams[s].packet = packet.get();
        streams[s].slot = StreamSlot{s};
        streams[s].pps = {1000, 1};
        streams[s].count = packets_each;
        streams[s].start = zero + microseconds(100);
        streams[s].phase = microseconds(s);
    }
    const auto before = rig.nic->tx_queue(0);
    traffic::LaneSchedule schedule(streams, ~Tsc{0}, tsc_hz());
    worker::TxLane& lane = *rig.lanes[index];
    for (const auto& stream : streams) lane.worker.rows().add(stream.slot);
    lane.lane.offer(&schedule, lane.lane.adopted() + 1);
    const std::uint64_t goal = 32 * packets_each;
    Tsc now = zero;
    for (std::uint64_t turns = 0; turns < 100'000'000 && lane.worker.counters().packets.get() < goal;
         ++turns) {
        lane.worker.turn(now);
        now += microseconds(1) / 2;
    }
    const auto after = rig.nic->tx_queue(0);
    EXPECT_EQ(after.packets - before.packets, goal);
    EXPECT_EQ(lane.worker.counters().tail_writes.get(), after.tail_writes - before.tail_writes);
    lane.lane.offer(nullptr, lane.lane.adopted() + 1);
    lane.worker.turn(now);
    return {after.tail_writes - before.tail_writes, after.largest_batch};
}

TEST(Batches, of_32_streams_whose_packets_fall_due_within_the_flush_timeout_cost_one_tail_write_each) {
    Rig rig;
    const std::size_t patient = rig.make_lane(0, 32, 60, microseconds(50));
    EXPECT_EQ(of_32_streams(rig, patient, 100), (std::pair<std::uint64_t, std::uint64_t>{100, 32}));
}

TEST(Batches, are_single_packets_without_a_flush_timeout) {
    Rig rig;
    EXPECT_EQ(of_32_streams(rig, rig.make_lane(0, 32), 20),
              (std::pair<std::uint64_t, std::uint64_t>{640, 1}));
}

TEST(IxgbePort, gives_every_buffer_back_over_stop_restart_and_detach) {
    const auto packet = packet_of(frame);
    Rig rig("id=10fb");
    const worker::TxPool& pool = rig.lanes[0]->pool;
    for (int round = 0; round < 3; ++round) {
        rig.send({Rig::flood(*packet, 32, 1000)});
        EXPECT_LT(pool.free_count(), pool.size()) << "the driver frees late";
        rig.port->stop();
        EXPECT_EQ(pool.free_count(), pool.size());
        rig.port->start(60, "test");
    }
    rig.send({Rig::flood(*packet, 32, 100)});
    rig.nic->set_tx_stuck(0, true);
    const std::uint64_t before = rig.nic->tx_queue(0).packets;
    rig.send({Rig::flood(*packet, 32, 200)});
    EXPECT_EQ(rig.nic->tx_queue(0).packets, before);
    rig.port.reset();  // removes the device too
    EXPECT_EQ(pool.free_count(), pool.size());
}

void expect_sent_under_pause(const char* flow_control, std::uint64_t expected) {
    Rig rig("id=10f7,mode=virtual", [&](config::Port& port) { port.flow_control = flow_control; });
    const auto packet = packet_of(frame);
    rig.nic->receive_pause(0xFFFF);
    rig.send({Rig::flood(*packet, 20, 100)});
    rig.nic->advance(100 * 68);
    EXPECT_EQ(rig.nic->tx_queue(0).packets, expected) << flow_control;
    EXPECT_EQ(rig.nic->counters().pause_received, 1U);
}

TEST(IxgbePort, is_not_slowed_by_pause_frames_unless_the_file_says_so) {
    expect_sent_under_pause("none", 100);
    expect_sent_under_pause("rx", 0);
}

}  // namespace
}  // namespace volley::port
