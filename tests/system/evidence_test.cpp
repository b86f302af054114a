#include <fcntl.h>
#include <gtest/gtest.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "config/load.h"
#include "daemon/daemon.h"
#include "daemon/signals.h"
#include "support/json_lines.h"
#include "support/tshark.h"
#include "system/volleyd.h"
#include "worker/tsan.h"

namespace volley::test {
namespace {

/// A device between two net_ring ports that hands on all packets but number 50, and number 60 twice.
void be_a_device(const std::atomic<bool>& done) {
    rte_ring* from = nullptr;
    rte_ring* to = nullptr;
    while (!done && (from == nullptr || to == nullptr)) {
        from = rte_ring_lookup("ETH_RXTX0_net_ring0");
        to = rte_ring_lookup("ETH_RXTX0_net_ring1");
        std::this_thread::yield();
    }
    rte_mempool* pool = nullptr;
    for (unsigned i = 0; !done;) {
        void* object = nullptr;
        if (rte_ring_dequeue(from, &object) != 0) {
            std::this_thread::yield();
            continue;
        }
        if (pool == nullptr) pool = rte_pktmbuf_pool_create("device", 63, 0, 0, 2176, 0);
        worker::tsan_acquire_mbufs();
        auto* const mbuf = static_cast<rte_mbuf*>(object);
        rte_mbuf* const more = i == 60 ? rte_pktmbuf_copy(mbuf, pool, 0, UINT32_MAX) : nullptr;
        worker::tsan_release_mbufs();
        if (i++ == 50) {
            rte_pktmbuf_free(mbuf);
            continue;
        }
        EXPECT_EQ(rte_ring_enqueue(to, mbuf), 0);
        if (more != nullptr) {
            EXPECT_EQ(rte_ring_enqueue(to, more), 0);
        }
    }
}

void run_with_evidence() {
    const TempDir dir;
    setenv("RUNTIME_DIRECTORY", dir.path().c_str(), 1);
    const int out = open(dir.file("lines").c_str(), O_CREAT | O_WRONLY, 0600);
    dup2(out, STDOUT_FILENO);
    daemon::block_signals();
    json west = port("west", "net_ring1");
    west["rx"] = {{"lcores", {first_worker + 1}}};
    west.erase("tx");
    const json flood{{"name", "flood"},
                     {"port", "east"},
                     {"rate", "5kpps"},
                     {"count", 200},
                     {"expect_on", "west"},
                     {"packet",
                      {{"frame_size", 64},
                       {"headers", json::array({{{"eth", json::object()}},
                                                {{"ipv4", json::object()}},
                                                {{"udp", json::object()}}})}}}};
    json config = configuration(2, false, {port("east", "net_ring0"), west}, {flood});
    config["evidence"] = {{"folder", dir.path()}, {"packets", 4}};
    const std::string file = dir.write("volley.json", config.dump());
    int status = -1;
    {
        daemon::Daemon daemon({file, {}, dir.file("report")}, config::load(file));
        std::atomic<bool> done{false};
        std::thread device([&] { be_a_device(done); });
        status = daemon.run();
        done = true;
        device.join();
    }
    EXPECT_EQ(status, 0);
    const json report = parse_json(read_file(dir.file("report")));
    EXPECT_EQ(named(report.at("streams"), "flood").at("rx").at("lost"), 1);
    const json& evidence = report.at("evidence");
    EXPECT_EQ(evidence.at("written"), 2) << evidence;
    EXPECT_EQ(evidence.at("dropped"), 0);
    EXPECT_EQ(evidence.at("failed"), 0);
    const std::string capture = evidence.at("file");
    EXPECT_EQ(capture, dir.file(report.at("run_id").get<std::string>() + ".pcapng"));
    const auto rows = tshark(capture, {"frame.comment"});
    ASSERT_EQ(rows.size(), 18U);
    EXPECT_EQ(rows[4][0],
              "loss on stream flood: expected sequence 50, received sequence 51 (port west, receiver 0)");
    EXPECT_EQ(
        rows[13][0],
        "duplicate on stream flood: expected sequence 61, received sequence 60 (port west, receiver 0)");
}

TEST(Evidence, of_what_a_device_does_to_a_stream_is_a_capture_beside_the_report) {
    if (const std::string why = tshark_unavailable(); !why.empty()) GTEST_SKIP() << why;
    EXPECT_TRUE(in_child(run_with_evidence));
}

}  // namespace
}  // namespace volley::test
