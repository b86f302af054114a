#include <fcntl.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>

#include "config/load.h"
#include "daemon/daemon.h"
#include "daemon/signals.h"
#include "support/json_lines.h"
#include "system/ring_reader.h"
#include "system/volleyd.h"

namespace volley::test {
namespace {

/// Log lines that say so, and those that say that something is wrong.
class Counting : public spdlog::sinks::base_sink<std::mutex> {
  public:
    std::atomic<unsigned> reloads{0};
    std::atomic<unsigned> complaints{0};

  protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        const std::string_view text(message.payload.data(), message.payload.size());
        if (text.starts_with("reload: done")) ++reloads;
        if (message.level >= spdlog::level::warn) {
            ++complaints;
            std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
        }
    }
    void flush_() override {}
};

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
    RingReader receiver;
    receiver.expect(model);
    std::uint64_t count = 0;
    int status = -1;
    {
        daemon::Daemon daemon({file, {}, dir.file("report"), false}, model);
        std::atomic<bool> done{false};
        std::thread reader([&] { receiver.read(done); });
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
