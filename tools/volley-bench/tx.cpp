#include "volley-bench/tx.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "dpdk/eal.h"
#include "dpdk/error.h"
#include "packet/template.h"
#include "port/port.h"
#include "traffic/pace.h"
#include "volley-bench/machine.h"
#include "volley-bench/rounds.h"
#include "volley-bench/tx_cases.h"
#include "worker/lcore_loop.h"
#include "worker/tx_lane.h"

namespace volley::bench {
namespace {

constexpr unsigned here = 0;        // the measuring lcore, which is the main one
constexpr unsigned dispatcher = 1;  // on the other CPU where there is one
constexpr std::uint16_t longest_frame = 1514;

// A port on net_null with one queue, and everything that the floor loop and the road need. The floor has a
// pool of its own with the same shape, so that neither warms the other's buffers.
class Bench {
  public:
    explicit Bench(std::uint64_t packets) : port_(settings()), packets_(packets) {
        port_.start(longest_frame, "bench");
        floor_pool_ = std::make_unique<worker::TxPool>("floor", 1024, 60, port_.socket());
    }

    // Constant frames from a pre-filled pool, sent as they are: what no generator can be below.
    double floor(std::uint32_t burst) {
        rte_mbuf* mbufs[packet::max_burst];
        if (!prefilled_) prefill();
        const std::uint64_t before = thread_cycles();
        std::uint64_t sent = 0;
        while (sent < packets_) {
            if (rte_mempool_get_bulk(floor_pool_->get(), reinterpret_cast<void**>(mbufs), burst) < 0) break;
            sent += rte_eth_tx_burst(port_.id().value, 0, mbufs, static_cast<std::uint16_t>(burst));
        }
        return static_cast<double>(thread_cycles() - before) / static_cast<double>(sent);
    }

    double road(const TxCase& c, std::uint32_t burst) {
        worker::TxLane& lane = lane_for(c, burst);
        traffic::LaneStream stream;
        stream.packet = c.packet.get();
        stream.max = true;
        stream.burst = burst;
        stream.count = packets_ - packets_ % burst;
        const std::uint64_t goal = lane.worker.counters().packets.get() + stream.count;
        auto schedule = std::make_unique<traffic::LaneSchedule>(std::vector{stream}, ~Tsc{0}, tsc_hz());
        lane.worker.rows().add(stream.slot);
        worker::LcoreLoop mine(LcoreId{here}, false);
        mine.add(lane.worker);
        worker::LcoreLoop theirs(LcoreId{dispatcher}, false);
        if (c.dispatched) {
            theirs.add(lane.lane);
            dpdk::launch(
                theirs.lcore(),
                [](void* argument) {
                    static_cast<worker::LcoreLoop*>(argument)->run();
                    return 0;
                },
                &theirs);
        }
        const std::uint64_t generation = lane.lane.adopted() + 1;
        lane.lane.offer(schedule.get(), generation);
        const std::uint64_t before = thread_cycles();
        Tsc now = tsc_now();
        while (lane.worker.counters().packets.get() < goal) mine.turn(now);
        const std::uint64_t after = thread_cycles();
        lane.lane.offer(nullptr, generation + 1);
        while (lane.lane.adopted() != generation + 1) mine.turn(now);
        if (c.dispatched) {
            theirs.stop();
            dpdk::wait_lcore(theirs.lcore());
        }
        return static_cast<double>(after - before) / static_cast<double>(stream.count);
    }

  private:
    static config::Port settings() {
        config::Port out;
        out.name = "null";
        out.device = "net_null0,copy=0,no-rx=1";
        out.tx = config::TxQueues{};
        out.tx->lcores = {here};
        return out;
    }

    // Every buffer is taken once and its header set, so that the loop itself touches none.
    void prefill() {
        std::vector<rte_mbuf*> all(floor_pool_->size());
        if (rte_mempool_get_bulk(floor_pool_->get(), reinterpret_cast<void**>(all.data()),
                                 static_cast<unsigned>(all.size())) < 0) {
            throw std::runtime_error("the floor pool is not full");
        }
        for (rte_mbuf* mbuf : all) {
            rte_pktmbuf_reset(mbuf);
            mbuf->data_len = 60;
            mbuf->pkt_len = 60;
        }
        rte_mempool_put_bulk(floor_pool_->get(), reinterpret_cast<void**>(all.data()),
                             static_cast<unsigned>(all.size()));
        prefilled_ = true;
    }

    worker::TxLane& lane_for(const TxCase& c, std::uint32_t burst) {
        const std::uint16_t longest = std::max<std::uint16_t>(c.packet->longest(), 60);
        const std::string name = std::to_string(burst) + (c.dispatched ? "d" : "i") + std::to_string(longest);
        for (auto& [known, lane] : lanes_) {
            if (known == name) return *lane;
        }
        worker::TxWorker::Settings settings;
        settings.port = port_.id();
        settings.flush_threshold = burst;
        const Tsc horizon = traffic::ticks_of(worker::horizon, tsc_hz());
        lanes_.emplace_back(name, std::make_unique<worker::TxLane>(settings, name, 1024, longest,
                                                                   port_.socket(), horizon, !c.dispatched));
        return *lanes_.back().second;
    }

    port::Port port_;
    std::uint64_t packets_;
    std::unique_ptr<worker::TxPool> floor_pool_;
    bool prefilled_ = false;
    std::vector<std::pair<std::string, std::unique_ptr<worker::TxLane>>> lanes_;
};

Row measure(Bench& bench, const TxCase& c, std::uint32_t burst, unsigned rounds) {
    std::vector<double> road;
    std::vector<double> floor;
    bench.floor(burst);
    bench.road(c, burst);
    for (unsigned round = 0; round < rounds; ++round) {
        floor.push_back(bench.floor(burst));
        road.push_back(bench.road(c, burst));
    }
    return make_row(c.name + " " + std::to_string(burst), road, floor);
}

}  // namespace

int run_tx(const TxOptions& options) {
    const MachineWatch watch(options.short_run);
    dpdk::EalOptions eal;
    eal.name = "volley-bench";
    eal.lcores = std::thread::hardware_concurrency() > 1 ? "0@0,1@1" : "0@0,1@0";
    eal.memory_mib = 256;
    const dpdk::Eal guard(eal);
    const std::uint64_t packets = options.short_run ? 20'000 : 400'000;
    const unsigned rounds = options.short_run ? 3 : 15;
    Bench bench(packets);
    std::vector<Row> rows;
    for (const TxCase& c : tx_cases(options.only)) {
        for (const std::uint32_t burst : c.bursts) rows.push_back(measure(bench, c, burst, rounds));
    }
    Result result;
    result.subcommand = "tx";
    result.tables.push_back(table_of("Sending on net_null, cases by burst", rows));
    result.machine = watch.finish();
    publish(result, options.files);
    return 0;
}

}  // namespace volley::bench
