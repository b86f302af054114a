#include "volley-bench/rx.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "base/row_block.h"
#include "dpdk/eal.h"
#include "packet/signature.h"
#include "packet/template.h"
#include "port/mbuf_pool.h"
#include "port/port.h"
#include "volley-bench/machine.h"
#include "volley-bench/rounds.h"
#include "worker/rx_worker.h"

namespace volley::bench {
namespace {

constexpr std::uint32_t burst = worker::RxWorker::burst;
constexpr std::uint32_t filling = 31 * burst;  // of a ring of 1023
constexpr std::uint16_t salt = 0x2345;

struct Case {
    std::string name;
    std::uint32_t streams = 1;
    bool matched = true;  ///< false: nothing is signed, packets are counted and freed
    bool verified = false;
    std::uint32_t in_a_row = 1;  ///< packets of a stream before the next one's turn
};

// 64 bytes of Ethernet, IPv4 and UDP whose source address steps.
std::shared_ptr<const packet::PacketTemplate> made(const std::shared_ptr<const packet::Signing>& signing) {
    using packet::HeaderKind;
    packet::PacketModel model;
    packet::Program size;
    size.from = 64;
    model.frame_size = packet::SizeModel{size, {}};
    for (const HeaderKind kind : {HeaderKind::eth, HeaderKind::ipv4, HeaderKind::udp})
        model.headers.emplace_back().kind = kind;
    packet::Program source;
    source.kind = packet::Program::Kind::increment;
    source.from = 0x0a000001;
    source.to = 0x0a0000fe;
    model.headers[1].fields = {{packet::find_field(HeaderKind::ipv4, "src"), source}};
    auto built = packet::build(model, std::nullopt, signing);
    if (auto* problems = std::get_if<1>(&built)) throw std::runtime_error(problems->front().text);
    return std::move(std::get<0>(built));
}

// What a receiver needs to know the streams of a case, and the next packet of each.
struct Streams {
    Streams(const Case& c, std::uint64_t born_ns) : rows(c.streams), lives(c.streams), in_a_row(c.in_a_row) {
        table.number = 1;
        table.salt = c.matched ? salt : std::uint16_t{0};
        table.streams.resize(c.streams);
        next.resize(c.streams);
        for (std::uint32_t slot = 0; slot < c.streams; ++slot) {
            signings.push_back(std::make_shared<packet::Signing>());
            signings.back()->salt = salt;
            signings.back()->stream = slot;
            worker::SentAs sent;
            sent.slot = slot;
            worker::StreamRx& row = rows.add();
            row_of.push_back(&row);
            table.streams[slot].set_now(lives.add(sent, born_ns, row), nullptr);
        }
        packet = made(signings.front());
        if (!c.verified) return;
        verification.one_in = 1;
        verification.templates = {packet};
        for (auto& entry : table.streams) entry.now.verification = &verification;
    }

    std::uint32_t next_slot() {
        const std::uint32_t slot = turn;
        if (++taken < in_a_row) return slot;
        taken = 0;
        turn = turn + 1 == next.size() ? 0 : turn + 1;
        return slot;
    }

