#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <thread>

#include "config/load.h"
#include "daemon/daemon.h"
#include "daemon/signals.h"
#include "packet/template.h"
#include "support/json_lines.h"
#include "system/volleyd.h"
#include "worker/tsan.h"

namespace volley::test {
namespace {

/// The EAL comes up once in a process, so each run has a child of its own. True when nothing failed in it.
bool in_child(const std::function<void()>& body) {
    const pid_t pid = fork();
    if (pid == 0) {
        try {
            body();
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
        std::exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    return waitpid(pid, &status, 0) == pid && status == 0;
}

/// Log lines that say so, and those that say that something is wrong.
class Counting : public spdlog::sinks::base_sink<std::mutex> {
  public:
    std::atomic<unsigned> reloads{0};
    std::atomic<unsigned> complaints{0};

  protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        const std::string_view text(message.payload.data(), message.payload.size());
        if (text.starts_with("reload done")) ++reloads;
        if (message.level >= spdlog::level::warn) {
            ++complaints;
            std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
        }
    }
    void flush_() override {}
};

/// A stream whose packet index stands in ipv4.src and whose name follows from ipv4.dst.
json indexed(const std::string& name, const std::string& dst, const json& burst, const json& size) {
    return {
        {"name", name},
        {"port", "east"},
        {"burst", burst},
        {"packet",
         {{"frame_size", size},
          {"headers",
           {{{"eth", {{"src", "02:00:00:00:00:01"}}}},
            {{"ipv4",
              {{"src", {{"increment", {{"from", "0.0.0.0"}, {"to", "255.255.255.255"}}}}}, {"dst", dst}}}},
            {{"udp", {{"src", {{"random", {{"from", 1}, {"to", 65535}, {"seed", 4}}}}}, {"dst", 9}}}}}}}}};
}

json streams_at(unsigned round) {
    // Up and down by a factor of up to 4, all different at a time.
    const unsigned unit = sanitized() ? 3 : 15;
    const auto rate = [&](unsigned base) {
        return std::to_string(base * unit * (1 + round * base % 4)) + "00pps";
    };
    json streams = json::array();
    if (round % 3 == 1) streams.push_back(indexed("visitor", "10.0.0.9", 8, 200));
    streams.push_back(indexed("one", "10.0.0.1", 1, 64));
    streams.push_back(indexed("many", "10.0.0.2", 32, {{"increment", {{"from", 64}, {"to", 1518}}}}));
    streams.push_back(indexed("auto", "10.0.0.3", "auto", 590));
    for (unsigned i = 0; i < streams.size(); ++i) streams[i]["rate"] = rate(i + 1);
    return streams;
}

std::uint32_t word(const char* bytes) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return __builtin_bswap32(value);
}

/// What came out of the rings of one port, checked as it comes: every byte is the template's, and the indices
/// of each stream go up in each queue.
class Receiver {
  public:
    explicit Receiver(const config::Model& model) {
        for (const config::Stream& stream : model.streams) {
            auto built = packet::build(stream.packet);
            auto& made = std::get<0>(built);
            std::array<std::uint8_t, packet::max_frame> frame{};
            made->write(0, frame.data());
            seen_[word(reinterpret_cast<const char*>(frame.data()) + 30)] = {
                stream.name, std::move(made), {}, {}};
        }
    }

    void take(unsigned queue, const rte_mbuf* mbuf) {
        const std::string_view bytes(rte_pktmbuf_mtod(mbuf, const char*), mbuf->data_len);
        const std::uint32_t index = word(bytes.data() + 26);
        const auto found = seen_.find(word(bytes.data() + 30));
        if (found == seen_.end() || mbuf->nb_segs != 1 || mbuf->pkt_len != mbuf->data_len) {
            ++strangers_;
            return;
        }
        Stream& stream = found->second;
        std::array<std::uint8_t, packet::max_frame> expected{};
        const std::uint16_t length = stream.made->write(index, expected.data());
        if (bytes != std::string_view(reinterpret_cast<const char*>(expected.data()), length)) ++wrong_;
        if (stream.name == "visitor") return;  // comes and goes: each time a new life from index 0
        if (index < stream.next[queue]) ++backwards_;
        stream.next[queue] = index + 1;
        if (index >= stream.count.size()) stream.count.resize(index + 1 + index / 2);
        ++stream.count[index];
        highest_ = std::max<std::uint32_t>(highest_.load(), index);
    }
    [[nodiscard]] std::uint32_t highest() const { return highest_; }

    void expect_each_once(std::uint64_t count) const {
        EXPECT_EQ(strangers_, 0U);
        EXPECT_EQ(wrong_, 0U) << "packets differ from what their index says";
        EXPECT_EQ(backwards_, 0U) << "packets came after a later one in the same queue";
        for (const auto& [dst, stream] : seen_) {
            if (stream.name == "visitor") continue;
            SCOPED_TRACE(stream.name);
            std::uint64_t lost = 0;
            std::uint64_t twice = 0;
            std::uint64_t beyond = 0;
            for (std::uint64_t i = 0; i < stream.count.size(); ++i) {
                lost += i < count && stream.count[i] == 0 ? 1 : 0;
                twice += stream.count[i] > 1 ? 1 : 0;
                beyond += i >= count ? stream.count[i] : 0U;
            }
            EXPECT_GE(stream.count.size(), count);
            EXPECT_EQ(lost, 0U);
            EXPECT_EQ(twice, 0U);
            EXPECT_EQ(beyond, 0U);
        }
    }

