#include "volley-bench/tx.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <stdexcept>
#include <thread>

#include "dpdk/eal.h"
#include "dpdk/error.h"
#include "packet/signature.h"
#include "packet/template.h"
#include "port/port.h"
#include "traffic/pace.h"
#include "volley-bench/rounds.h"
#include "worker/lcore_loop.h"
#include "worker/tx_lane.h"

namespace volley::bench {
namespace {

constexpr unsigned here = 0;        // the measuring lcore, which is the main one
constexpr unsigned dispatcher = 1;  // on the other CPU where there is one
constexpr std::uint32_t bursts[] = {1, 8, 32, 64};

packet::FieldValue field(packet::HeaderKind header, std::string_view name, packet::Program program) {
    return {packet::find_field(header, name), std::move(program)};
}

packet::HeaderModel header(packet::HeaderKind kind, std::vector<packet::FieldValue> fields) {
    packet::HeaderModel out;
    out.kind = kind;
    out.fields = std::move(fields);
    return out;
}

packet::Program literal(packet::Value value) {
    packet::Program out;
    out.from = value;
    return out;
}

packet::Program increment(packet::Value from, packet::Value to) {
    packet::Program out;
    out.kind = packet::Program::Kind::increment;
    out.from = from;
    out.to = to;
    return out;
}

// 64 bytes of Ethernet, IPv4 and UDP; `fields` of the two addresses step through 254 values each.
packet::PacketModel udp(unsigned fields) {
    using packet::HeaderKind;
    packet::PacketModel model;
    packet::Program size;
    size.from = 64;
    model.frame_size = packet::SizeModel{size, {}};
    const auto address = [&](packet::Value base, bool steps) {
        return steps ? increment(base + 1, base + 254) : literal(base + 1);
    };
    model.headers = {
        header(HeaderKind::eth, {}),
        header(HeaderKind::ipv4, {field(HeaderKind::ipv4, "src", address(0x0a000000, fields > 0)),
                                  field(HeaderKind::ipv4, "dst", address(0x0a010000, fields > 1))}),
        header(HeaderKind::udp,
               {field(HeaderKind::udp, "src", literal(1024)), field(HeaderKind::udp, "dst", literal(9))})};
    return model;
}

std::unique_ptr<const packet::PacketTemplate> compiled(const packet::PacketModel& model, bool is_signed) {
    auto built =
        packet::build(model, std::nullopt, is_signed ? std::make_shared<packet::Signing>() : nullptr);
    if (auto* problems = std::get_if<1>(&built)) throw std::runtime_error(problems->front().text);
    return std::move(std::get<0>(built));
}

struct Case {
    std::string name;
    packet::PacketModel model;
    bool dispatched;
    bool is_signed = false;
};

// A port on net_null with one queue, and everything that the floor loop and the road need. The floor has a
// pool of its own with the same shape, so that neither warms the other's buffers.
class Bench {
  public:
    explicit Bench(std::uint64_t packets) : port_(settings()), packets_(packets) {
        port_.start(60, "bench");
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

    double road(const Case& c, const packet::PacketTemplate& packet, std::uint32_t burst) {
        worker::TxLane& lane = lane_for(burst, c.dispatched);
        traffic::LaneStream stream;
        stream.packet = &packet;
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

    worker::TxLane& lane_for(std::uint32_t burst, bool dispatched) {
        const std::string name = std::to_string(burst) + (dispatched ? "d" : "i");
        for (auto& [known, lane] : lanes_) {
            if (known == name) return *lane;
        }
        worker::TxWorker::Settings settings;
        settings.port = port_.id();
        settings.flush_threshold = burst;
        const Tsc horizon = traffic::ticks_of(worker::horizon, tsc_hz());
        lanes_.emplace_back(name, std::make_unique<worker::TxLane>(settings, name, 1024, 60, port_.socket(),
                                                                   horizon, !dispatched));
        return *lanes_.back().second;
    }

    port::Port port_;
    std::uint64_t packets_;
    std::unique_ptr<worker::TxPool> floor_pool_;
    bool prefilled_ = false;
    std::vector<std::pair<std::string, std::unique_ptr<worker::TxLane>>> lanes_;
};

Row measure(Bench& bench, const Case& c, std::uint32_t burst, unsigned rounds) {
    const auto packet = compiled(c.model, c.is_signed);
    std::vector<double> road;
    std::vector<double> floor;
    bench.floor(burst);
    bench.road(c, *packet, burst);
    for (unsigned round = 0; round < rounds; ++round) {
        floor.push_back(bench.floor(burst));
        road.push_back(bench.road(c, *packet, burst));
    }
    return make_row(c.name, burst, road, floor);
}

}  // namespace

int run_tx(const TxOptions& options) {
    dpdk::EalOptions eal;
    eal.name = "volley-bench";
    eal.lcores = std::thread::hardware_concurrency() > 1 ? "0@0,1@1" : "0@0,1@0";
    eal.memory_mib = 256;
    const dpdk::Eal guard(eal);
    const std::uint64_t packets = options.short_run ? 20'000 : 400'000;
    const unsigned rounds = options.short_run ? 3 : 15;
    Bench bench(packets);
    std::vector<Row> rows;
    for (const bool dispatched : {false, true}) {
        const std::string tail = dispatched ? "_dispatch" : "";
        for (const Case& c :
             {Case{"constant" + tail, udp(0), dispatched}, Case{"two_fields" + tail, udp(2), dispatched},
              Case{"signature" + tail, udp(0), dispatched, true}}) {
            if (!options.only.empty() && options.only != c.name) continue;
            for (const std::uint32_t burst : bursts) rows.push_back(measure(bench, c, burst, rounds));
        }
    }
    publish_rows(rows, options.json);
    return 0;
}

}  // namespace volley::bench
