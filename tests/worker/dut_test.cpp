// A device under test between two net_ring ports, turned by hand: it loses, doubles, displaces, delays and
// damages what passes, each exactly as told, and the receiver has to count exactly that and nothing else.
#include <gtest/gtest.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "packet/signature.h"
#include "port/port.h"
#include "worker/replies.h"
#include "worker/rx_worker.h"
#include "worker/tsan.h"
#include "worker/tx_lane.h"

namespace volley::worker {
namespace {

using packet::HeaderKind;
using Frame = std::vector<std::uint8_t>;

constexpr std::uint64_t count = 10'000;
constexpr std::uint16_t salt = 0x1357;
constexpr std::uint32_t slot = 3;

std::shared_ptr<const packet::PacketTemplate> made(std::uint16_t with_salt) {
    packet::PacketModel model;
    packet::Program size;
    size.kind = packet::Program::Kind::increment;
    size.from = 64;
    size.to = 400;
    model.frame_size = packet::SizeModel{size, {}};
    for (const HeaderKind kind : {HeaderKind::eth, HeaderKind::ipv4, HeaderKind::udp})
        model.headers.emplace_back().kind = kind;
    packet::Program source;
    source.kind = packet::Program::Kind::increment;
    source.from = 0x0a000001;
    source.to = 0x0a00ffff;
    model.headers[1].fields = {{packet::find_field(HeaderKind::ipv4, "src"), source}};
    model.payload.kind = packet::Payload::Kind::random;
    auto signing = std::make_shared<packet::Signing>();
    signing->salt = with_salt;
    signing->stream = slot;
    signing->generation = 9;
    auto built = packet::build(model, std::nullopt, signing);
    return std::move(std::get<0>(built));
}

/// What the device does with packet number i (0, 1, 2, ... as they come): the frames that it sends in its
/// place.
using Device = std::function<std::vector<Frame>(std::uint64_t i, const Frame& frame)>;

class Dut : public testing::Test {
  protected:
    void SetUp() override {
        near_ = start("near", "net_ring0", true);
        far_ = start("far", "net_ring1", false);
        TxWorker::Settings settings;
        settings.port = near_->id();
        lane_ = std::make_unique<TxLane>(settings, "dut", 1024, 1514, 0, Tsc{200'000}, true);
        from_ = rte_ring_lookup("ETH_RXTX0_net_ring0");
        to_ = rte_ring_lookup("ETH_RXTX0_net_ring1");
        ASSERT_TRUE(from_ != nullptr && to_ != nullptr);
        pool_ = rte_pktmbuf_pool_create("dut", 4095, 0, 0, 2176, 0);
        ASSERT_NE(pool_, nullptr);
        receiver_ = std::make_unique<RxWorker>(far_->id(), QueueId{0});
        row_ = std::make_unique<StreamRx>();
        SentAs sent;
        sent.slot = slot;
        sent.generation = 9;
        born_ns_ = clock_.ns(tsc_now());
        stream_ = std::make_unique<RxStream>(sent, born_ns_, *row_);
        verification_.one_in = 1;
        verification_.templates = {packet_};
        table_.number = 1;
        table_.salt = salt;
        table_.streams.resize(slot + 1);
        table_.streams[slot].set_now(*stream_, &verification_);
        receiver_->offer(&table_);
    }
    void TearDown() override {
        lane_->worker.discard_pending();
        near_->stop();
        far_->stop();
        EXPECT_EQ(lane_->pool.free_count(), lane_->pool.size()) << "a buffer was lost";
        near_.reset();
        far_.reset();
        EXPECT_EQ(rte_mempool_avail_count(pool_), 4095U) << "the receiver lost a buffer";
        rte_mempool_free(pool_);
    }

    static std::unique_ptr<port::Port> start(const char* name, const char* device, bool sends) {
        config::Port settings;
        settings.name = name;
        settings.device = device;
        if (sends) {
            settings.tx = config::TxQueues{};
            settings.tx->lcores = {0};
        } else {
            settings.rx = config::RxQueues{};
            settings.rx->lcores = {0};
        }
        auto out = std::make_unique<port::Port>(settings);
        out->start(1514, "test");
        return out;
    }

    void put(const Frame& frame) {
        rte_mbuf* const mbuf = rte_pktmbuf_alloc(pool_);
        ASSERT_NE(mbuf, nullptr);
        std::copy(frame.begin(), frame.end(),
                  reinterpret_cast<std::uint8_t*>(
                      rte_pktmbuf_append(mbuf, static_cast<std::uint16_t>(frame.size()))));
        tsan_release_mbufs();
        ASSERT_EQ(rte_ring_enqueue(to_, mbuf), 0);
    }
    /// The same as a chain of buffers with so many bytes each, the last with what is left.
    void put_in_pieces(const Frame& frame, std::size_t piece) {
        rte_mbuf* head = nullptr;
        for (std::size_t at = 0; at < frame.size(); at += piece) {
            rte_mbuf* const mbuf = rte_pktmbuf_alloc(pool_);
            ASSERT_NE(mbuf, nullptr);
            const std::size_t bytes = std::min(piece, frame.size() - at);
            std::copy_n(
                frame.begin() + static_cast<std::ptrdiff_t>(at), bytes,
                reinterpret_cast<std::uint8_t*>(rte_pktmbuf_append(mbuf, static_cast<std::uint16_t>(bytes))));
            if (head == nullptr) {
                head = mbuf;
            } else {
                ASSERT_EQ(rte_pktmbuf_chain(head, mbuf), 0);
            }
        }
        tsan_release_mbufs();
        ASSERT_EQ(rte_ring_enqueue(to_, head), 0);
    }
    /// Sends `count` packets through the device.
    void pass(const Device& device) {
        traffic::LaneStream stream;
        stream.packet = packet_.get();
        stream.slot = StreamSlot{slot};
        stream.max = true;
        stream.burst = 8;
        stream.count = count;
        lane_->worker.rows().add(stream.slot);
        schedule_ = std::make_unique<traffic::LaneSchedule>(std::vector{stream}, ~Tsc{0}, tsc_hz());
        lane_->lane.offer(schedule_.get(), 1);
        while (seen_ < count) {
            lane_->worker.turn(tsc_now());
            void* object = nullptr;
            while (rte_ring_dequeue(from_, &object) == 0) {
                tsan_acquire_mbufs();
                auto* const mbuf = static_cast<rte_mbuf*>(object);
                const auto* const data = rte_pktmbuf_mtod(mbuf, const std::uint8_t*);
                const Frame frame(data, data + mbuf->pkt_len);
                rte_pktmbuf_free(mbuf);
                for (const Frame& out : device(seen_++, frame)) put(out);
                receive();
            }
        }
        receive();
    }
    void receive() {
        while (receiver_->turn()) {
        }
    }
    /// Ends the receiving, as control does at the end of a run, and returns what was kept.
    std::vector<EvidenceCase*> kept(Evidence& evidence) {
        table_.hold = true;
        receiver_->offer(&table_);
        receiver_->turn();
        std::vector<EvidenceCase*> out;
        while (EvidenceCase* const each = evidence.take()) out.push_back(each);
        return out;
    }
    /// The sequence in the trailer of a kept packet.
    static std::uint64_t sequence(const EvidenceCase::Packet& packet) {
        packet::Signature out;
        EXPECT_TRUE(
            packet::read_signature(packet.bytes.data() + packet.length - packet::signature_bytes, salt, out));
        return out.sequence;
    }

    struct Counts {
        std::uint64_t lost = 0;
        std::uint64_t duplicates = 0;
        std::uint64_t reordered = 0;
        std::uint64_t corrupted = 0;
        std::uint64_t unmatched = 0;
    };
    void expect(const Counts& wanted) {
        const std::uint64_t arrived = row_->packets.get() - row_->duplicates.get();
        EXPECT_EQ(arrived, count - wanted.lost);
        EXPECT_EQ(row_->expected_packets() - arrived, wanted.lost);
        EXPECT_EQ(row_->duplicates.get(), wanted.duplicates);
        EXPECT_EQ(row_->reordered.get(), wanted.reordered);
        EXPECT_EQ(row_->corrupted.get(), wanted.corrupted);
        EXPECT_EQ(row_->verified.get(), row_->packets.get());
        EXPECT_EQ(receiver_->counters().unmatched.get(), wanted.unmatched);
        EXPECT_EQ(receiver_->counters().packets.get(), row_->packets.get() + wanted.unmatched);
        std::uint64_t samples = 0;
        for (const Counter& bucket : row_->latency) samples += bucket.get();
        EXPECT_EQ(samples, arrived);
        EXPECT_EQ(row_->outage_longest.get() != 0, wanted.lost != 0);
    }

    const TscClock clock_;
    std::shared_ptr<const packet::PacketTemplate> packet_ = made(salt);
    std::unique_ptr<port::Port> near_;
    std::unique_ptr<port::Port> far_;
    std::unique_ptr<TxLane> lane_;
    std::unique_ptr<traffic::LaneSchedule> schedule_;
    rte_ring* from_ = nullptr;
    rte_ring* to_ = nullptr;
    rte_mempool* pool_ = nullptr;
    std::unique_ptr<StreamRx> row_;
    std::unique_ptr<RxStream> stream_;
    Verification verification_;
    RxTable table_;
    std::unique_ptr<RxWorker> receiver_;
    std::uint64_t born_ns_ = 0;
    std::uint64_t seen_ = 0;
};

TEST_F(Dut, that_does_nothing_changes_nothing) {
    pass([](std::uint64_t, const Frame& frame) { return std::vector<Frame>{frame}; });
    expect({});
}

TEST_F(Dut, whose_frames_come_in_several_buffers_loses_and_corrupts_nothing) {
    pass([&](std::uint64_t, const Frame& frame) {
        put_in_pieces(frame, 48);
        return std::vector<Frame>{};
    });
    expect({});
}

TEST_F(Dut, that_damages_a_frame_in_several_buffers_is_found_to_damage_exactly_this) {
    pass([&](std::uint64_t i, Frame frame) {
        if (i == 700) frame[frame.size() - packet::signature_bytes - 1] ^= 1;
        put_in_pieces(frame, 120);
        return std::vector<Frame>{};
    });
    expect({.corrupted = 1});
}

TEST_F(Dut, of_which_one_packet_in_seven_is_verified_has_exactly_those_compared_whose_index_seven_divides) {
    verification_.one_in = 7;
    pass([](std::uint64_t i, const Frame& frame) {
        Frame out = frame;
        if (i == 700 || i == 701) out[30] ^= 1;
        return std::vector<Frame>{out};
    });
    EXPECT_EQ(row_->packets.get(), count);
    EXPECT_EQ(row_->verified.get(), (count + 6) / 7);
    EXPECT_EQ(row_->corrupted.get(), 1U);
}

TEST_F(Dut, that_speaks_for_itself_before_the_first_packet_makes_no_packet_more_of_the_stream) {  // B58
    Frame arp(60);
    std::fill_n(arp.begin(), 6, std::uint8_t{0xff});
    arp[12] = 8;
    arp[13] = 6;
    pass([&](std::uint64_t i, const Frame& frame) {
        return i == 0 ? std::vector<Frame>{arp, frame} : std::vector<Frame>{frame};
    });
    expect({.unmatched = 1});
}

TEST_F(Dut, that_loses_some_is_found_to_lose_exactly_these) {
    pass([](std::uint64_t i, const Frame& frame) {
        const bool lost = i % 97 == 5 || (i >= 4'000 && i < 5'000);
        return lost ? std::vector<Frame>{} : std::vector<Frame>{frame};
    });
    std::uint64_t lost = 0;
    for (std::uint64_t i = 0; i < count; ++i) lost += i % 97 == 5 || (i >= 4'000 && i < 5'000) ? 1 : 0;
    expect({.lost = lost});
}

TEST_F(Dut, that_doubles_some_is_found_to_double_exactly_these) {
    pass([](std::uint64_t i, const Frame& frame) { return std::vector<Frame>(i % 89 == 3 ? 3 : 1, frame); });
    std::uint64_t more = 0;
    for (std::uint64_t i = 0; i < count; ++i) more += i % 89 == 3 ? 2 : 0;
    expect({.duplicates = more});
}

std::vector<std::uint8_t> echo_request(std::uint64_t mac, std::uint32_t size) {
    packet::PacketModel model;
    packet::Program program;
    program.from = size;
    model.frame_size = packet::SizeModel{program, {}};
    const auto set = [&](HeaderKind kind, const char* field, packet::Value value) {
        packet::Program constant;
        constant.from = value;
        model.headers.emplace_back().kind = kind;
        model.headers.back().fields = {{packet::find_field(kind, field), constant}};
    };
    set(HeaderKind::eth, "dst", mac);
    set(HeaderKind::ipv4, "dst", 0x0a000001);
    set(HeaderKind::icmp, "type", 8);
    auto built = packet::build(model);
    Frame out(std::get<0>(built)->longest());
    std::get<0>(built)->write(0, out.data());
    return out;
}

TEST_F(Dut, echoes_are_answered_up_to_the_longest_frame_and_questions_are_no_answers) {
    const IpAddress own{{10, 0, 0, 1}, 4};
    Replies replies("long", 0, 0x020000000001, std::nullopt, {own}, 9014);
    rte_mbuf* out[4];
    replies.answer(echo_request(0x020000000001, 9018));
    replies.answer(echo_request(0x020000000001, 9019));
    EXPECT_EQ(replies.dropped(), 1U);
    replies.ask({{10, 0, 0, 2}, 4});
    ASSERT_EQ(replies.take(out, 4), 2U);
    EXPECT_EQ(out[0]->pkt_len, 60U);
    EXPECT_EQ(out[1]->pkt_len, 9014U);
    EXPECT_EQ(out[1]->nb_segs, 1U);
    rte_pktmbuf_free_bulk(out, 2);
    replies.sent(2, 0);
    EXPECT_EQ(replies.asked(), 1U);
    EXPECT_EQ(replies.sent(), 1U);
}

/// By how many packets some are displaced.
class Displacing : public Dut, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(Displacing, dut_is_found_to_reorder_exactly_these_and_to_lose_none) {
    std::map<std::uint64_t, Frame> held;
    std::uint64_t displaced = 0;
    pass([&](std::uint64_t i, const Frame& frame) {
        std::vector<Frame> out;
        if (i % 40 == 10 && i + GetParam() < count) {
            held[i + GetParam()] = frame;
            ++displaced;
        } else {
            out.push_back(frame);
        }
        if (const auto due = held.find(i); due != held.end()) {
            out.push_back(due->second);
            held.erase(due);
        }
        return out;
    });
    expect({.reordered = displaced});
}

INSTANTIATE_TEST_SUITE_P(ByALittleAndByMuch, Displacing, testing::Values(1U, 7U, 39U, 300U));

TEST_F(Dut, that_damages_a_byte_is_found_to_corrupt_exactly_these_packets) {
    std::uint64_t damaged = 0;
    pass([&](std::uint64_t i, const Frame& frame) {
        Frame out = frame;
        if (i % 111 == 4) {
            out[26 + i % (frame.size() - 26 - packet::signature_bytes)] ^= 0x04;
            ++damaged;
        }
        return std::vector<Frame>{out};
    });
    expect({.corrupted = damaged});
    EXPECT_EQ(receiver_->verifier().kept(), Verifier::most_kept);
    EXPECT_EQ(receiver_->verifier().kept(0).index, 4U);
}

TEST_F(Dut, that_routes_changes_nothing_that_counts) {
    pass([](std::uint64_t, const Frame& frame) {
        Frame out = frame;
        for (std::size_t i = 0; i < 12; ++i) out[i] = static_cast<std::uint8_t>(i);
        --out[22];
        ++out[24];
        return std::vector<Frame>{out};
    });
    expect({});
}

TEST_F(Dut, that_damages_a_trailer_is_found_to_lose_the_packet_that_nobody_knows_any_more) {
    pass([](std::uint64_t i, const Frame& frame) {
        Frame out = frame;
        if (i == 50) out[frame.size() - 3] ^= 1;
        return std::vector<Frame>{out};
    });
    expect({.lost = 1, .unmatched = 1});
}

TEST_F(Dut, that_delays_is_measured) {
    std::vector<Frame> held;
    std::uint64_t since = 0;
    pass([&](std::uint64_t i, const Frame& frame) {
        std::vector<Frame> out;
        if (i < 100) {
            held.push_back(frame);
            if (i == 99) {
                since = clock_.ns(tsc_now());
                while (clock_.ns(tsc_now()) < since + 8'000'000) {
                }
                out = held;
            }
        } else {
            out.push_back(frame);
        }
        return out;
    });
    expect({});
    std::uint64_t late = 0;
    for (std::size_t b = LatencyBuckets::index(8'000'000); b < LatencyBuckets::size; ++b)
        late += row_->latency[b].get();
    EXPECT_GE(late, 100U);
    EXPECT_GE(row_->latency_sum.get(), 100U * 8'000'000);
}

TEST_F(Dut, foreign_packets_with_a_copied_signature_of_an_earlier_run_are_unmatched_and_move_nothing) {
    const auto earlier = made(0x2468);
    packet::Signing other = *packet_->signing();
    std::uint64_t foreign = 0;
    pass([&](std::uint64_t i, const Frame& frame) {
        std::vector<Frame> out{frame};
        if (i % 50 != 0) return out;
        const auto add = [&](const packet::Signing& signing, std::uint64_t index, std::uint64_t time) {
            Frame copy = frame;
            packet::write_signature(copy.data() + copy.size() - packet::signature_bytes, signing, index,
                                    time);
            out.push_back(copy);
            ++foreign;
        };
        const std::uint64_t now = clock_.ns(tsc_now());
        add(*earlier->signing(), i, now);                             // another salt
        add(*packet_->signing(), i, born_ns_ - 1'000'000'000);        // sent before this run began
        add(*packet_->signing(), i, now + 60'000'000'000);            // or in a minute
        add(*packet_->signing(), i + (std::uint64_t{3} << 30), now);  // far outside the window
        other.stream = 77;
        add(other, i, now);
        other.stream = 1;
        add(other, i, now);
        other.stream = slot;
        other.generation = 8;
        add(other, i, now);
        other.generation = 9;
        out.emplace_back(64, std::uint8_t{0xab});  // B59
        out.emplace_back(10, std::uint8_t{0});     // too short for any signature
        foreign += 2;
        return out;
    });
    expect({.unmatched = foreign});
}

// As when more streams lose in one burst than there is room for: each is seen when there is room again.
TEST_F(Dut, leaves_evidence_of_a_later_loss_when_the_first_found_no_room) {
    Evidence evidence(5);
    receiver_->set_evidence(evidence, true);
    rte_mbuf* other = rte_pktmbuf_alloc(pool_);
    ASSERT_NE(other, nullptr);
    tsan_acquire_mbufs();
    ASSERT_NE(rte_pktmbuf_append(other, 60), nullptr);
    evidence.remember(&other, 1, 1);
    rte_pktmbuf_free(other);
    for (std::uint32_t i = 0; i < Evidence::cases; ++i) EXPECT_TRUE(evidence.note({}, 0));
    evidence.close();
    pass([&](std::uint64_t i, const Frame& frame) -> std::vector<Frame> {
        if (i == 3'000) {
            while (EvidenceCase* const each = evidence.take()) Evidence::release(*each);
        }
        return i == 100 || i == 5'000 || i == 6'000 ? std::vector<Frame>{} : std::vector<Frame>{frame};
    });
    EXPECT_EQ(evidence.dropped(), 1U);
    const auto cases = kept(evidence);
    ASSERT_EQ(cases.size(), 1U);
    EXPECT_EQ(cases[0]->found.expected, 5'000U);
}

TEST_F(Dut, leaves_evidence_of_the_first_of_each_kind_with_the_packets_around_it) {
    Evidence evidence(5);
    receiver_->set_evidence(evidence, true);
    std::optional<Frame> held;
    pass([&](std::uint64_t i, const Frame& frame) -> std::vector<Frame> {
        Frame damaged = frame;
        damaged[30] ^= 1;
        switch (i) {
            case 100:  // lost, as many later
            case 101:
            case 5'000:
                return {};
            case 200:
                return {frame, frame};
            case 300:
                held = frame;
                return {};
            case 302:
                return {frame, *held};
            case 400:
            case 402:
                return {damaged};
            default:
                return {frame};
        }
    });
    const auto cases = kept(evidence);
    ASSERT_EQ(cases.size(), 4U);
    struct Wanted {
        Finding kind;
        std::uint64_t expected;
        std::uint64_t received;
        std::vector<std::uint64_t> around;
    };
    const Wanted all[]{
        {Finding::loss, 100, 102, {95, 96, 97, 98, 99, 102, 103, 104, 105, 106, 107}},
        {Finding::duplicate, 201, 200, {196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205}},
        {Finding::reordering, 303, 300, {297, 298, 299, 301, 302, 300, 303, 304, 305, 306, 307}},
        {Finding::corruption, 400, 400, {395, 396, 397, 398, 399, 400, 401, 402, 403, 404, 405}},
    };
    for (std::size_t i = 0; i < 4; ++i) {
        SCOPED_TRACE(i);
        EXPECT_EQ(cases[i]->found.kind, all[i].kind);
        EXPECT_EQ(cases[i]->found.slot, slot);
        EXPECT_EQ(cases[i]->found.expected, all[i].expected);
        EXPECT_EQ(cases[i]->found.received, all[i].received);
        EXPECT_EQ(cases[i]->at, 5U);
        ASSERT_EQ(cases[i]->count, 11U);
        std::vector<std::uint64_t> around;
        for (const auto& packet : cases[i]->packets) around.push_back(sequence(packet));
        EXPECT_EQ(around, all[i].around);
    }
    EXPECT_EQ(cases[3]->found.offset, 30U);
    EXPECT_EQ(evidence.dropped(), 0U);
}

TEST_F(Dut, leaves_evidence_that_is_cut_short_by_the_begin_and_by_the_end) {
    Evidence evidence(200);
    receiver_->set_evidence(evidence, true);
    pass([](std::uint64_t i, const Frame& frame) {
        return std::vector<Frame>(i == 2 ? 0 : i == count - 3 ? 2 : 1, frame);
    });
    const auto cases = kept(evidence);
    ASSERT_EQ(cases.size(), 2U);
    EXPECT_EQ(cases[0]->at, 2U);
    EXPECT_EQ(cases[0]->count, 2 + 1 + 200U);
    EXPECT_EQ(cases[1]->at, 200U);
    EXPECT_EQ(cases[1]->count, 200 + 1 + 2U);
    for (EvidenceCase* each : cases) Evidence::release(*each);
}

TEST_F(Dut, is_captured_packet_by_packet_as_far_as_the_filter_takes_and_the_ring_holds_them) {
    Tap tap(std::make_shared<imports::PacketFilter>("greater 300 and less 310"), 128, 1'024);
    receiver_->set_tap(&tap);
    std::vector<Frame> wanted;
    pass([&](std::uint64_t, const Frame& frame) {
        if (frame.size() >= 300 && frame.size() <= 310) wanted.push_back(frame);
        return std::vector<Frame>{frame};
    });
    ASSERT_LT(wanted.size(), 1'024U);
    EXPECT_EQ(tap.received(), count);
    EXPECT_EQ(tap.accepted(), wanted.size());
    EXPECT_EQ(tap.dropped(), 0U);
    Tap::Packet packet;
    for (const Frame& frame : wanted) {
        ASSERT_TRUE(tap.front(packet));
        EXPECT_EQ(packet.length, frame.size());
        ASSERT_EQ(packet.kept, 128U);
        EXPECT_TRUE(std::equal(packet.bytes, packet.bytes + packet.kept, frame.begin()));
        EXPECT_GE(packet.now_ns, born_ns_);
        tap.pop();
    }
    EXPECT_FALSE(tap.front(packet));
    const std::uint64_t off = receiver_->set_tap(nullptr);
    EXPECT_LT(receiver_->tap_changes(), off);
    receiver_->turn();
    EXPECT_EQ(receiver_->tap_changes(), off);
}

TEST_F(Dut, has_taken_a_capture_off_when_its_worker_has_looked_and_not_before) {
    Tap tap(std::make_shared<imports::PacketFilter>(""), 64, 256);
    receiver_->set_tap(&tap);
    const std::uint64_t off = receiver_->set_tap(nullptr);
    EXPECT_LT(receiver_->tap_changes(), off) << "the worker may be about to take the tap";
    receiver_->turn();
    EXPECT_EQ(receiver_->tap_changes(), off);
}

TEST_F(Dut, that_sends_more_than_a_capture_holds_is_counted_and_not_waited_for) {
    Tap tap(std::make_shared<imports::PacketFilter>(""), 64, 256);
    receiver_->set_tap(&tap);
    pass([](std::uint64_t, const Frame& frame) { return std::vector<Frame>{frame}; });
    expect({});
    EXPECT_EQ(tap.accepted(), count);
    EXPECT_EQ(tap.dropped(), count - 256);
    Tap::Packet packet;
    for (std::uint64_t i = 0; i < 256; ++i) {
        ASSERT_TRUE(tap.front(packet)) << "the first ones are kept";
        tap.pop();
    }
    EXPECT_FALSE(tap.front(packet));
}

TEST_F(Dut, leaves_no_evidence_of_loss_where_other_receivers_share_the_packets) {
    Evidence evidence(5);
    receiver_->set_evidence(evidence, false);
    pass([](std::uint64_t i, const Frame& frame) { return std::vector<Frame>(i % 7 == 3 ? 0 : 1, frame); });
    EXPECT_TRUE(kept(evidence).empty());
}

}  // namespace

namespace {

TEST(Evidence, counts_what_there_is_no_room_for_and_takes_more_when_some_is_given_back) {
    Evidence evidence(1);
    for (std::uint32_t i = 0; i < Evidence::cases + 3; ++i) evidence.note({}, 0);
    EXPECT_EQ(evidence.dropped(), 3U);
    EXPECT_EQ(evidence.take(), nullptr);
    evidence.close();
    EvidenceCase* const one = evidence.take();
    ASSERT_NE(one, nullptr);
    evidence.note({}, 0);
    EXPECT_EQ(evidence.dropped(), 4U);
    Evidence::release(*one);
    evidence.note({}, 0);
    EXPECT_EQ(evidence.dropped(), 4U);
}

}  // namespace
}  // namespace volley::worker
