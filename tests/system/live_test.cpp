#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "config/load.h"
#include "system/live_control.h"
#include "system/ring_reader.h"

namespace volley::test {
namespace {

std::string pps(unsigned hundreds) {
    return std::to_string((sanitized() ? 1 : 5) * hundreds) + "00pps";
}

/// The streams as an operator's commands leave them.
struct Desk {
    std::array<unsigned, 3> rate{100, 300, 200};
    std::array<bool, 3> paused{};
    bool long_packets = false;
    bool visitor = false;

    [[nodiscard]] config::Model model(json config, const TempDir& dir) const {
        json streams = json::array();
        if (visitor) streams.push_back(indexed("visitor", "10.0.0.9", 8, 200));
        streams.push_back(indexed("one", "10.0.0.1", 1, long_packets ? 256 : 64));
        streams.push_back(indexed("many", "10.0.0.2", 32, {{"increment", {{"from", 64}, {"to", 1518}}}}));
        streams.push_back(indexed("auto", "10.0.0.3", "auto", 590));
        const std::size_t first = visitor ? 1 : 0;
        if (visitor) streams[0]["rate"] = "10kpps";
        for (std::size_t i = 0; i < 3; ++i) streams[first + i]["rate"] = pps(rate[i]);
        config["streams"] = std::move(streams);
        config::Model out = config::load(dir.write("desk.json", config.dump()));
        for (std::size_t i = 0; i < 3; ++i) out.streams[first + i].paused = paused[i];
        return out;
    }
    /// The next command: one of rate, pause or resume, add or remove, replace packet.
    void turn(std::mt19937_64& random) {
        const std::size_t i = random() % 3;
        switch (random() % 4) {
            case 0:
                rate[i] = 50 + static_cast<unsigned>(random() % 500);
                break;
            case 1:
                paused[i] = !paused[i];
                break;
            case 2:
                visitor = !visitor;
                break;
            default:
                long_packets = !long_packets;
        }
    }
};

void run_with_changes(bool dispatch) {
    // VOLLEY_LONG asks for the whole thousand.
    const unsigned changes = std::getenv("VOLLEY_LONG") != nullptr ? 1000 : sanitized() ? 50 : 150;
    const TempDir dir;
    json config = configuration(2, dispatch, {port("east", "net_ring0", 2)}, {});
    Desk desk;
    std::mt19937_64 random(7);
    config::Model model = desk.model(config, dir);
    RingReader reader;
    desk.long_packets = desk.visitor = true;
    reader.expect(model);
    reader.expect(desk.model(config, dir));
    reader.reserve(std::size_t{1} << 24U);
    desk = {};
    Control control(model, 2, dispatch);
    std::atomic<bool> done{false};
    std::thread thread([&] { reader.read(done); });
    control.change(model);
    std::size_t memory = 0;
    for (unsigned round = 1; round <= changes && !testing::Test::HasFailure(); ++round) {
        // Only while packets come, so that every change finds the lanes at work.
        const std::uint32_t before = reader.highest();
        desk.turn(random);
        model = desk.model(config, dir);
        const bool silent = round % 50 == 0;
        for (config::Stream& stream : model.streams) stream.paused = stream.paused || silent;
        control.change(model);
        const bool all_paused = !desk.visitor && desk.paused == std::array{true, true, true};
        if (silent) {
            // Nothing leaves of what was not in the rings already, and that fell due within the horizon.
            const std::uint64_t emitted = control.emitted();
            control.wait([&] { return control.road().rings_dry(); });
            EXPECT_EQ(control.emitted(), emitted);
        } else if (!all_paused && round % 8 == 0) {
            desk.paused[0] = false;
            control.change(desk.model(config, dir));
            control.wait([&] { return reader.highest() > before; });
        }
        if (round == changes / 10) memory = mallinfo2().uordblks;
    }
    const std::size_t grown = mallinfo2().uordblks;
    if (!sanitized()) {
        EXPECT_LT(grown, memory + 128U * 1024) << "memory is not flat";
    }
    desk = {};
    model = desk.model(config, dir);
    // Beyond what any lane can have reached by then.
    const std::uint64_t count = reader.highest() + 200'000;
    for (config::Stream& stream : model.streams) {
        stream.count = count;
        std::string why;
        stream.rate = parse_rate(sanitized() ? "40kpps" : "300kpps", why);
    }
    control.change(model);
    control.wait([&] { return control.road().emission_over() && control.road().rings_dry(); });
    done = true;
    thread.join();
    reader.expect_each_once(count);
}

TEST(Live, changes_under_load_of_two_dispatched_lanes_lose_no_index_send_none_twice_and_take_no_memory) {
    EXPECT_TRUE(in_child([] { run_with_changes(true); }));
}

TEST(Live, changes_under_load_of_two_inline_lanes_lose_no_index_send_none_twice_and_take_no_memory) {
    EXPECT_TRUE(in_child([] { run_with_changes(false); }));
}

}  // namespace
}  // namespace volley::test
