// Changes of a stream mix that asks for 5 Mpps, judged by what is at the other end of the cable.
#include <gtest/gtest.h>
#include <pthread.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/log_buckets.h"
#include "config/load.h"
#include "packet/template.h"
#include "system/live_control.h"
#include "worker/tsan.h"

namespace volley::test {
namespace {

/// "bulk" and "visitor" carry the number of the plan that sent them, "thin" and "steady" always 0, so that a
/// plan changes nothing but their rate, or nothing at all.
enum Name : std::size_t { bulk, thin, steady, visitor, names };
constexpr std::array<const char*, names> name_of{"bulk", "thin", "steady", "visitor"};
constexpr std::array<std::uint32_t, names> burst_of{32, 1, 32, 32};

struct Stand {
    std::uint32_t kpps = 0;  ///< 0: not there
    bool paused = false;
    std::uint32_t size = 64;
    [[nodiscard]] std::uint32_t sent_kpps() const { return paused ? 0 : kpps; }
};
using Mix = std::array<Stand, names>;

/// What an operator does in one round. 5 Mpps are asked for, but where the stream that makes most of them is
/// slowed down, paused or taken away.
std::vector<Mix> one_round() {
    const Stand same{500};
    return {
        {Stand{4400}, Stand{100}, same, {}}, {Stand{440}, Stand{100}, same, {}},
        {Stand{4400}, Stand{100}, same, {}}, {Stand{4400, true}, Stand{100}, same, {}},
        {Stand{4400}, Stand{100}, same, {}}, {Stand{}, Stand{100}, same, {}},
        {Stand{4400}, Stand{100}, same, {}}, {Stand{4000}, Stand{300}, same, Stand{200}},
        {Stand{4300}, Stand{200}, same, {}}, {Stand{4300, false, 128}, Stand{200}, same, {}},
    };
}

config::Model model_of(const Mix& mix, std::size_t plan, json config, const TempDir& dir) {
    // A sanitizer's build cannot do a twentieth of it.
    const std::uint32_t unit = sanitized() ? 25 : 1000;
    json streams = json::array();
    for (std::size_t s = 0; s < names; ++s) {
        if (s == visitor && mix[s].kpps == 0) continue;
        const bool marked = s == bulk || s == visitor;
        streams.push_back({{"name", name_of[s]},
                           {"port", "east"},
                           {"enabled", mix[s].kpps != 0},
                           {"rate", std::to_string(std::max(mix[s].kpps, 1U) * unit) + "pps"},
                           {"burst", burst_of[s]},
                           {"packet",
                            {{"frame_size", mix[s].size},
                             {"headers",
                              {{{"eth", {{"src", "02:00:00:00:00:01"}}}},
                               {{"ipv4",
                                 {{"src", {{"increment", {{"from", "0.0.0.0"}, {"to", "255.255.255.255"}}}}},
                                  {"dst", "10.0.0." + std::to_string(s)}}}},
                               {{"udp", {{"src", 9}, {"dst", marked ? plan : 0}}}}}}}}});
    }
    config["streams"] = std::move(streams);
    config::Model out = config::load(dir.write("mix.json", config.dump()));
    for (config::Stream& stream : out.streams) {
        for (std::size_t s = 0; s < names; ++s)
            if (stream.name == name_of[s]) stream.paused = mix[s].paused;
    }
    return out;
}

std::uint32_t word(const char* bytes, std::size_t size) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8U | static_cast<std::uint8_t>(bytes[i]);
    return value;
}

/// One queue and one lane, so the indices of a stream come one after the other: every packet is judged as it
/// comes, and nothing need be kept of it.
class Reader {
  public:
    explicit Reader(std::size_t plans) : plans_(plans), first_life_(plans) {}

    /// All before read(): what the streams of a plan look like, and which of them begin a new life by it.
    void expect(std::size_t plan, const config::Model& model, const std::array<bool, names>& begins) {
        first_life_[plan] = begins;
        for (const config::Stream& stream : model.streams) {
            for (std::size_t s = 0; s < names; ++s) {
                if (stream.name != name_of[s]) continue;
                auto built = packet::build(stream.packet);
                plans_[plan][s].made = std::move(std::get<0>(built));
            }
        }
    }