  private:
    struct Stream {
        std::string name;
        std::unique_ptr<const packet::PacketTemplate> made;
        std::array<std::uint32_t, 2> next{};
        std::vector<std::uint8_t> count;  ///< by index
    };
    std::map<std::uint32_t, Stream> seen_;  ///< by ipv4.dst
    std::uint64_t strangers_ = 0;
    std::uint64_t wrong_ = 0;
    std::uint64_t backwards_ = 0;
    std::atomic<std::uint32_t> highest_{0};
};

/// Empties the rings that net_ring0 sends into until `done` and nothing is left.
void read_rings(Receiver& receiver, const std::atomic<bool>& done) {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (unsigned cpu = 0; cpu < std::thread::hardware_concurrency(); ++cpu) CPU_SET(cpu, &all);
    pthread_setaffinity_np(pthread_self(), sizeof all, &all);
    std::array<rte_ring*, 2> rings{rte_ring_lookup("ETH_RXTX0_net_ring0"),
                                   rte_ring_lookup("ETH_RXTX1_net_ring0")};
    std::array<void*, 32> burst{};
    for (bool last = false;;) {
        bool any = false;
        for (unsigned queue = 0; queue < 2; ++queue) {
            const unsigned n = rte_ring_sc_dequeue_burst(rings[queue], burst.data(), burst.size(), nullptr);
            any = any || n != 0;
            worker::tsan_acquire_mbufs();
            for (unsigned i = 0; i < n; ++i) receiver.take(queue, static_cast<rte_mbuf*>(burst[i]));
            worker::tsan_release_mbufs();
            for (unsigned i = 0; i < n; ++i) rte_pktmbuf_free(static_cast<rte_mbuf*>(burst[i]));
        }
        if (last && !any) return;
        last = done.load() && !any;
        if (!any) std::this_thread::yield();
    }
}

void run_with_reloads(bool dispatch) {
    constexpr unsigned reloads = 100;
    const TempDir dir;
    setenv("RUNTIME_DIRECTORY", dir.path().c_str(), 1);
    const auto log = std::make_shared<Counting>();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", log));
    const std::string lines = dir.file("lines");
    const int out = open(lines.c_str(), O_CREAT | O_WRONLY, 0600);
    const int terminal = dup(STDOUT_FILENO);
    dup2(out, STDOUT_FILENO);

    daemon::block_signals();
    json config = configuration(2, dispatch, {port("east", "net_ring0", 2)}, streams_at(1));
    const std::string file = dir.write("volley.json", config.dump());
    const config::Model model = config::load(file);
    Receiver receiver(model);
    std::uint64_t count = 0;
    int status = -1;
    {
        daemon::Daemon daemon({file, {}, dir.file("report"), false}, model);
        std::atomic<bool> done{false};
        std::thread reader([&] { read_rings(receiver, done); });
        std::thread operator_([&] {
            // Each as soon as the one before is done, and only while packets come.
            const auto patient = [&](const std::function<bool()>& condition) {
                const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
                while (!condition() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
                return condition();
            };
            bool going = patient([&] { return receiver.highest() > 100; });
            for (unsigned round = 2; going && round <= reloads; ++round) {
                const std::uint32_t before = receiver.highest();
                config["streams"] = streams_at(round);
                dir.write("volley.json", config.dump());
                kill(getpid(), SIGHUP);
                going = patient([&] { return log->reloads >= round - 1 && receiver.highest() > before; });
            }
            EXPECT_TRUE(going) << "after " << log->reloads << " reloads";
            // The last one tells where to end, beyond what any lane can have reached by then.
            count = receiver.highest() + 200'000;
            config["streams"] = streams_at(0);
            for (json& stream : config["streams"]) {
                stream["count"] = count;
                stream["rate"] = sanitized() ? "40kpps" : "200kpps";
            }
            dir.write("volley.json", config.dump());
            kill(getpid(), SIGHUP);
            EXPECT_TRUE(patient([&] { return log->reloads >= reloads; }));
        });
        status = daemon.run();
        operator_.join();
        done = true;
        reader.join();
    }
    dup2(terminal, STDOUT_FILENO);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(log->complaints, 0U);
    receiver.expect_each_once(count);
    const json report = parse_json(read_file(dir.file("report")));
    expect_consistent(report);
    EXPECT_EQ(report.at("generation"), reloads + 1);
    for (const char* name : {"one", "many", "auto"}) {
        EXPECT_EQ(named(report.at("streams"), name).at("tx").at("packets"), count) << name;
    }
}

TEST(Ring, gets_each_index_once_and_byte_for_byte_over_a_hundred_reloads_of_two_dispatched_lanes) {
    EXPECT_TRUE(in_child([] { run_with_reloads(true); }));
}

TEST(Ring, gets_each_index_once_and_byte_for_byte_over_a_hundred_reloads_of_two_inline_lanes) {
    EXPECT_TRUE(in_child([] { run_with_reloads(false); }));
}

}  // namespace
}  // namespace volley::test
