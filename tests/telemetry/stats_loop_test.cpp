#include "telemetry/stats_loop.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "telemetry/descriptor_sink.h"
#include "telemetry/example.h"
#include "telemetry/sink_fixture.h"

namespace volley::telemetry {
namespace {

using namespace std::chrono_literals;
constexpr Duration millisecond{1'000'000};
constexpr Duration hour{3'600'000'000'000};
constexpr auto patience = 30s;

/// A run whose counter the test moves. `before` is called in each collect(), on the stats thread.
class Counting : public Source {
  public:
    void collect(Totals& out) override {
        const std::uint64_t time = out.time_unix_ns;
        const std::uint64_t monotonic = out.monotonic_ns;
        if (before) before();
        out = example::totals(1, packets.load());
        out.time_unix_ns = time;
        out.monotonic_ns = monotonic;
        if (!warning.empty()) out.warnings.push_back(warning);
    }
    std::atomic<std::uint64_t> packets{0};
    std::string warning;
    std::function<void()> before;
};

/// Keeps what it is offered; the test waits for it with a deadline.
class Recorder : public Sink {
  public:
    struct Record {
        std::mutex mutex;
        std::condition_variable more;
        std::vector<std::shared_ptr<const Published>> lines;
        int reopened = 0;

        bool wait(const std::function<bool()>& condition) {
            std::unique_lock lock(mutex);
            return more.wait_until(lock, std::chrono::system_clock::now() + patience, condition);
        }
    };
    explicit Recorder(Record& record, std::string name = "recorder")
        : record_(record), name_(std::move(name)) {}
    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    void offer(const std::shared_ptr<const Published>& published) noexcept override {
        const std::lock_guard lock(record_.mutex);
        record_.lines.push_back(published);
        record_.more.notify_all();
    }
    [[nodiscard]] std::uint64_t dropped_lines() const noexcept override { return 7; }
    void reopen() noexcept override {
        const std::lock_guard lock(record_.mutex);
        ++record_.reopened;
        record_.more.notify_all();
    }