    void read(const std::atomic<bool>& done) {
        cpu_set_t all;
        CPU_ZERO(&all);
        for (unsigned cpu = 0; cpu < std::thread::hardware_concurrency(); ++cpu) CPU_SET(cpu, &all);
        pthread_setaffinity_np(pthread_self(), sizeof all, &all);
        rte_ring* const ring = rte_ring_lookup("ETH_RXTX0_net_ring0");
        std::array<void*, 64> burst{};
        for (bool last = false;;) {
            const std::size_t acknowledged = acknowledged_.load(std::memory_order_acquire);
            const unsigned n = rte_ring_sc_dequeue_burst(ring, burst.data(), burst.size(), nullptr);
            worker::tsan_acquire_mbufs();
            for (unsigned i = 0; i < n; ++i) take(static_cast<rte_mbuf*>(burst[i]), acknowledged);
            worker::tsan_release_mbufs();
            rte_pktmbuf_free_bulk(reinterpret_cast<rte_mbuf**>(burst.data()), n);
            if (last && n == 0) return;
            last = done.load() && n == 0;
            if (n == 0) std::this_thread::yield();
        }
    }

    /// Control: that plan is in force. What comes later of one before was in the rings.
    void acknowledge(std::size_t plan) { acknowledged_.store(plan, std::memory_order_release); }
    /// Any thread: the plan of the packet of that stream that came last.
    [[nodiscard]] std::size_t plan_of(std::size_t stream) const { return latest_[stream].load(); }

    // After read():
    [[nodiscard]] std::uint64_t packets(std::size_t plan, std::size_t stream) const {
        return plans_[plan][stream].packets;
    }
    [[nodiscard]] std::uint64_t most_after_change() const {
        std::uint64_t most = 0;
        for (const auto& plan : plans_) most = std::max(most, plan[bulk].late + plan[visitor].late);
        return most;
    }
    void expect_no_fault() const {
        EXPECT_EQ(strangers_, 0U);
        EXPECT_EQ(wrong_, 0U) << "packets differ from what their index says";
        EXPECT_EQ(out_of_turn_, 0U) << "packets were lost, came twice or out of order";
        EXPECT_EQ(older_, 0U) << "packets of a plan came behind those of a later one";
    }

  private:
    struct Of {
        std::unique_ptr<const packet::PacketTemplate> made;
        std::uint64_t packets = 0;
        std::uint64_t late = 0;  ///< that came after a later plan had been acknowledged
    };

    void take(const rte_mbuf* mbuf, std::size_t acknowledged) {
        const char* const bytes = rte_pktmbuf_mtod(mbuf, const char*);
        const std::size_t s = word(bytes + 30, 4) - 0x0a000000U;
        const std::size_t plan = word(bytes + 36, 2);
        if (s >= names || plan >= plans_.size() || plans_[plan][s].made == nullptr) {
            ++strangers_;
            return;
        }
        const std::size_t before = latest_[s].load(std::memory_order_relaxed);
        if (plan < before) ++older_;
        for (std::size_t p = before + 1; p <= plan; ++p)
            if (first_life_[p][s]) next_[s] = 0;
        if (plan != before) latest_[s].store(plan, std::memory_order_relaxed);
        const std::uint32_t index = word(bytes + 26, 4);
        if (index != next_[s]) ++out_of_turn_;
        next_[s] = index + 1;
        Of& of = plans_[plan][s];
        ++of.packets;
        if (plan < acknowledged) ++of.late;
        if (index % 64 == 0) check(*of.made, index, {bytes, mbuf->data_len});
    }
    void check(const packet::PacketTemplate& made, std::uint32_t index, std::string_view bytes) {
        std::array<std::uint8_t, packet::max_frame> expected{};
        const std::uint16_t length = made.write(index, expected.data());
        if (bytes != std::string_view(reinterpret_cast<const char*>(expected.data()), length)) ++wrong_;
    }

    std::vector<std::array<Of, names>> plans_;
    std::vector<std::array<bool, names>> first_life_;
    std::array<std::uint32_t, names> next_{};
    std::array<std::atomic<std::size_t>, names> latest_{};  ///< written by read()
    std::atomic<std::size_t> acknowledged_{0};              ///< written by control
    std::uint64_t strangers_ = 0;
    std::uint64_t wrong_ = 0;
    std::uint64_t out_of_turn_ = 0;
    std::uint64_t older_ = 0;
};

/// The sums of the streams' lateness histograms.
using Lateness = std::array<std::uint64_t, LatenessBuckets::size>;

/// What the sender's own counters say when a plan comes into force.
struct Mark {
    Control::Change change;
    Lateness lateness{};
    std::array<std::uint64_t, names> slipped_before{};  ///< packets given up, at the latest then
    std::array<std::uint64_t, names> slipped_after{};   ///< at the earliest
};

class Operator {
  public:
    Operator(Control& control, Reader& reader) : control_(control), reader_(reader) {}

