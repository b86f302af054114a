#include "worker/tx_worker.h"

#include <gtest/gtest.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <sched.h>

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "dpdk/eal.h"
#include "port/port.h"
#include "traffic/lane_schedule.h"
#include "worker/lcore_loop.h"
#include "worker/tsan.h"
#include "worker/tx_lane.h"

namespace {

thread_local std::uint64_t yields = 0;

}  // namespace

// Counted instead of done.
extern "C" int sched_yield() noexcept {
    ++yields;
    return 0;
}

namespace volley::worker {
namespace {

using packet::HeaderKind;

class EalOnce : public testing::Environment {
  public:
    void SetUp() override {
        dpdk::EalOptions options;
        options.name = "volley-test-worker";
        options.lcores = "0@0";
        options.memory_mib = 256;
        eal_ = std::make_unique<dpdk::Eal>(options);
    }
    void TearDown() override { eal_.reset(); }

  private:
    std::unique_ptr<dpdk::Eal> eal_;
};

const auto* const environment = testing::AddGlobalTestEnvironment(new EalOnce);

std::unique_ptr<const packet::PacketTemplate> counting_udp(std::uint32_t size, packet::Value last) {
    packet::Program length;
    length.from = size;
    packet::Program source;
    source.kind = packet::Program::Kind::increment;
    source.from = 0x0a000001;
    source.to = last;
    packet::PacketModel model;
    model.frame_size = packet::SizeModel{length, {}};
    for (const HeaderKind kind : {HeaderKind::eth, HeaderKind::ipv4, HeaderKind::udp}) {
        model.headers.emplace_back().kind = kind;
    }
    model.headers[1].fields = {{packet::find_field(HeaderKind::ipv4, "src"), source}};
    auto built = packet::build(model);
    return std::move(std::get<0>(built));
}

// A queue of a net_ring port, whose ring the test reads, and a worker that is turned by hand at ticks of the
// test's choosing: what leaves when is a matter of the rule, not of the machine.
class TxWorkerOnRing : public testing::Test {
  protected:
    void start(std::uint32_t threshold, Tsc timeout) {
        config::Port settings;
        settings.name = "ring";
        settings.device = "net_ring0";
        settings.tx = config::TxQueues{};
        settings.tx->lcores = {0};
        port_ = std::make_unique<port::Port>(settings);
        port_->start(1514, "test");
        TxWorker::Settings worker;
        worker.port = port_->id();
        worker.flush_threshold = threshold;
        worker.flush_timeout = timeout;
        lane_ = std::make_unique<TxLane>(worker, "test", 1024, 1514, 0, horizon_ticks, true);
        wire_ = rte_ring_lookup("ETH_RXTX0_net_ring0");
        ASSERT_NE(wire_, nullptr);
    }
    void TearDown() override {
        if (lane_ == nullptr) return;
        take_all();
        lane_->worker.discard_pending();
        port_->stop();
        EXPECT_EQ(lane_->pool.free_count(), lane_->pool.size()) << "a buffer was lost";
        port_.reset();
        lane_.reset();
    }

    traffic::LaneStream stream(const packet::PacketTemplate& packet, std::uint32_t slot, std::uint32_t burst,
                               std::uint64_t count) {
        traffic::LaneStream out;
        out.packet = &packet;
        out.slot = StreamSlot{slot};
        out.burst = burst;
        out.count = count;
        out.pps = {1'000'000, 1};
        out.start = start_tick;
        return out;
    }
    void offer(std::vector<traffic::LaneStream> streams) {
        for (const auto& s : streams) lane_->worker.rows().add(s.slot);
        schedules_.push_back(std::make_unique<traffic::LaneSchedule>(std::move(streams), ~Tsc{0}, hz));
        lane_->lane.offer(schedules_.back().get(), schedules_.size());
    }
    bool turn(Tsc now) { return lane_->worker.turn(now); }
    std::vector<std::vector<std::uint8_t>> take_all() {
        std::vector<std::vector<std::uint8_t>> out;
        void* object = nullptr;
        while (rte_ring_dequeue(wire_, &object) == 0) {
            tsan_acquire_mbufs();
            auto* mbuf = static_cast<rte_mbuf*>(object);
            const auto* data = rte_pktmbuf_mtod(mbuf, const std::uint8_t*);
            out.emplace_back(data, data + mbuf->pkt_len);
            tsan_release_mbufs();
            rte_pktmbuf_free(mbuf);
        }
        return out;
    }
    const TxCounters& counters() { return lane_->worker.counters(); }