    std::vector<std::shared_ptr<packet::Signing>> signings;
    std::shared_ptr<const packet::PacketTemplate> packet;
    RowBlock<worker::StreamRx> rows;
    RowBlock<worker::RxStream> lives;
    std::vector<const worker::StreamRx*> row_of;
    worker::Verification verification;
    worker::RxTable table;
    std::vector<std::uint64_t> next;
    std::uint32_t in_a_row = 1;
    std::uint32_t turn = 0;
    std::uint32_t taken = 0;  ///< packets of this turn
};

class Bench {
  public:
    Bench() : port_(settings()) {
        port_.start(60, "bench");
        ring_ = rte_ring_lookup("ETH_RXTX0_net_ring0");
        pool_ = port::make_mbuf_pool("bench", 2047, 256, 2176, port_.socket());
        if (ring_ == nullptr || pool_ == nullptr) throw std::runtime_error("no ring or no pool");
    }
    ~Bench() {
        port_.stop();
        rte_mempool_free(pool_);
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    double floor(Streams& streams, std::uint64_t packets) {
        std::uint64_t cycles = 0;
        std::uint64_t taken = 0;
        while (taken < packets) {
            fill(streams);
            const std::uint64_t before = thread_cycles();
            rte_mbuf* mbufs[burst];
            while (const std::uint16_t n = rte_eth_rx_burst(port_.id().value, 0, mbufs, burst)) {
                rte_pktmbuf_free_bulk(mbufs, n);
                taken += n;
            }
            cycles += thread_cycles() - before;
        }
        return static_cast<double>(cycles) / static_cast<double>(taken);
    }

    double receiver(worker::RxWorker& worker, Streams& streams, std::uint64_t packets) {
        std::uint64_t cycles = 0;
        const std::uint64_t goal = worker.counters().packets.get() + packets;
        const std::uint64_t start = worker.counters().packets.get();
        while (worker.counters().packets.get() < goal) {
            fill(streams);
            const std::uint64_t before = thread_cycles();
            while (worker.turn()) {
            }
            cycles += thread_cycles() - before;
        }
        return static_cast<double>(cycles) / static_cast<double>(worker.counters().packets.get() - start);
    }

    [[nodiscard]] PortId port() const { return port_.id(); }
    [[nodiscard]] std::uint64_t now_ns() const { return clock_.ns(tsc_now()); }

  private:
    static config::Port settings() {
        config::Port out;
        out.name = "ring";
        out.device = "net_ring0";
        out.rx = config::RxQueues{};
        out.rx->lcores = {0};
        return out;
    }

    // One ring full, the streams in turn, signed once a burst as a sender does it. The floor's packets count
    // for no stream, so they are not missed.
    void fill(Streams& streams) {
        std::uint64_t signed_ns = 0;
        for (std::uint32_t k = 0; k < filling; ++k) {
            if (k % burst == 0) signed_ns = now_ns();
            rte_mbuf* const mbuf = rte_pktmbuf_alloc(pool_);
            if (mbuf == nullptr) throw std::runtime_error("the pool is empty");
            auto* const data = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_append(mbuf, 60));
            const std::uint32_t slot = streams.next_slot();
            streams.packet->write(streams.next[slot], data);
            packet::write_signature(data + 60 - packet::signature_bytes, *streams.signings[slot],
                                    streams.next[slot]++, signed_ns);
            rte_ring_enqueue(ring_, mbuf);
        }
    }

    port::Port port_;
    TscClock clock_;
    rte_ring* ring_ = nullptr;
    rte_mempool* pool_ = nullptr;
};

Row measure(Bench& bench, const Case& c, std::uint64_t packets, unsigned rounds) {
    const std::uint64_t born_ns = bench.now_ns();
    Streams streams(c, born_ns);
    Streams others(c, born_ns);  // the floor's: it reads the same kind of packets
    worker::RxWorker worker(bench.port(), QueueId{0});
    worker.offer(&streams.table);
    std::vector<double> road;
    std::vector<double> floor;
    for (unsigned round = 0; round <= rounds; ++round) {
        const double bare = bench.floor(others, packets);
        const double whole = bench.receiver(worker, streams, packets);
        if (round == 0) continue;  // warms up
        floor.push_back(bare);
        road.push_back(whole);
    }
    std::uint64_t wrong = c.matched ? worker.counters().unmatched.get() : 0;
    for (const worker::StreamRx* row : streams.row_of) {
        const std::uint64_t arrived = row->packets.get() - row->duplicates.get();
        wrong += row->corrupted.get() + row->duplicates.get() + row->reordered.get() +
                 (row->expected_packets() - arrived);
    }
    if (wrong != 0) throw std::runtime_error(c.name + ": the receiver miscounted");
    return make_row(c.name, road, floor);
}

}  // namespace

int run_rx(const RxOptions& options) {
    const MachineWatch watch(options.short_run);
    dpdk::EalOptions eal;
    eal.name = "volley-bench";
    eal.lcores = "0@0";
    eal.memory_mib = 128;
    const dpdk::Eal guard(eal);
    const std::uint64_t packets = options.short_run ? 20'000 : 200'000;
    const unsigned rounds = options.short_run ? 3 : 15;
    Bench bench;
    std::vector<Row> rows;
    for (const Case& c :
         {Case{"count", 1, false, false}, Case{"signature", 1, true, false},
          Case{"verify_all", 1, true, true}, Case{"streams_1000", 1'000, true, false, burst},
          Case{"streams_10000", 10'000, true, false, burst}, Case{"streams_1000_singly", 1'000, true, false},
          Case{"streams_10000_singly", 10'000, true, false}}) {
        if (!options.only.empty() && options.only != c.name) continue;
        rows.push_back(measure(bench, c, packets, rounds));
    }
    Result result;
    result.subcommand = "rx";
    result.tables.push_back(table_of("Receiving 64 bytes on net_ring, burst 32", rows));
    result.machine = watch.finish();
    publish(result, options.files);
    return 0;
}

}  // namespace volley::bench