    void change(std::size_t plan, const config::Model& model) {
        Mark mark;
        mark.slipped_before = slipped();
        mark.lateness = lateness();
        mark.change = control_.change(model);
        for (const config::Stream& stream : model.streams) {
            for (std::size_t s = 0; s < names; ++s)
                if (stream.enabled && stream.name == name_of[s]) rows_[s] = &control_.row(stream.name);
        }
        mark.slipped_after = slipped();
        marks_.push_back(mark);
        reader_.acknowledge(plan);
    }

    /// Long enough that what the machine makes late is small beside it, and until all is seen.
    void let_run(std::size_t plan, const Mix& mix) {
        control_.wait([&] {
            const auto since = static_cast<double>(tsc_now() - marks_.back().change.adopted);
            const double late = std::min(ticks_late(marks_.back().lateness, lateness()), 0.15 * hz_);
            const bool seen = mix[bulk].sent_kpps() == 0 || reader_.plan_of(bulk) == plan;
            return seen && since > 0.02 * hz_ + 4 * late;
        });
    }

    [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }
    [[nodiscard]] Lateness lateness() const {
        Lateness out{};
        for (const worker::StreamTx* row : rows_) {
            for (std::size_t b = 0; row != nullptr && b < out.size(); ++b) out[b] += row->lateness[b].get();
        }
        return out;
    }
    /// How late the latest burst between the two was, in ticks.
    [[nodiscard]] static double ticks_late(const Lateness& from, const Lateness& to) {
        std::size_t worst = 0;
        for (std::size_t b = 0; b < to.size(); ++b)
            if (to[b] != from[b]) worst = b;
        return static_cast<double>(LatenessBuckets::upper(worst)) * static_cast<double>(tsc_hz()) / 1e9;
    }
    [[nodiscard]] std::array<std::uint64_t, names> slipped() const {
        std::array<std::uint64_t, names> out{};
        for (std::size_t s = 0; s < names; ++s)
            if (rows_[s] != nullptr) out[s] = rows_[s]->slipped_packets.get();
        return out;
    }