    static constexpr std::uint64_t hz = 1'000'000'000;  // of the schedules: one tick a nanosecond
    static constexpr Tsc horizon_ticks = 200'000;
    static constexpr Tsc start_tick = 10'000'000;

    std::unique_ptr<port::Port> port_;
    std::unique_ptr<TxLane> lane_;
    std::vector<std::unique_ptr<traffic::LaneSchedule>> schedules_;
    rte_ring* wire_ = nullptr;
};

TEST_F(TxWorkerOnRing, sends_exactly_the_bytes_of_template_and_index_in_order) {
    start(32, 0);
    const auto packet = counting_udp(64, 0x0a000007);
    offer({stream(*packet, 0, 5, 23)});
    for (Tsc now = start_tick - 100; now < start_tick + 40'000; now += 500) turn(now);
    const auto sent = take_all();
    ASSERT_EQ(sent.size(), 23U);
    std::vector<std::uint8_t> expected(packet->longest());
    for (std::size_t i = 0; i < sent.size(); ++i) {
        expected.resize(packet->write(i, expected.data()));
        EXPECT_EQ(sent[i], expected) << "packet " << i;
    }
    EXPECT_EQ(counters().packets.get(), 23U);
    EXPECT_EQ(counters().bytes.get(), 23U * 60);
    EXPECT_EQ(lane_->worker.rows().find(StreamSlot{0})->packets.get(), 23U);
    EXPECT_EQ(lane_->worker.rows().find(StreamSlot{0})->bytes.get(), 23U * 60);
    EXPECT_TRUE(lane_->lane.finished());
    EXPECT_EQ(lane_->worker.bursts_done().get(), lane_->lane.emitted());
}

TEST_F(TxWorkerOnRing, rests_until_the_first_plan_is_offered_and_after_the_last_is_taken_away) {
    start(32, 0);
    EXPECT_FALSE(turn(start_tick));
    const auto packet = counting_udp(64, 0x0a000007);
    offer({stream(*packet, 0, 1, 1'000)});
    turn(start_tick);
    lane_->lane.offer(nullptr, 2);
    for (Tsc now = start_tick; now < start_tick + 2'000'000; now += 100'000) turn(now);
    EXPECT_EQ(lane_->lane.adopted(), 2U);
    EXPECT_TRUE(lane_->lane.finished());
    EXPECT_EQ(counters().packets.get(), take_all().size());
    EXPECT_LT(counters().packets.get(), 1'000U);
}

TEST_F(TxWorkerOnRing, a_lane_without_a_share_of_the_count_is_finished_at_once) {
    start(32, 0);
    const auto packet = counting_udp(64, 0x0a000007);
    auto others = stream(*packet, 0, 32, 7);
    others.lanes = 2;
    others.first = 1;  // the only burst belongs to the other lane
    offer({others});
    turn(start_tick);
    EXPECT_TRUE(lane_->lane.finished());
    EXPECT_EQ(lane_->lane.emitted(), 0U);
}

TEST_F(TxWorkerOnRing, never_submits_a_burst_before_its_due_tick) {
    start(1, 0);
    const auto packet = counting_udp(64, 0x0a000007);
    offer({stream(*packet, 0, 1, 3)});  // due at start, start + 1000, start + 2000
    turn(start_tick - 1);
    EXPECT_EQ(take_all().size(), 0U);
    turn(start_tick);
    EXPECT_EQ(take_all().size(), 1U);
    turn(start_tick + 999);
    EXPECT_EQ(take_all().size(), 0U);
    turn(start_tick + 1000);
    EXPECT_EQ(take_all().size(), 1U);
}

TEST_F(TxWorkerOnRing, with_threshold_1_makes_each_burst_its_own_call) {
    start(1, 0);
    const auto packet = counting_udp(64, 0x0a000007);
    offer({stream(*packet, 0, 4, 40)});
    turn(start_tick - 1);
    turn(start_tick + 100'000);  // all ten are due
    EXPECT_EQ(take_all().size(), 40U);
    EXPECT_EQ(counters().calls.get(), 10U);
}

TEST_F(TxWorkerOnRing, gathers_streams_that_fall_due_within_the_flush_timeout_into_one_call) {
    start(32, 5'000);
    const auto packet = counting_udp(64, 0x0a000007);
    std::vector<traffic::LaneStream> streams;
    for (std::uint32_t s = 0; s < 32; ++s) {
        streams.push_back(stream(*packet, s, 1, 2));
        streams.back().pps = {10'000, 1};
        streams.back().start += s * 100;
    }
    offer(streams);
    for (Tsc now = start_tick - 200; now <= start_tick + 5'000; now += 50) turn(now);
    EXPECT_EQ(take_all().size(), 32U);
    EXPECT_EQ(counters().calls.get(), 1U);
}

TEST_F(TxWorkerOnRing, sends_a_lone_packet_at_once_when_nothing_else_falls_due_within_the_timeout) {
    start(32, 5'000);
    const auto packet = counting_udp(64, 0x0a000007);
    auto slow = stream(*packet, 0, 1, 2);
    slow.pps = {1'000, 1};  // the next is 1 ms away
    offer({slow});
    turn(start_tick - 10);
    turn(start_tick);
    EXPECT_EQ(take_all().size(), 1U);
}

TEST_F(TxWorkerOnRing, keeps_what_the_nic_does_not_take_and_loses_and_repeats_nothing) {
    start(32, 0);
    const auto packet = counting_udp(64, 0x0a00ffff);
    offer({stream(*packet, 0, 32, 5'000)});  // net_ring holds 1023
    Tsc now = start_tick - 10;
    for (int i = 0; i < 2'000; ++i) turn(now += 1'000);
    EXPECT_GT(counters().backpressure_packets.get(), 0U);  // B62
    const std::uint64_t stuck = counters().packets.get();
    EXPECT_LT(stuck, 5'000U);
    std::vector<std::vector<std::uint8_t>> sent;
    for (int i = 0; i < 4'000 && sent.size() < 5'000; ++i) {
        for (auto& frame : take_all()) sent.push_back(std::move(frame));
        turn(now += 1'000);
    }
    for (auto& frame : take_all()) sent.push_back(std::move(frame));
    ASSERT_EQ(sent.size(), 5'000U);
    std::vector<std::uint8_t> expected(packet->longest());
    for (std::size_t i = 0; i < sent.size(); ++i) {
        packet->write(i, expected.data());
        ASSERT_EQ(sent[i], expected) << "packet " << i;
    }
    EXPECT_EQ(counters().packets.get(), 5'000U);
}

TEST_F(TxWorkerOnRing, says_stalled_after_a_second_without_progress_and_takes_it_back) {
    start(32, 0);
    const auto packet = counting_udp(64, 0x0a00ffff);
    offer({stream(*packet, 0, 32, 5'000)});
    Tsc now = start_tick - 10;
    for (int i = 0; i < 3'000; ++i) turn(now += 1'000);
    EXPECT_EQ(counters().stalled.get(), 0U);
    turn(now += 2 * tsc_hz());
    EXPECT_EQ(counters().stalled.get(), 1U);
    take_all();
    turn(now += 1'000);
    EXPECT_EQ(counters().stalled.get(), 0U);
}

TEST_F(TxWorkerOnRing, writes_templates_in_rotation_correctly_into_buffers_that_held_another) {
    start(8, 0);
    const auto small = counting_udp(64, 0x0a000007);
    const auto large = counting_udp(512, 0x0a000003);
    offer({stream(*small, 0, 3, 3'000), stream(*large, 1, 5, 3'000)});
    std::map<std::size_t, std::uint64_t> seen;
    Tsc now = start_tick - 10;
    for (int i = 0; i < 8'000; ++i) {
        turn(now += 1'000);
        for (const auto& frame : take_all()) {
            const auto& packet = frame.size() == 60 ? *small : *large;
            std::vector<std::uint8_t> expected(packet.longest());
            packet.write(seen[frame.size()]++, expected.data());
            ASSERT_EQ(frame, expected);
        }
    }
    EXPECT_EQ(seen[60], 3'000U);
    EXPECT_EQ(seen[508], 3'000U);
}

TEST_F(TxWorkerOnRing, counts_one_tail_write_a_call_where_the_driver_has_no_chunks) {
    start(64, 0);
    const auto packet = counting_udp(64, 0x0a000007);
    offer({stream(*packet, 0, 64, 640)});
    for (Tsc now = start_tick - 10; now < start_tick + 800'000; now += 1'000) {
        turn(now);
        take_all();
    }
    EXPECT_EQ(counters().packets.get(), 640U);
    EXPECT_EQ(counters().tail_writes.get(), counters().calls.get());
}

TEST(TxBatch, counts_a_partly_accepted_burst_packet_by_packet_with_its_own_lengths) {
    TxBatch batch;
    auto row = std::make_unique<StreamTx>();
    TxCounters counters;
    const TxBatch::Places places = batch.places(4);
    const std::array<std::uint16_t, 4> lengths{60, 100, 200, 400};
    std::copy(lengths.begin(), lengths.end(), places.lengths);
    batch.commit(4, 0, 1'000, *row);
    EXPECT_EQ(batch.accept(1, 1'000, counters), 0U);
    EXPECT_EQ(row->bytes.get(), 60U);
    EXPECT_EQ(batch.pending(), 3U);
    EXPECT_EQ(batch.accept(3, 1'000, counters), 1U);
    EXPECT_EQ(row->bytes.get(), 760U);
    EXPECT_EQ(counters.bytes.get(), 760U);
    EXPECT_EQ(batch.pending(), 0U);
}

TEST(TxBatch, moves_pending_packets_to_the_front_when_its_end_is_reached) {
    TxBatch batch;
    auto row = std::make_unique<StreamTx>();
    TxCounters counters;
    std::uintptr_t next = 1;
    std::uintptr_t expected = 1;
    for (int round = 0; round < 2'000; ++round) {
        while (batch.has_room(7)) {
            const TxBatch::Places places = batch.places(7);
            for (int k = 0; k < 7; ++k) places.mbufs[k] = reinterpret_cast<rte_mbuf*>(next++);
            batch.commit(7, 60, 0, *row);
        }
        for (int k = 0; k < 5; ++k) {
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(batch.mbufs()[k]), expected++);
        }
        batch.accept(5, 0, counters);
    }
    EXPECT_EQ(counters.packets.get(), 10'000U);
}

TEST_F(TxWorkerOnRing, what_a_late_lane_gives_up_is_counted_by_stream) {
    start(32, 0);
    const auto packet = counting_udp(64, 0x0a000007);
    offer({stream(*packet, 0, 1, 100), stream(*packet, 1, 1, 5)});
    turn(start_tick);
    const Tsc later = start_tick + 50 * 1'000'000;  // within the catch-up limit, so the second one is done
    turn(later);
    const StreamTx* row = lane_->worker.rows().find(StreamSlot{0});
    EXPECT_EQ(row->slips.get(), 0U);
    offer({stream(*packet, 2, 1, 100'000)});
    turn(later);
    turn(later + 300'000'000);
    row = lane_->worker.rows().find(StreamSlot{2});
    EXPECT_EQ(row->slips.get(), 1U);
    EXPECT_GT(row->slipped_packets.get(), 0U);
    EXPECT_EQ(lane_->worker.rows().find(StreamSlot{1})->slips.get(), 0U);
}

TEST_F(TxWorkerOnRing, a_loop_that_may_sleep_turns_a_few_times_a_burst_and_sends_all) {
    start(32, 0);
    const auto packet = counting_udp(64, 0x0a000007);
    traffic::LaneStream slow = stream(*packet, 0, 1, 100);
    slow.pps = {1000, 1};
    slow.start = tsc_now() + tsc_hz() / 100;
    lane_->worker.rows().add(slow.slot);
    schedules_.push_back(std::make_unique<traffic::LaneSchedule>(std::vector{slow}, ~Tsc{0}, tsc_hz()));
    LcoreLoop loop(LcoreId{0}, false);
    loop.sleep_when_idle();
    loop.add(lane_->worker);
    std::thread thread([&] { loop.run(); });
    lane_->lane.offer(schedules_.back().get(), 1);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (counters().packets.get() < 100 && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    const std::uint64_t turns = loop.heartbeat().get();
    loop.stop();
    thread.join();
    EXPECT_EQ(counters().packets.get(), 100U);
    EXPECT_LT(turns, 100U * 20);
}

// What a reader sees of a change, in counts on a clock of the test's own: old packets for the horizon at
// most, then the new rate, and every index once.
TEST_F(TxWorkerOnRing, a_reader_sees_a_new_rate_within_the_horizon_and_a_burst_and_every_index_once) {
    start(1, 0);
    const auto packet = counting_udp(64, 0x0affffff);
    constexpr Tsc microsecond = hz / 1'000'000;
    Tsc now = start_tick;
    std::uint32_t next = 0;
    const auto read_for = [&](Tsc span) {
        std::uint64_t packets = 0;
        for (const Tsc end = now + span; now < end; now += microsecond) {
            for (int i = 0; i < 3; ++i) turn(now);
            for (const auto& frame : take_all()) {
                std::uint32_t source = 0;
                for (std::size_t i = 26; i < 30; ++i) source = source << 8U | frame[i];
                EXPECT_EQ(source, 0x0a000001 + next++);
                ++packets;
            }
        }
        return packets;
    };
    const auto change = [&](Rational pps) {
        traffic::LaneStream spec = stream(*packet, 0, 1, traffic::endless);
        spec.pps = pps;
        if (!schedules_.empty()) spec.previous = 0;
        offer({spec});
    };
    change({1'000'000, 1});
    EXPECT_NEAR(static_cast<double>(read_for(5'000 * microsecond)), 5'000, 1);
    change({100'000, 1});
    EXPECT_LE(read_for(horizon_ticks), 201U);
    read_for(10 * microsecond);  // one new interval
    EXPECT_NEAR(static_cast<double>(read_for(10'000 * microsecond)), 1'000, 1);
    change({1'000'000, 1});
    read_for(horizon_ticks + microsecond);
    EXPECT_NEAR(static_cast<double>(read_for(5'000 * microsecond)), 5'000, 1);
}

// A worker whose next burst is due and not in its ring waits for the dispatcher, which may need its CPU: one
// that neither slept nor yielded kept it from running for a whole slice of the kernel's.
TEST_F(TxWorkerOnRing, a_loop_that_may_sleep_gives_its_cpu_away_while_it_waits_for_what_is_due) {
    start(32, 0);
    const auto packet = counting_udp(64, 0x0a000007);
    traffic::LaneStream due = stream(*packet, 0, 1, 100);
    due.start = 1;
    lane_->worker.rows().add(due.slot);
    schedules_.push_back(std::make_unique<traffic::LaneSchedule>(std::vector{due}, ~Tsc{0}, tsc_hz()));
    worker::BurstRing ring("waits", 64, SOCKET_ID_ANY);
    Lane lane(ring, lane_->worker.bursts_done(), 1'000, false);
    lane_->worker.attach(lane, false);
    lane.offer(schedules_.back().get(), 1);
    lane.turn(0);  // adopts; what it pushes goes into a ring that this worker does not read
    for (const bool shared : {false, true}) {
        LcoreLoop loop(LcoreId{0}, shared);
        loop.sleep_when_idle();
        loop.add(lane_->worker);
        yields = 0;
        Tsc now = tsc_now();
        for (int i = 0; i < 10; ++i) loop.turn(now);
        EXPECT_EQ(yields, shared ? 10U : 0U);
    }
}

}  // namespace
}  // namespace volley::worker
