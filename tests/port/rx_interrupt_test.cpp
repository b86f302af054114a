// An adaptive lcore on queues whose device raises interrupts, and on one whose device has none.
#include <gtest/gtest.h>
#include <rte_ring.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "port/rig.h"
#include "soft82599/traffic.h"
#include "worker/lcore_loop.h"
#include "worker/tsan.h"

namespace volley::port {
namespace {

bool eventually(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

void receive(config::Port& settings, unsigned queues, const char* mode) {
    settings.rx = config::RxQueues{};
    settings.rx->lcores.assign(queues, 0);
    settings.rx->mode = mode;
}

/// An lcore that does nothing but receive from the queues of one port, on a thread of its own. At its end it
/// stops the port.
class Receiving {
  public:
    Receiving(Port& port, unsigned queues) : port_(port) {
        table_.number = 1;
        for (std::uint16_t q = 0; q < queues; ++q) {
            workers_.push_back(std::make_unique<worker::RxWorker>(port.id(), QueueId{q}));
            workers_.back()->offer(&table_);
            loop_.add(*workers_.back());
        }
        loop_.set_adaptive(port.rx_interrupts());
        thread_ = std::thread([this] { loop_.run(); });
    }
    ~Receiving() {
        loop_.stop();
        thread_.join();
        port_.stop();
    }
    Receiving(const Receiving&) = delete;
    Receiving& operator=(const Receiving&) = delete;

    [[nodiscard]] std::uint64_t sum(Counter worker::RxCounters::*of) const {
        std::uint64_t out = 0;
        for (const auto& worker : workers_) out += (worker->counters().*of).get();
        return out;
    }

  private:
    Port& port_;
    worker::RxTable table_;
    std::vector<std::unique_ptr<worker::RxWorker>> workers_;
    worker::LcoreLoop loop_{LcoreId{0}, false};
    std::thread thread_;
};

TEST(RxInterrupts, end_the_sleep_of_an_lcore_whose_queues_are_empty_and_no_packet_is_missed) {
    Rig rig("id=10f7", [](config::Port& settings) { receive(settings, 2, "adaptive"); });
    ASSERT_TRUE(rig.port->rx_interrupts());
    Receiving receiver(*rig.port, 2);
    std::uint64_t injected = 0;
    const auto woken = [&] { return receiver.sum(&worker::RxCounters::interrupts); };
    while (woken() < 20) {
        const std::uint64_t sleeps = receiver.sum(&worker::RxCounters::sleeps);
        ASSERT_TRUE(eventually([&] { return receiver.sum(&worker::RxCounters::sleeps) > sleeps; }));
        ASSERT_LT(injected, 1'000U) << "hardly an interrupt";
        ASSERT_TRUE(rig.nic->inject(soft82599::ipv4_frame(60, static_cast<std::uint32_t>(injected++))));
        ASSERT_TRUE(eventually([&] { return receiver.sum(&worker::RxCounters::packets) == injected; }));
    }
    EXPECT_GT(rig.nic->interrupts(1), 0U) << "of queue 0";
    EXPECT_GT(rig.nic->interrupts(2), 0U) << "of queue 1";
}

TEST(RxInterrupts, are_not_asked_for_by_a_port_that_is_polled) {
    Rig rig("id=10f7", [](config::Port& settings) { receive(settings, 1, "poll"); });
    EXPECT_FALSE(rig.port->rx_interrupts());
}

TEST(RxInterrupts, are_missing_on_a_ring_whose_receiver_sleeps_for_a_bounded_time_instead) {
    soft82599::start_eal();
    config::Port settings;
    settings.name = "ring";
    settings.device = "net_ring7";
    receive(settings, 1, "adaptive");
    Port port(settings);
    port.start(60, "test");
    rte_ring* const ring = rte_ring_lookup("ETH_RXTX0_net_ring7");
    rte_mempool* const pool = rte_pktmbuf_pool_create("ring7", 127, 0, 0, 2176, 0);
    ASSERT_TRUE(ring != nullptr && pool != nullptr);
    {
        Receiving receiver(port, 1);
        for (std::uint64_t sent = 1; sent <= 10; ++sent) {
            const std::uint64_t sleeps = receiver.sum(&worker::RxCounters::sleeps);
            ASSERT_TRUE(eventually([&] { return receiver.sum(&worker::RxCounters::sleeps) > sleeps; }));
            rte_mbuf* const mbuf = rte_pktmbuf_alloc(pool);
            ASSERT_NE(mbuf, nullptr);
            rte_pktmbuf_append(mbuf, 60);
            worker::tsan_release_mbufs();
            ASSERT_EQ(rte_ring_enqueue(ring, mbuf), 0);
            ASSERT_TRUE(eventually([&] { return receiver.sum(&worker::RxCounters::packets) == sent; }));
        }
        EXPECT_EQ(receiver.sum(&worker::RxCounters::interrupts), 0U);
    }
    EXPECT_EQ(rte_mempool_avail_count(pool), 127U);
    rte_mempool_free(pool);
}

}  // namespace
}  // namespace volley::port
