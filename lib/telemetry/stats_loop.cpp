#include "telemetry/stats_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <future>
#include <mutex>
#include <set>
#include <stdexcept>
#include <system_error>

#include "base/clock.h"
#include "base/fd.h"
#include "telemetry/render.h"
#include "telemetry/report.h"

namespace volley::telemetry {
namespace {

constexpr std::uint64_t nanoseconds = 1'000'000'000;
constexpr std::uint64_t flush_limit = 10;  // flush_times in all, for readers that take a little now and then

timespec timespec_of(std::uint64_t ns) noexcept {
    return {static_cast<time_t>(ns / nanoseconds), static_cast<long>(ns % nanoseconds)};
}

Fd checked(int fd, const char* what) {
    if (fd < 0) throw std::system_error(errno, std::system_category(), what);
    return Fd(fd);
}

enum class Kind : std::uint8_t { tick, begin_run, clear, report, finish };

struct Request {
    Kind kind;
    bool settled;
    std::promise<StatsLoop::Line> done;
};

// What the epoll says woke it: the sinks are numbered from 0.
constexpr std::uint64_t timer_id = ~std::uint64_t{0};
constexpr std::uint64_t command_id = timer_id - 1;

}  // namespace

struct StatsLoop::Implementation {
    Implementation(Source& from, const Options& with, std::vector<std::unique_ptr<Sink>> to);

    // Any thread.
    Line ask(Kind kind, bool settled, std::chrono::milliseconds patience);
    void wake() const noexcept;
    void stop() noexcept;

    // The stats lcore.
    void run() noexcept;
    void take_commands() noexcept;
    Line obey(Kind kind, bool settled) noexcept;
    std::shared_ptr<const Totals> collect();
    Line publish(std::shared_ptr<const Totals> totals, Snapshot snapshot);
    void start_ticks() noexcept;
    bool wait(int timeout_ms) noexcept;  // true when a reader took something
    void flush_sinks() noexcept;
    void refresh() noexcept;

    Source& source;
    const Options options;
    const std::vector<std::unique_ptr<Sink>> sinks;
    const Fd epoll;
    const Fd timer;
    const Fd commands;

    // Written by any thread, read by the stats lcore; wake() follows each write.
    std::atomic<bool> stopping{false};
    std::atomic<bool> reopening{false};
    std::atomic<bool> refreshing{false};
    std::mutex mutex;  // guards requests; never held while anything is collected
    std::vector<Request> requests;

    // Written by the stats lcore, read by any thread.
    Latest latest;
    Latest latest_report;