  private:
    Record& record_;
    std::string name_;
};

class StatsLoopTest : public ::testing::Test {
  protected:
    void start(Duration interval, std::vector<std::unique_ptr<Sink>> more = {},
               Duration flush_time = {1'000'000'000}) {
        more.push_back(std::make_unique<Recorder>(record));
        loop = std::make_unique<StatsLoop>(source, StatsLoop::Options{interval, 256, flush_time},
                                           std::move(more));
        thread = std::thread([this] { loop->run(); });
    }
    void TearDown() override {
        if (loop) loop->stop();
        if (thread.joinable()) thread.join();
    }

    Counting source;
    Recorder::Record record;
    std::unique_ptr<StatsLoop> loop;
    std::thread thread;
};

TEST_F(StatsLoopTest, gives_a_line_at_every_tick_numbered_without_gap) {
    start(millisecond);
    ASSERT_TRUE(record.wait([&] { return record.lines.size() >= 20; }));
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(record.lines[i]->snapshot.sequence, i);
}

TEST_F(StatsLoopTest, counts_from_the_base_line_of_the_run) {
    source.packets = 5000;
    start(hour);
    source.packets = 6000;
    const auto begun = loop->begin_run(patience);
    ASSERT_TRUE(begun);
    EXPECT_EQ(begun->snapshot.streams.at(0).tx.packets, 0U);
    EXPECT_FALSE(begun->snapshot.streams.at(0).tx.rates.pps);
    source.packets = 6001;
    EXPECT_EQ(loop->tick(patience)->snapshot.streams.at(0).tx.packets, 1U);
    source.packets = 6042;
    EXPECT_EQ(loop->report(true, patience)->snapshot.streams.at(0).tx.packets, 42U);
    source.packets = 7000;
    EXPECT_EQ(loop->begin_run(patience)->snapshot.streams.at(0).tx.packets, 0U);
}

TEST_F(StatsLoopTest, the_rates_of_a_line_are_since_the_line_before) {
    source.before = [&] { source.packets += 10; };
    start(millisecond);
    ASSERT_TRUE(record.wait([&] { return record.lines.size() >= 10; }));
    loop->stop();
    thread.join();
    for (std::size_t i = 1; i < 10; ++i) {
        const Snapshot& now = record.lines[i]->snapshot;
        const std::uint64_t elapsed = now.monotonic_ns - record.lines[i - 1]->snapshot.monotonic_ns;
        EXPECT_NEAR(now.streams.at(0).tx.rates.pps.value() * static_cast<double>(elapsed) / 1e9, 10.0, 1e-6);
    }
}

TEST_F(StatsLoopTest, a_line_is_published_before_its_reader_is_answered) {
    start(hour);
    EXPECT_FALSE(loop->latest());
    EXPECT_FALSE(loop->latest_report());
    const auto line = loop->tick(patience);
    EXPECT_EQ(loop->latest(), line);
    const auto report = loop->report(false, patience);
    EXPECT_EQ(loop->latest_report(), report);
    EXPECT_EQ(loop->latest(), line);
    EXPECT_FALSE(report->snapshot.settled);
    EXPECT_EQ(line->line.substr(0, 20), "{\"type\":\"snapshot\",\"");
    EXPECT_EQ(line->totals->monotonic_ns, line->snapshot.monotonic_ns);
}

TEST_F(StatsLoopTest, the_last_report_is_the_last_line) {
    start(millisecond);
    ASSERT_TRUE(record.wait([&] { return record.lines.size() >= 3; }));
    const auto report = loop->finish(true, patience);
    ASSERT_TRUE(report);
    thread.join();
    EXPECT_EQ(record.lines.back(), report);
    EXPECT_TRUE(report->snapshot.report);
    EXPECT_TRUE(report->snapshot.settled);
    EXPECT_FALSE(loop->tick(1ms));
}

TEST_F(StatsLoopTest, late_ticks_are_left_out_not_bunched) {
    constexpr std::uint64_t interval = 10'000'000;
    std::atomic<int> calls{0};
    source.before = [&] {
        if (++calls != 4) return;
        const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(10 * interval);
        while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    };
    start({interval});
    ASSERT_TRUE(record.wait([&] { return record.lines.size() >= 16; }));
    loop->stop();
    thread.join();
    // Each tick takes at least one deadline of its own, wherever they lie; 2 for the edges, 1 for a
    // pre-emption.
    for (std::size_t i = 0; i < record.lines.size(); ++i) {
        for (std::size_t j = i + 1; j < record.lines.size(); ++j) {
            const std::uint64_t apart =
                record.lines[j]->snapshot.monotonic_ns - record.lines[i]->snapshot.monotonic_ns;
            ASSERT_LE(j - i, apart / interval + 3) << "lines " << i << " and " << j;
        }
    }
}

TEST_F(StatsLoopTest, a_source_that_hangs_costs_control_its_patience_only) {
    std::mutex mutex;
    std::unique_lock hold(mutex);
    std::atomic<int> calls{0};
    source.before = [&] {
        if (++calls == 2) const std::lock_guard wait(mutex);
    };
    start(hour);
    EXPECT_FALSE(loop->begin_run(20ms));
    hold.unlock();
    EXPECT_TRUE(loop->tick(patience));
}

TEST_F(StatsLoopTest, a_tick_that_fails_is_told_by_the_next_line) {
    std::atomic<int> calls{0};
    source.before = [&] {
        if (++calls == 2) throw std::runtime_error("the port is gone");
    };
    start(hour);
    EXPECT_FALSE(loop->tick(patience));
    const auto next = loop->tick(patience);
    ASSERT_EQ(next->snapshot.warnings.size(), 1U);
    EXPECT_NE(next->snapshot.warnings[0].find("the port is gone"), std::string::npos);
    EXPECT_TRUE(loop->tick(patience)->snapshot.warnings.empty());
}

TEST_F(StatsLoopTest, reopens_its_sinks_on_request) {
    start(hour);
    loop->reopen();
    EXPECT_TRUE(record.wait([&] { return record.reopened == 1; }));
}

TEST_F(StatsLoopTest, every_line_tells_what_each_sink_has_dropped) {
    start(hour);
    const auto line = loop->tick(patience);
    EXPECT_NE(line->line.find(R"("publishers":{"recorder":{"dropped_lines":7}})"), std::string::npos)
        << line->line;
}

TEST_F(StatsLoopTest, any_number_of_readers_see_whole_lines_while_it_ticks) {
    start(millisecond);
    ASSERT_TRUE(loop->begin_run(patience));
    std::atomic<bool> over{false};
    std::vector<std::thread> readers;
    readers.reserve(4);
    for (int i = 0; i < 4; ++i) {
        readers.emplace_back([&] {
            std::uint64_t last = 0;
            while (!over) {
                const auto line = loop->latest();
                EXPECT_EQ(line->line.back(), '\n');
                EXPECT_GE(line->snapshot.sequence, last);
                last = line->snapshot.sequence;
            }
        });
    }
    EXPECT_TRUE(record.wait([&] { return record.lines.size() >= 50; }));
    over = true;
    for (std::thread& reader : readers) reader.join();
}

TEST_F(StatsLoopTest, the_mean_of_the_run_is_sampled_at_its_ticks) {
    source.before = [&] { source.packets += 10; };
    start(millisecond);
    const auto begun = loop->begin_run(patience);
    ASSERT_TRUE(begun);
    ASSERT_TRUE(
        record.wait([&] { return record.lines.back()->snapshot.sequence >= begun->snapshot.sequence + 10; }));
    const auto report = loop->report(true, patience);
    const RateSamples rate = report->snapshot.streams.at(0).achieved.value();
    EXPECT_GE(rate.samples, 8U);
    EXPECT_GT(rate.mean.value(), 0);
    EXPECT_TRUE(rate.stddev);
    const auto again = loop->begin_run(patience);
    const auto second = loop->report(true, patience);
    EXPECT_LT(second->snapshot.streams.at(0).achieved->samples,
              second->snapshot.sequence - again->snapshot.sequence + 1);
}

// A pipe with a report in it that is longer than the pipe.
class LaggingReader : public StatsLoopTest {
  protected:
    void finish(Duration flush_time) {
        int ends[2];
        ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        reader.reset(ends[0]);
        writer.reset(ends[1]);
        std::vector<std::unique_ptr<Sink>> sinks;
        sinks.push_back(
            std::make_unique<DescriptorSink>("stdout", writer.get(), DescriptorSink::Content::json));
        source.warning.assign(400'000, 'w');
        start(hour, std::move(sinks), flush_time);
        report = loop->finish(true, patience);
        ASSERT_TRUE(report);
    }
    Fd reader;
    Fd writer;
    StatsLoop::Line report;
};

TEST_F(LaggingReader, gets_the_whole_report_after_the_end) {
    finish({60'000'000'000});
    std::string text;
    while (text.empty() || text.back() != '\n') {
        pollfd readable{reader.get(), POLLIN, 0};
        ASSERT_EQ(::poll(&readable, 1, 30'000), 1);
        text += testing::drain(reader.get());
    }
    EXPECT_EQ(text, report->line);
    thread.join();
}

TEST_F(LaggingReader, that_never_reads_holds_the_end_for_the_flush_time_only) {
    finish({20'000'000});
    thread.join();
    EXPECT_LT(testing::drain(reader.get()).size(), report->line.size());
}

TEST_F(StatsLoopTest, needs_an_interval_and_sinks_of_different_names) {
    EXPECT_THROW(StatsLoop(source, StatsLoop::Options{.interval = {0}}, {}), std::invalid_argument);
    std::vector<std::unique_ptr<Sink>> sinks;
    sinks.push_back(std::make_unique<Recorder>(record));
    sinks.push_back(std::make_unique<Recorder>(record));
    EXPECT_THROW(StatsLoop(source, {}, std::move(sinks)), std::invalid_argument);
}

TEST_F(StatsLoopTest, reads_registers_often_enough_whatever_the_interval_and_at_once_when_asked) {
    struct Registers : Counting {
        void refresh() override { ++refreshes; }
        std::atomic<int> refreshes{0};
    };
    for (const bool asked : {false, true}) {
        Registers registers;
        StatsLoop reading(registers, {.interval = hour, .refresh_interval = asked ? hour : millisecond}, {});
        std::thread stats([&] { reading.run(); });
        const auto deadline = std::chrono::steady_clock::now() + patience;
        while (registers.refreshes < 3 && std::chrono::steady_clock::now() < deadline) {
            if (asked) reading.refresh();
            std::this_thread::yield();
        }
        EXPECT_GE(registers.refreshes, 3);
        reading.stop();
        stats.join();
    }
}

TEST_F(StatsLoopTest, can_be_stopped_before_it_runs) {
    StatsLoop idle(source, {}, {});
    idle.stop();
    idle.run();
}

}  // namespace
}  // namespace volley::telemetry
