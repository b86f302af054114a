#include "port/ixgbe.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "dpdk/error.h"
#include "dpdk/log.h"
#include "packet/template.h"
#include "port/port.h"
#include "soft82599/fixture.h"
#include "worker/tx_lane.h"

// rte_vect.h of DPDK 22.11 declares it without C linkage.
extern "C" int rte_vect_set_max_simd_bitwidth(std::uint16_t bits);

namespace volley::port {
namespace {

constexpr std::uint16_t scalar_bits = 64;
constexpr std::uint16_t most_bits = 512;

using ixgbe::TxPath;
using ixgbe::TxRules;

TEST(IxgbeRules, only_rs_thresh_32_without_offload_gives_a_fast_path) {
    EXPECT_EQ(ixgbe::predicted({1024, 32, 32, false, true}), TxPath::vector);
    EXPECT_EQ(ixgbe::predicted({1024, 32, 32, false, false}), TxPath::simple);
    EXPECT_EQ(ixgbe::predicted({1024, 16, 32, false, true}), TxPath::full);
    EXPECT_EQ(ixgbe::predicted({1024, 32, 32, true, true}), TxPath::full);
}

TEST(IxgbeRules, what_the_driver_refuses_is_said_with_the_numbers) {
    EXPECT_TRUE(ixgbe::problems({1024, 32, 32, false, true}).empty());
    EXPECT_TRUE(ixgbe::problems({512, 8, 32, false, true}).empty());
    const auto only = [](const TxRules& rules) {
        const auto found = ixgbe::problems(rules);
        return found.size() == 1 ? found.front() : "problems: " + std::to_string(found.size());
    };
    EXPECT_NE(only({1020, 32, 32, false, true}).find("1020"), std::string::npos);
    EXPECT_NE(only({8192, 32, 32, false, true}).find("32 to 4096"), std::string::npos);
    EXPECT_NE(only({1024, 64, 64, false, true}).find("only 32"), std::string::npos);
    EXPECT_NE(only({1024, 32, 16, false, true}).find("above tx.free_thresh 16"), std::string::npos);
    EXPECT_NE(only({1000, 32, 32, false, true}).find("no multiple"), std::string::npos);
}

// A soft 82599 driven by Port and TxWorker as on the road, turned by hand.
class IxgbePort : public testing::Test {
  protected:
    void SetUp() override {
        soft82599::start_eal();
        dpdk::route_log();
    }
    void TearDown() override {
        take_down();
        dpdk::restore_log();
        rte_vect_set_max_simd_bitwidth(most_bits);
    }
    // The driver gives the last mbufs back as it closes, so the pool goes after the port.
    void take_down() {
        port_.reset();
        lane_.reset();
        nic_.reset();
    }
    void start(std::uint32_t rs_thresh, std::uint32_t threshold) {
        nic_ = std::make_unique<soft82599::SoftPort>(0, "id=10f7");
        config::Port settings;
        settings.name = "east";
        settings.device = (*nic_)->device_name();
        settings.tx = config::TxQueues{};
        settings.tx->lcores = {0};
        settings.tx->descriptors = 512;
        settings.tx->rs_thresh = rs_thresh;
        port_ = std::make_unique<Port>(settings);
        port_->start(60, "test");
        worker::TxWorker::Settings worker;
        worker.port = port_->id();
        worker.flush_threshold = threshold;
        worker.packets_per_tail_write = port_->packets_per_tail_write();
        lane_ = std::make_unique<worker::TxLane>(worker, "ixgbe", 512, 60, 0, 200'000, true);
    }
    // Sends `bursts` bursts at once; returns the model's own count of tail writes for them.
    std::uint64_t send(std::uint32_t burst, std::uint64_t bursts) {
        packet::PacketModel model;
        model.headers.emplace_back().kind = packet::HeaderKind::eth;
        const auto built = packet::build(model);
        traffic::LaneStream stream;
        stream.packet = std::get<0>(built).get();
        stream.max = true;
        stream.burst = burst;
        stream.count = burst * bursts;
        traffic::LaneSchedule schedule({stream}, ~Tsc{0}, tsc_hz());
        lane_->worker.rows().add(stream.slot);
        const std::uint64_t before = (*nic_)->tx_queue(0).tail_writes;
        lane_->lane.offer(&schedule, lane_->lane.adopted() + 1);
        const std::uint64_t goal = lane_->worker.counters().packets.get() + stream.count;
        for (int i = 0; i < 1'000'000 && lane_->worker.counters().packets.get() < goal; ++i) {
            lane_->worker.turn(tsc_now());
        }
        EXPECT_EQ(lane_->worker.counters().packets.get(), goal);
        lane_->lane.offer(nullptr, lane_->lane.adopted() + 1);
        lane_->worker.turn(tsc_now());
        return (*nic_)->tx_queue(0).tail_writes - before;
    }
    void expect_equal_tail_writes(const std::string& path, std::uint32_t rs_thresh) {
        for (const std::uint32_t burst : {1U, 2U, 3U, 4U, 8U, 32U, 64U, 128U}) {
            start(rs_thresh, burst);
            ASSERT_EQ(port_->tx_path(), path);
            const std::uint64_t counted = send(burst, 100);
            EXPECT_EQ(lane_->worker.counters().tail_writes.get(), counted)
                << path << " path, burst " << burst;
            EXPECT_EQ(counted, path == "full" ? 100U : 100U * ((burst + 31) / 32))
                << path << " path, burst " << burst;
            EXPECT_EQ((*nic_)->tx_queue(0).packets, 100U * burst);
            take_down();
        }
    }

    std::unique_ptr<soft82599::SoftPort> nic_;
    std::unique_ptr<Port> port_;
    std::unique_ptr<worker::TxLane> lane_;
};

TEST_F(IxgbePort, counts_each_tail_write_on_the_vector_path_as_the_chip_sees_it) {
    expect_equal_tail_writes("vector", 32);
}

TEST_F(IxgbePort, counts_each_tail_write_on_the_simple_path_as_the_chip_sees_it) {
    rte_vect_set_max_simd_bitwidth(scalar_bits);
    expect_equal_tail_writes("simple", 32);
}

TEST_F(IxgbePort, counts_each_tail_write_on_the_full_path_as_the_chip_sees_it) {
    expect_equal_tail_writes("full", 16);
}

TEST_F(IxgbePort, refuses_thresholds_that_the_driver_would_refuse_and_says_which) {
    try {
        start(64, 32);
        FAIL() << "rs_thresh 64 was taken";
    } catch (const dpdk::Error& error) {
        EXPECT_NE(std::string(error.what()).find("tx.rs_thresh is 64"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace volley::port