  private:
    Control& control_;
    Reader& reader_;
    std::array<const worker::StreamTx*, names> rows_{};
    std::vector<Mark> marks_;
    const double hz_ = static_cast<double>(tsc_hz());
};

/// Between which numbers of packets a stream's plans let it send.
struct Bounds {
    double least = 0;
    double most = 0;
};

// In due times, from change to change: each took effect between its begin and its acknowledgement, up to the
// horizon and a burst later. A lane that was late then had no more left to send than its bursts were late.
Bounds bounds_of(const std::vector<Mark>& marks, std::size_t plan, double pps, std::uint32_t burst) {
    const auto hz = static_cast<double>(tsc_hz());
    const Mark& from = marks[plan];
    const Mark& to = marks[plan + 1];
    const double late =
        Operator::ticks_late(from.lateness, marks[std::min(plan + 2, marks.size() - 1)].lateness);
    const double ahead = static_cast<double>(worker::horizon.ns) * hz / 1e9;
    const auto between = [](Tsc a, Tsc b) { return static_cast<double>(b) - static_cast<double>(a); };
    // A new stream may begin ten bursts later, so as to be apart from the others.
    const double least = between(from.change.adopted, to.change.begun) - late - ahead - 10 * burst / pps * hz;
    const double most = between(from.change.begun, to.change.adopted) + late + ahead + 2 * burst / pps * hz;
    return {least / hz * pps - burst, most / hz * pps + burst};
}

void run_at_five_mpps() {
    const unsigned rounds = std::getenv("VOLLEY_LONG") != nullptr ? 20 : sanitized() ? 1 : 2;
    const TempDir dir;
    const json config = configuration(1, false, {port("east", "net_ring0", 1)}, {});
    std::vector<Mix> mixes;
    for (unsigned r = 0; r < rounds; ++r) {
        for (const Mix& mix : one_round()) mixes.push_back(mix);
    }
    Mix silent = mixes.back();
    for (Stand& stand : silent) stand.paused = true;
    mixes.push_back(silent);

    std::vector<config::Model> models;
    Reader reader(mixes.size());
    for (std::size_t plan = 0; plan < mixes.size(); ++plan) {
        models.push_back(model_of(mixes[plan], plan, config, dir));
        std::array<bool, names> begins{};
        for (std::size_t s = 0; s < names; ++s)
            begins[s] = plan != 0 && mixes[plan][s].kpps != 0 && mixes[plan - 1][s].kpps == 0;
        reader.expect(plan, models.back(), begins);
    }

    Control control(models.front(), 1, false);
    Operator desk(control, reader);
    std::atomic<bool> done{false};
    std::thread thread([&] { reader.read(done); });
    for (std::size_t plan = 0; plan < mixes.size() && !testing::Test::HasFailure(); ++plan) {
        desk.change(plan, models[plan]);
        if (plan + 1 < mixes.size()) desk.let_run(plan, mixes[plan]);
    }
    control.wait([&] { return control.road().rings_dry(); });
    done = true;
    thread.join();
    reader.expect_no_fault();
    // What may be in the rings when a plan comes into force: the lane's bursts and the device's ring.
    EXPECT_LE(reader.most_after_change(), worker::ring_capacity * 32 + 1024 + 64);

    const double unit = sanitized() ? 25 : 1000;
    const std::vector<Mark>& marks = desk.marks();
    std::array<Bounds, names> whole{};
    std::array<std::uint64_t, names> packets{};
    std::size_t judged = 0;
    for (std::size_t plan = 0; plan + 1 < marks.size(); ++plan) {
        for (std::size_t s = 0; s < names; ++s) {
            packets[s] += reader.packets(plan, s);
            const double pps = mixes[plan][s].sent_kpps() * unit;
            const bool marked = s == bulk || s == visitor;
            if (pps == 0) {
                EXPECT_EQ(reader.packets(plan, s), 0U) << name_of[s] << " in plan " << plan;
                continue;
            }
            const Bounds bounds = bounds_of(marks, plan, pps, burst_of[s]);
            whole[s].least += bounds.least;
            whole[s].most += bounds.most;
            if (!marked) continue;
            ++judged;
            const auto sent = static_cast<double>(reader.packets(plan, s));
            const auto given_up = [&](const auto& from, const auto& to) {
                return static_cast<double>(to[s] - from[s]);
            };
            const Mark& next = marks[plan + 1];
            EXPECT_GE(sent + given_up(marks[plan].slipped_before, next.slipped_after), bounds.least)
                << name_of[s] << " in plan " << plan << " at " << pps << " pps";
            EXPECT_LE(sent + given_up(marks[plan].slipped_after, next.slipped_before), bounds.most)
                << name_of[s] << " in plan " << plan << " at " << pps << " pps";
        }
    }
    EXPECT_GE(judged, rounds * 8);
    for (const std::size_t s : {thin, steady}) {
        const auto sent = static_cast<double>(packets[s] + desk.slipped()[s]);
        EXPECT_GE(sent, whole[s].least) << name_of[s];
        EXPECT_LE(sent, whole[s].most) << name_of[s];
    }
    Tsc longest = 0;
    for (const Mark& mark : marks) longest = std::max(longest, mark.change.adopted - mark.change.begun);
    std::uint64_t all = 0;
    std::uint64_t slipped = 0;
    for (std::size_t s = 0; s < names; ++s) {
        all += packets[s];
        slipped += desk.slipped()[s];
    }
    const auto us = [](double ticks) { return ticks * 1e6 / static_cast<double>(tsc_hz()); };
    std::printf(
        "%zu changes: %llu packets read, %llu given up, the latest burst %.0f us late; at most %llu packets "
        "of "
        "the plan before after a change, which took at most %.0f us\n",
        marks.size() - 1, static_cast<unsigned long long>(all), static_cast<unsigned long long>(slipped),
        us(Operator::ticks_late(Lateness{}, desk.lateness())),
        static_cast<unsigned long long>(reader.most_after_change()), us(static_cast<double>(longest)));
    std::fflush(stdout);
}

TEST(Live, changes_while_5_mpps_are_asked_for_act_within_horizon_and_burst_and_lose_and_repeat_no_index) {
    EXPECT_TRUE(in_child(run_at_five_mpps));
}

}  // namespace
}  // namespace volley::test
