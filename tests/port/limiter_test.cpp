#include "config/limiter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "dpdk/error.h"
#include "port/rig.h"

namespace volley::port {
namespace {

TEST(Limiter, is_set_in_whole_megabits_and_tells_its_error) {
    const auto limiter = config::limiter_for(1'234'560'000);
    EXPECT_EQ(limiter.mbps, 1235U);
    EXPECT_EQ(limiter.set_bps(), 1'235'000'000U);
    EXPECT_NEAR(limiter.error_ppm(), 356.4, 0.1);
    EXPECT_NEAR(config::limiter_for(10'400'000).error_ppm(), -38461.5, 0.1);
    EXPECT_EQ(config::limiter_for(3'000'000'000).error_ppm(), 0);
    EXPECT_EQ(config::limiter_for(0).mbps, 1U);
}

TEST(Limiter, starts_where_the_factor_of_the_chip_ends) {
    EXPECT_EQ(config::least_limit_mbps(10'000'000'000), 10U);
    EXPECT_EQ(config::least_limit_mbps(1'000'000'000), 1U);
    EXPECT_LT(10'000 / config::least_limit_mbps(10'000'000'000), 1024U);
    EXPECT_GE(10'000 / (config::least_limit_mbps(10'000'000'000) - 1), 1024U);
}

/// Keeps both queues full by their workers and moves the wire's time; returns Mb/s of frames by queue.
std::vector<double> rates(Rig& rig, const packet::PacketTemplate& packet, std::uint64_t total_ns) {
    static std::vector<std::unique_ptr<traffic::LaneSchedule>> schedules;  // the lanes keep them
    schedules.clear();
    std::vector<std::uint64_t> before;
    for (std::size_t q = 0; q < rig.lanes.size(); ++q) {
        const std::vector<traffic::LaneStream> streams{Rig::flood(packet, 32, traffic::endless)};
        schedules.push_back(std::make_unique<traffic::LaneSchedule>(streams, ~Tsc{0}, tsc_hz()));
        rig.lanes[q]->worker.rows().add(streams[0].slot);
        rig.lanes[q]->lane.offer(schedules[q].get(), rig.lanes[q]->lane.adopted() + 1);
    }
    const auto fill = [&] {
        for (const auto& lane : rig.lanes) {
            for (std::uint64_t full = 0; full < 8;) {
                const std::uint64_t taken = lane->worker.counters().packets.get();
                lane->worker.turn(tsc_now());
                full = lane->worker.counters().packets.get() == taken ? full + 1 : 0;
            }
        }
    };
    fill();
    for (std::size_t q = 0; q < rig.lanes.size(); ++q)
        before.push_back(rig.nic->tx_queue(static_cast<unsigned>(q)).bytes);
    constexpr std::uint64_t step = 100'000;
    for (std::uint64_t ns = 0; ns < total_ns; ns += step) {
        rig.nic->advance(step);
        fill();
    }
    std::vector<double> out;
    for (std::size_t q = 0; q < rig.lanes.size(); ++q) {
        const std::uint64_t bytes = rig.nic->tx_queue(static_cast<unsigned>(q)).bytes - before[q];
        const std::uint64_t packets = bytes / packet.fixed_length();
        out.push_back(static_cast<double>(bytes + packets * 4) * 8000 / static_cast<double>(total_ns));
    }
    return out;
}

TEST(Limiter, holds_the_queues_of_full_workers_to_its_rates_in_the_time_of_the_wire) {
    Rig rig(
        "id=10f7,mode=virtual",
        [](config::Port& port) {
            port.tx->lcores = {0, 1};
        },
        1514);
    const auto packet = packet_of(R"({"frame_size": 1518, "headers": [{"eth": {}}]})");
    EXPECT_TRUE(rig.port->link().up);  // the driver reckons from the speed that it saw last
    rig.port->limit_queue(0, 1235);
    rig.port->limit_queue(1, 3000);
    const auto mbps = rates(rig, *packet, 20'000'000);
    EXPECT_NEAR(mbps[0], 1235, 1.5);
    EXPECT_NEAR(mbps[1], 3000, 1.5);
}

TEST(Limiter, leaves_the_rest_of_the_link_to_queues_that_it_does_not_hold) {
    Rig rig(
        "id=10f7,mode=virtual",
        [](config::Port& port) {
            port.tx->lcores = {0, 1};
        },
        1514);
    const auto packet = packet_of(R"({"frame_size": 1518, "headers": [{"eth": {}}]})");
    EXPECT_TRUE(rig.port->link().up);
    rig.port->limit_queue(0, 500);
    rig.port->limit_queue(1, 3000);
    rig.port->limit_queue(0, 0);
    const auto mbps = rates(rig, *packet, 10'000'000);
    EXPECT_NEAR(mbps[1], 3000, 3);
    EXPECT_NEAR(mbps[0] + mbps[1], 10'000.0 * 1518 / 1538, 5);
}

TEST(Limiter, that_a_device_refuses_is_told_with_what_to_do) {
    const Rig rig;
    EXPECT_TRUE(rig.port->link().up);
    try {
        rig.port->limit_queue(0, 20'000);
        FAIL() << "more than the link";
    } catch (const dpdk::Error& error) {
        EXPECT_NE(std::string(error.what()).find("\"pacing\": \"software\""), std::string::npos);
    }
}

}  // namespace
}  // namespace volley::port
