#include <gtest/gtest.h>
#include <rte_interrupts.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <functional>
#include <thread>

#include "soft82599/fixture.h"
#include "soft82599/traffic.h"

namespace volley::soft82599 {
namespace {

using namespace std::chrono_literals;

bool eventually(const std::function<bool()>& condition, std::chrono::seconds limit = 60s) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

rte_eth_link link_of(std::uint16_t port) {
    rte_eth_link link{};
    EXPECT_EQ(rte_eth_link_get_nowait(port, &link), 0);
    return link;
}

/// Counts RTE_ETH_EVENT_INTR_LSC and keeps the state that came with the last one.
struct LinkEvents {
    explicit LinkEvents(std::uint16_t id) : port(id) {
        EXPECT_EQ(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, on_event, this), 0);
    }
    ~LinkEvents() { rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_LSC, on_event, this); }
    LinkEvents(const LinkEvents&) = delete;
    LinkEvents& operator=(const LinkEvents&) = delete;
    static int on_event(std::uint16_t id, rte_eth_event_type, void* self, void*) {
        auto& events = *static_cast<LinkEvents*>(self);
        events.up = link_of(id).link_status == RTE_ETH_LINK_UP;
        ++events.count;
        return 0;
    }
    std::uint16_t port;
    std::atomic<int> count{0};
    std::atomic<bool> up{true};
};

TEST(Link, changes_reach_the_application_also_while_queue_interrupts_are_on) {
    SoftPort nic(0, "id=10fb");
    Started port(nic.id(), {.rx_queues = 2, .rss = RTE_ETH_RSS_IPV4, .lsc = true, .rx_interrupts = true});
    for (std::uint16_t queue = 0; queue < 2; ++queue) {
        auto* data = std::bit_cast<void*>(std::uintptr_t{queue} + 100);
        ASSERT_EQ(rte_eth_dev_rx_intr_ctl_q(nic.id(), queue, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, data),
                  0);
    }
    LinkEvents events(nic.id());
    nic->set_link(false);
    ASSERT_TRUE(
        eventually([&] { return events.count == 1; }));  // the driver waits 4 s for a link that went down
    EXPECT_FALSE(events.up);

    // While the link is down an injected frame still makes its queue's interrupt.
    const auto wait = [](int timeout_ms) {
        rte_epoll_event event[4];
        const int n = rte_epoll_wait(RTE_EPOLL_PER_THREAD, event, 4, timeout_ms);
        return n == 1 ? static_cast<int>(reinterpret_cast<std::uintptr_t>(event[0].epdata.data)) - 100
                      : -n - 100;
    };
    for (std::uint32_t flow = 0; flow < 8; ++flow) {
        for (std::uint16_t queue = 0; queue < 2; ++queue)
            ASSERT_EQ(rte_eth_dev_rx_intr_enable(nic.id(), queue), 0);
        ASSERT_TRUE(nic->inject(ipv4_frame(60, flow)));
        const int queue = wait(60'000);
        ASSERT_TRUE(queue == 0 || queue == 1) << queue;
        EXPECT_EQ(port.receive(static_cast<std::uint16_t>(queue)).size(), 1U);
    }
    EXPECT_GT(nic->interrupts(1), 0U);
    EXPECT_GT(nic->interrupts(2), 0U);

    nic->set_link(true);
    ASSERT_TRUE(eventually([&] { return events.count == 2; }));
    EXPECT_TRUE(events.up);
    EXPECT_EQ(link_of(nic.id()).link_speed, 10000U);
    for (std::uint16_t queue = 0; queue < 2; ++queue) {
        rte_eth_dev_rx_intr_ctl_q(nic.id(), queue, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_DEL, nullptr);
    }
}

TEST(Link, that_is_down_holds_what_was_sent_until_it_comes_back) {
    SoftPort nic(0, "id=10f7");
    Started port(nic.id());
    nic->set_link(false);
    EXPECT_EQ(link_of(nic.id()).link_status, RTE_ETH_LINK_DOWN);
    EXPECT_EQ(port.send(0, ipv4_frame(60), 96, 32), 96U);
    EXPECT_EQ(nic->tx_queue(0).packets, 0U);
    EXPECT_EQ(nic->tx_queue(0).tail_writes, 3U);
    nic->set_link(true);
    EXPECT_EQ(nic->tx_queue(0).packets, 96U);
    EXPECT_EQ(link_of(nic.id()).link_status, RTE_ETH_LINK_UP);
}

TEST(Link, down_at_start_comes_up_late) {
    for (const char* options : {"id=10fb,link=down", "id=10f7,link=down"}) {
        SoftPort nic(0, options);
        Started port(nic.id());
        EXPECT_EQ(link_of(nic.id()).link_status, RTE_ETH_LINK_DOWN) << options;
        nic->set_link(true);
        EXPECT_TRUE(eventually([&] { return link_of(nic.id()).link_status == RTE_ETH_LINK_UP; })) << options;
    }
}

TEST(Link, has_no_light_without_a_module) {
    SoftPort nic(0, "id=10fb,sfp=absent");
    Started port(nic.id());
    EXPECT_EQ(link_of(nic.id()).link_status, RTE_ETH_LINK_DOWN);
    nic->set_module(true);
    EXPECT_TRUE(eventually([&] { return link_of(nic.id()).link_status == RTE_ETH_LINK_UP; }));
    nic->set_module(false);
    EXPECT_EQ(link_of(nic.id()).link_status, RTE_ETH_LINK_DOWN);
}

TEST(Link, reports_other_speeds_and_an_unknown_one) {
    SoftPort nic(0, "id=10f7");
    Started port(nic.id());
    nic->set_speed(LinkSpeed::one_gigabit);
    EXPECT_EQ(link_of(nic.id()).link_speed, 1000U);
    nic->set_speed(LinkSpeed::unknown);
    EXPECT_EQ(link_of(nic.id()).link_speed, static_cast<unsigned>(RTE_ETH_SPEED_NUM_UNKNOWN));
    nic->set_speed(LinkSpeed::ten_gigabit);
    EXPECT_EQ(link_of(nic.id()).link_speed, 10000U);
}

TEST(Link, of_a_cable_is_lost_at_both_ends) {
    SoftPort a(0, "id=10f7");
    SoftPort b(1, "id=10f7,peer=net_soft82599_0");
    Started port_a(a.id()), port_b(b.id());
    EXPECT_EQ(link_of(b.id()).link_status, RTE_ETH_LINK_UP);
    a->set_link(false);
    EXPECT_EQ(link_of(a.id()).link_status, RTE_ETH_LINK_DOWN);
    EXPECT_EQ(link_of(b.id()).link_status, RTE_ETH_LINK_DOWN);
    b->set_link(true);
    EXPECT_EQ(link_of(a.id()).link_status, RTE_ETH_LINK_UP);
}

}  // namespace
}  // namespace volley::soft82599