    // The stats lcore alone.
    std::shared_ptr<const Totals> base = std::make_shared<Totals>();  // of the run: the report counts from it
    std::shared_ptr<const Totals> shown = base;  // of the lines: the same, or the last clear()
    std::shared_ptr<const Totals> previous = base;
    RateHistory history;
    std::uint64_t sequence = 0;
    std::uint64_t refreshed_ns = 0;
    std::string failure;  // of the last tick, told by the next line
};

StatsLoop::Implementation::Implementation(Source& from, const Options& with,
                                          std::vector<std::unique_ptr<Sink>> to)
    : source(from),
      options(with),
      sinks(std::move(to)),
      epoll(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll for telemetry")),
      timer(checked(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timer for telemetry")),
      commands(checked(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd for telemetry")) {
    if (options.interval.ns == 0) throw std::invalid_argument("\"telemetry.interval\" must be more than 0");
    const auto watch = [this](int fd, std::uint64_t id) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = id;
        if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
            throw std::system_error(errno, std::system_category(), "epoll for telemetry");
        }
    };
    watch(timer.get(), timer_id);
    watch(commands.get(), command_id);
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < sinks.size(); ++i) {
        if (!names.insert(sinks[i]->name()).second) {
            throw std::invalid_argument("two telemetry sinks are named " + std::string(sinks[i]->name()));
        }
        if (sinks[i]->poll_fd() >= 0) watch(sinks[i]->poll_fd(), i);
    }
}

StatsLoop::Line StatsLoop::Implementation::ask(Kind kind, bool settled, std::chrono::milliseconds patience) {
    std::promise<Line> promise;
    std::future<Line> answer = promise.get_future();
    {
        const std::lock_guard lock(mutex);
        requests.push_back({kind, settled, std::move(promise)});
    }
    wake();
    if (answer.wait_for(patience) != std::future_status::ready) return nullptr;
    return answer.get();
}

void StatsLoop::Implementation::wake() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(commands.get(), &one, sizeof(one));
}

void StatsLoop::Implementation::stop() noexcept {
    stopping.store(true, std::memory_order_release);
    wake();
}

void StatsLoop::Implementation::run() noexcept {
    try {
        base = shown = previous = collect();
    } catch (const std::exception& e) {
        failure = e.what();
    }
    start_ticks();
    while (!stopping.load(std::memory_order_acquire)) {
        const std::uint64_t age = clock_ns(CLOCK_MONOTONIC) - refreshed_ns;
        if (age >= options.refresh_interval.ns) {
            refresh();
        } else {
            wait(static_cast<int>((options.refresh_interval.ns - age) / 1'000'000 + 1));
        }
    }
    take_commands();
    flush_sinks();
}

// Absolute deadlines in the kernel's timer: the time that a tick takes moves none of the later ones.
void StatsLoop::Implementation::start_ticks() noexcept {
    itimerspec spec{};
    spec.it_value = timespec_of(clock_ns(CLOCK_MONOTONIC) + options.interval.ns);
    spec.it_interval = timespec_of(options.interval.ns);
    ::timerfd_settime(timer.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

bool StatsLoop::Implementation::wait(int timeout_ms) noexcept {
    std::array<epoll_event, 16> events;
    const int n = ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
    bool taken = false;
    for (int i = 0; i < n; ++i) {
        const std::uint64_t id = events[static_cast<std::size_t>(i)].data.u64;
        std::uint64_t count = 0;
        if (id < sinks.size()) {
            sinks[id]->ready();
            taken = true;
        } else if (id == command_id) {
            if (::read(commands.get(), &count, sizeof(count)) > 0) take_commands();
        } else if (::read(timer.get(), &count, sizeof(count)) > 0 &&
                   !stopping.load(std::memory_order_acquire)) {
            // However many deadlines have passed, one tick tells all there is to tell.
            const Line line = obey(Kind::tick, false);
            if (!line) continue;
            history.sample(*previous, *line->totals);
            previous = line->totals;
        }
    }
    return taken;
}

void StatsLoop::Implementation::refresh() noexcept {
    refreshed_ns = clock_ns(CLOCK_MONOTONIC);
    try {
        source.refresh();
    } catch (const std::exception& e) {
        failure = e.what();
    }
}

void StatsLoop::Implementation::take_commands() noexcept {
    if (refreshing.exchange(false, std::memory_order_acquire)) refresh();
    if (reopening.exchange(false, std::memory_order_acquire)) {
        for (const auto& sink : sinks) sink->reopen();
    }
    std::vector<Request> waiting;
    {
        const std::lock_guard lock(mutex);
        waiting.swap(requests);
    }
    for (Request& request : waiting) {
        const bool over = stopping.load(std::memory_order_acquire);
        request.done.set_value(over ? nullptr : obey(request.kind, request.settled));
    }
}

StatsLoop::Line StatsLoop::Implementation::obey(Kind kind, bool settled) noexcept {
    try {
        std::shared_ptr<const Totals> now = collect();
        if (kind == Kind::report || kind == Kind::finish) {
            if (kind == Kind::finish) stop();
            return publish(now, make_report(*base, *now, history, settled));
        }
        if (kind == Kind::begin_run) {
            base = shown = previous = now;
            history.reset();
            start_ticks();
        }
        if (kind == Kind::clear) shown = now;
        return publish(now, make_snapshot(*shown, *previous, *now, options.streams_in_full));
    } catch (const std::exception& e) {
        failure = e.what();
        return nullptr;
    }
}

std::shared_ptr<const Totals> StatsLoop::Implementation::collect() {
    auto totals = std::make_shared<Totals>();
    totals->time_unix_ns = clock_ns(CLOCK_REALTIME);
    totals->monotonic_ns = clock_ns(CLOCK_MONOTONIC);
    refreshed_ns = totals->monotonic_ns;
    source.collect(*totals);
    if (!failure.empty()) totals->warnings.push_back("a telemetry tick failed: " + failure);
    return totals;
}

StatsLoop::Line StatsLoop::Implementation::publish(std::shared_ptr<const Totals> totals, Snapshot snapshot) {
    snapshot.sequence = sequence++;
    for (const auto& sink : sinks) {
        snapshot.publishers.push_back({std::string(sink->name()), sink->dropped_lines()});
    }
    const auto published = std::make_shared<Published>();
    published->totals = std::move(totals);
    published->base = snapshot.report ? base : shown;
    published->previous = snapshot.report ? base : previous;
    published->line = render_json(snapshot);
    published->metrics =
        render_prometheus(*published->totals, snapshot.publishers, options.streams_in_full, options.metrics);
    published->live = render_live(snapshot);
    published->snapshot = std::move(snapshot);
    Line line = published;
    (line->snapshot.report ? latest_report : latest).store(line);
    for (const auto& sink : sinks) sink->offer(line);
    failure.clear();
    return line;
}

// A reader that still takes something is waited for, one that takes nothing is not: 5 MB of report through a
// pipe of 64 KiB need many turns, and a stopped dashboard must not hold the end.
void StatsLoop::Implementation::flush_sinks() noexcept {
    const std::uint64_t start = clock_ns(CLOCK_MONOTONIC);
    std::uint64_t last_progress = start;
    const auto pending = [](const auto& sink) { return sink->pending(); };
    while (std::any_of(sinks.begin(), sinks.end(), pending)) {
        const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
        const std::uint64_t deadline =
            std::min(last_progress + options.flush_time.ns, start + flush_limit * options.flush_time.ns);
        if (now >= deadline) return;
        const auto timeout =
            static_cast<int>(std::min<std::uint64_t>((deadline - now) / 1'000'000 + 1, 1000));
        if (wait(timeout)) last_progress = clock_ns(CLOCK_MONOTONIC);
    }
}

StatsLoop::StatsLoop(Source& source, const Options& options, std::vector<std::unique_ptr<Sink>> sinks)
    : implementation_(std::make_unique<Implementation>(source, options, std::move(sinks))) {}

StatsLoop::~StatsLoop() = default;

void StatsLoop::run() noexcept {
    implementation_->run();
}

StatsLoop::Line StatsLoop::begin_run(std::chrono::milliseconds patience) {
    return implementation_->ask(Kind::begin_run, false, patience);
}

StatsLoop::Line StatsLoop::tick(std::chrono::milliseconds patience) {
    return implementation_->ask(Kind::tick, false, patience);
}

StatsLoop::Line StatsLoop::clear(std::chrono::milliseconds patience) {
    return implementation_->ask(Kind::clear, false, patience);
}

StatsLoop::Line StatsLoop::report(bool settled, std::chrono::milliseconds patience) {
    return implementation_->ask(Kind::report, settled, patience);
}

StatsLoop::Line StatsLoop::finish(bool settled, std::chrono::milliseconds patience) {
    return implementation_->ask(Kind::finish, settled, patience);
}

void StatsLoop::reopen() {
    implementation_->reopening.store(true, std::memory_order_release);
    implementation_->wake();
}

void StatsLoop::refresh() {
    implementation_->refreshing.store(true, std::memory_order_release);
    implementation_->wake();
}

void StatsLoop::stop() {
    implementation_->stop();
}

StatsLoop::Line StatsLoop::latest() const {
    return implementation_->latest.load();
}

StatsLoop::Line StatsLoop::latest_report() const {
    return implementation_->latest_report.load();
}

}  // namespace volley::telemetry
