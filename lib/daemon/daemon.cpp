#include "daemon/daemon.h"

#include <rte_version.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "config/load.h"
#include "daemon/sinks.h"
#include "dpdk/error.h"
#include "packet/signature.h"
#include "port/host.h"
#include "telemetry/file_sink.h"
#include "traffic/compile.h"
#include "traffic/pace.h"
#include "traffic/source.h"

namespace volley::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds control_tick{5};
constexpr milliseconds drain_tick{1};
constexpr std::chrono::seconds status_tick{1};
constexpr milliseconds link_tick{10};    // while links are waited for
constexpr milliseconds link_watch{100};  // later
constexpr milliseconds answer_tick{2};   // while next hops are asked for
constexpr std::chrono::seconds drain_patience{5};
constexpr std::chrono::seconds adopt_patience{5};
constexpr std::chrono::seconds idle_plan_patience{1};
constexpr std::chrono::seconds stats_patience{5};
constexpr std::chrono::seconds stop_patience{2};
constexpr std::chrono::seconds evidence_patience{2};
constexpr Duration late_end{1'000'000'000};
constexpr int exit_unmet = 1;
constexpr int exit_slow = 2;
constexpr int exit_internal = 70;
constexpr int exit_unsent = 75;
constexpr int exit_host = 78;
// Between the plan's making and its first due tick: long enough for every lane to have adopted it.
constexpr Duration lead{2'000'000};
// And for each stream of it: a lane takes 200 ns to adopt one, the book of streams as much.
constexpr Duration lead_a_stream{1'000};

Tsc ticks(Duration span) {
    return traffic::ticks_of(span, tsc_hz());
}

// The time of day at a tick of the schedule, by the clocks as they are now.
std::uint64_t unix_ns_at(Tsc tick) {
    const std::uint64_t unix_ns = clock_ns(CLOCK_REALTIME);
    const Tsc now = tsc_now();
    if (tick >= now) return unix_ns + mul_div(tick - now, 1'000'000'000, tsc_hz());
    return unix_ns - mul_div(now - tick, 1'000'000'000, tsc_hz());
}

// Pages that nobody has touched yet would make the first packets late, by 25 us on a fast machine.
void lock_memory() {
    if (mlockall(MCL_CURRENT) == 0) return;
    spdlog::info(
        "memory is not locked ({}), so first packets may be late; CAP_IPC_LOCK or a higher memlock limit "
        "allows it",
        std::generic_category().message(errno));
}

dpdk::EalOptions eal_options(const config::Model& model) {
    dpdk::EalOptions out;
    out.name = model.name;
    out.lcores = model.eal.lcores;
    out.main_lcore = model.lcores.control;
    out.lcore_ids = {model.lcores.control, model.lcores.stats};
    if (model.lcores.dispatch) out.lcore_ids.push_back(*model.lcores.dispatch);
    for (const config::Port& port : model.ports) {
        if (port.tx)
            out.lcore_ids.insert(out.lcore_ids.end(), port.tx->lcores.begin(), port.tx->lcores.end());
        if (port.rx)
            out.lcore_ids.insert(out.lcore_ids.end(), port.rx->lcores.begin(), port.rx->lcores.end());
    }
    out.huge_pages = model.eal.huge_pages;
    out.memory_mib = model.eal.memory_mib;
    out.plugins = model.eal.plugins;
    out.pci = port::pci_devices(model.ports);
    out.extra = model.eal.args;
    return out;
}

// Unique among runs of all appliances, readable, and sorted by start.
std::string new_run_id(const std::string& name) {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::random_device random;
    std::array<char, 32> start{};
    std::strftime(start.data(), start.size(), "%Y%m%dT%H%M%SZ", &utc);
    std::array<char, 16> salt{};
    std::snprintf(salt.data(), salt.size(), "%06x", random() & 0xffffffU);
    return name + "-" + start.data() + "-" + salt.data();
}

// Never that of the run before, whose packets may still be under way.
std::uint16_t new_salt(std::uint16_t last) {
    std::random_device random;
    for (;;) {
        const auto salt = static_cast<std::uint16_t>(1 + random() % 0xfffe);
        if (salt != last) return salt;
    }
}

// The buffers and the MTU must hold the longest frame before links are up and rates can be compiled.
std::vector<Road::Longest> longest_frames(const config::Model& model, const imports::Rest& rest) {
    std::vector<Road::Longest> out(model.ports.size());
    for (const config::Stream& stream : model.streams) {
        const config::Port* const port = find_port(model, stream.port);
        const auto signing = stream.is_signed() ? std::make_shared<packet::Signing>() : nullptr;
        const auto built = traffic::build_source(stream, std::nullopt, stream.workers, signing, rest);
        if (port == nullptr || built.index() != 0) continue;  // config has refused it already
        Road::Longest& longest = out[static_cast<std::size_t>(port - model.ports.data())];
        const std::uint32_t length = std::get<0>(built).packet->longest();
        if (length > longest.length || longest.stream.empty()) {
            longest.length = std::max(length, 60U);
            longest.stream = stream.name;
        }
        for (std::size_t p = 0; signing != nullptr && p < out.size(); ++p) {
            const bool arrives = stream.expect_on ? *stream.expect_on == model.ports[p].name : true;
            if (!model.ports[p].rx || !arrives || length <= out[p].received) continue;
            out[p].received = length;
            out[p].received_stream = stream.name;
        }
    }
    return out;
}

}  // namespace

Daemon::Daemon(Options options, config::Model model)
    : options_(std::move(options)),
      model_(std::move(model)),
      eal_(eal_options(model_)),
      road_(model_),
      links_(road_.ports()),
      limiters_(road_, links_),
      next_hops_(road_),
      collector_(road_, book_, links_, limiters_, receivers_) {
    situation_.state = name_of(state_);
    road_.start(longest_frames(model_, [this] {
        const auto signal = signals_.wait(milliseconds{0});
        if (signal == SIGTERM || signal == SIGINT) throw StopAsked();
    }));
    lock_memory();
    situation_.unsent.resize(model_.ports.size());
    inspect_host();
    receivers_.listen(road_);
    if (model_.evidence) {
        std::vector<std::string> ports;
        for (const config::Port& port : model_.ports) ports.push_back(port.name);
        evidence_files_ = std::make_unique<EvidenceFiles>(*model_.evidence, model_.name, std::move(ports));
        situation_.evidence = evidence_files_->totals();
    }
    launch_stats();
    try {
        steering_ = std::make_unique<Steering>(model_, options_.version, *stats_);
        captures_ = std::make_unique<Captures>();
        links_.look(clock_ns(CLOCK_MONOTONIC));
        stats_->tick(stats_patience);  // whoever asks first finds an answer
        rte_commands_ = std::make_unique<telemetry::RteCommands>(*stats_);
    } catch (...) {
        stop_stats();  // its lcore works with what goes now
        throw;
    }
}

Daemon::~Daemon() {
    captures_.reset();
    steering_.reset();
    stop_stats();
}

// Says what was found. The host is judged for real NICs only: what a virtual device costs is not its fault.
void Daemon::inspect_host() {
    std::vector<port::HostedPort> hosted;
    for (const auto& port : road_.ports()) {
        const config::Port& settings = port->settings();
        const std::size_t queues = settings.tx ? settings.tx->lcores.size() : 0;
        spdlog::info("port {}: {} by {}, transmit path {}, {} queue{}", port->name(), settings.device,
                     port->driver(), port->tx_path(), queues, queues == 1 ? "" : "s");
        if (!port::is_pci_address(settings.device)) continue;
        port::HostedPort& of = hosted.emplace_back();
        of.name = port->name();
        of.pci_address = port->pci_address();
        of.numa_node = port->socket();
        if (!settings.tx) continue;
        for (const std::uint32_t lcore : settings.tx->lcores) of.cpus.push_back(dpdk::cpu_of(LcoreId{lcore}));
    }
    host_warnings_ = port::host_warnings(hosted);
    for (const std::string& warning : host_warnings_) spdlog::warn("{}", warning);
}

void Daemon::launch_stats() {
    telemetry::StatsLoop::Options options;
    options.interval = model_.telemetry.interval;
    options.streams_in_full = model_.telemetry.streams;
    options.metrics = {options_.version, rte_version(), clock_ns(CLOCK_REALTIME)};
    tell();
    stats_ = std::make_unique<telemetry::StatsLoop>(collector_, options, make_sinks(model_, options_.live));
    dpdk::launch(
        LcoreId{model_.lcores.stats},
        [](void* argument) {
            auto* const self = static_cast<Daemon*>(argument);
            self->stats_->run();
            self->stats_ended_.store(true, std::memory_order_release);  // acquired by stop_stats()
            return 0;
        },
        this);
    stats_launched_ = true;
}

void Daemon::stop_stats() noexcept {
    if (!stats_launched_) return;
    stats_->stop();
    dpdk::wait_lcore(LcoreId{model_.lcores.stats});
    while (!stats_ended_.load(std::memory_order_acquire)) std::this_thread::yield();
    stats_launched_ = false;
}

void Daemon::tell() {
    situation_.state = name_of(state_);
    situation_.generation = generation_;
    situation_.warnings = host_warnings_;
    if (reload_warning_) situation_.warnings.push_back(*reload_warning_);
    if (file_warning_) situation_.warnings.push_back(*file_warning_);
    if (silence_) situation_.warnings.push_back(*silence_);
    collector_.tell(situation_);
}

void Daemon::enter(State state) {
    spdlog::info("{} -> {}", name_of(state_), name_of(state));
    if (state_ == State::starting) systemd_.ready();
    if (state == State::stopping) systemd_.stopping();
    state_ = state;
    tell();
}

void Daemon::fire(Event event) {
    const auto to = next(state_, event, {exit_after_});
    if (to) enter(*to);
}

std::unique_ptr<traffic::Plan> Daemon::compile(const config::Model& model, std::uint64_t generation,
                                               const traffic::Plan* previous, std::uint16_t salt) {
    traffic::Inputs input;
    for (std::size_t p = 0; p < road_.ports().size(); ++p) {
        const port::Port& port = *road_.ports()[p];
        const auto& tx = model.ports[p].tx;
        input.ports.push_back(
            {links_.view(p).speed_bps, port.mac(), static_cast<std::uint32_t>(tx ? tx->lcores.size() : 0)});
    }
    input.tsc_hz = tsc_hz();
    input.generation = generation;
    input.epoch = epoch_;
    input.not_before = previous == nullptr ? epoch_ : tsc_now() + ticks(lead);
    input.end = end_;
    input.epoch_unix_ns = unix_ns_at(epoch_);
    input.previous_model = previous == nullptr ? nullptr : &model_;
    input.salt = salt;
    input.rest = [this] { rest(); };
    auto result = traffic::compile(model, input, table_, previous);
    if (auto* problems = std::get_if<1>(&result)) {
        std::vector<config::Problem> out;
        for (const auto& problem : *problems)
            out.push_back({options_.config_file, 0, 0, problem.pointer, problem.text});
        throw config::Error(std::move(out));
    }
    auto plan = std::move(std::get<0>(result));
    for (const std::string& warning : plan->warnings) spdlog::warn("{}", warning);
    for (const traffic::StreamPlan& stream : plan->streams) {
        if (stream.packet->longest() > road_.data_room(stream.port)) {
            throw config::Error(
                {{options_.config_file, 0, 0, "/streams",
                  "stream " + stream.name + " has frames of " +
                      std::to_string(stream.packet->longest() + fcs_bytes) +
                      " bytes, more than the port's buffers hold; restart, or set tx.max_frame before"}});
        }
        if (!road_.add_row(stream.port, stream.slot)) {
            throw config::Error({{options_.config_file, 0, 0, "/streams",
                                  "more stream names than one process keeps counters for (65536); restart"}});
        }
    }
    return plan;
}

// Waits until every lane works on the plan, then retires the one before. False: a worker does not look; it is
// named in the log and the plan stays with it, for it may still take it.
bool Daemon::adopt(std::unique_ptr<traffic::Plan> plan, const config::Model& model, bool begins_run) {
    traffic::Plan* const offered = plan.get();
    // Receivers know a stream before its first packet is sent.
    if (!wait_for_receivers()) return false;
    receivers_.offer(road_, *plan, model, salt_, begins_run, clock_.ns(tsc_now()));
    if (!wait_for_receivers()) return false;
    road_.offer(offered);
    plans_.hold(std::move(plan));
    const auto deadline = Clock::now() + adopt_patience;
    std::string laggard;
    while (!road_.adopted(&laggard)) {
        if (Clock::now() >= deadline) {
            spdlog::error(
                "{} has not looked at the new plan for {} s: it hangs in its device; stop and start volleyd",
                laggard, adopt_patience.count());
            return false;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    plans_.adopted(road_);
    return true;
}

bool Daemon::wait_for_receivers() {
    const auto deadline = Clock::now() + adopt_patience;
    std::string laggard;
    while (!receivers_.adopted(road_, &laggard)) {
        if (Clock::now() >= deadline) {
            spdlog::error(
                "{} has not looked at its new table for {} s: it hangs in its device; stop and start volleyd",
                laggard, adopt_patience.count());
            return false;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
}

// The same instant on both clocks; ~0 where the run has no duration.
void Daemon::set_end(const config::Run& run) {
    end_ = run.duration ? saturating_add(epoch_, ticks(*run.duration)) : ~Tsc{0};
    end_ns_ = run.duration ? saturating_add(epoch_ns_, run.duration->ns) : ~std::uint64_t{0};
}

// What can fail comes before anything is said of the run: one that cannot be leaves no trace.
void Daemon::begin_run() {
    const std::uint16_t salt = new_salt(salt_);
    epoch_ = tsc_now();
    set_end(model_.run);
    auto plan = compile(model_, generation_ + 1, nullptr, salt);
    limiters_.hold(*plan);
    ++generation_;
    salt_ = salt;
    situation_.run_id = new_run_id(model_.name);
    situation_.run_started_ns = std::nullopt;
    situation_.run_ended_ns = std::nullopt;
    exit_after_ = model_.run.when_done == config::WhenDone::exit;
    sent_before_ = road_.sent();
    silence_.reset();
    file_warning_.reset();
    book_.begin();
    if (evidence_files_ != nullptr) evidence_files_->begin_run(situation_.run_id);
    tell();
    stats_->begin_run(stats_patience);
    // Many streams take long to compile, so the schedule's zero follows it, or every stream would be late.
    const Duration ahead{lead.ns + plan->streams.size() * lead_a_stream.ns};
    epoch_ = tsc_now() + ticks(ahead);
    epoch_ns_ = clock_ns(CLOCK_MONOTONIC) + ahead.ns;
    set_end(model_.run);
    traffic::begin_at(*plan, epoch_);
    book_.adopt(*plan, model_, epoch_ns_, end_ns_, epoch_ns_, false,
                [this](StreamSlot slot) { return road_.sent(slot); });
    situation_.run_started_ns = epoch_ns_;
    tell();
    adopt(std::move(plan), model_, true);
    limiters_.let_go(*plans_.current());
}

// Nothing is sent before every link is up; a stop ends the wait at once.
void Daemon::wait_for_links() {
    while (state_ == State::starting) {
        links_.look(clock_ns(CLOCK_MONOTONIC));
        if (links_.ready()) return;
        if (const auto signal = signals_.wait(link_tick)) on_signal(*signal);
        obey();
        tell_systemd();
    }
}

// A stop ends the wait, and so does the end of the run that a reload was for. While the process starts
// requests are answered meanwhile; later the wait is within one, so the others come after it. False: it was
// ended.
bool Daemon::find_next_hops(config::Model& model) {
    return next_hops_.resolve(model, model.run.resolve_timeout, [this] {
        tell_systemd();
        if (state_ != State::starting) {
            gather_evidence();
            return put_off_signals(answer_tick) && !stop_waits() &&
                   !(state_ == State::reloading && run_is_over());
        }
        if (const auto signal = signals_.wait(answer_tick)) on_signal(*signal);
        obey();
        return state_ == State::starting;
    });
}

// What a signal asks for is done when the request at hand is through, for that has changed half of what it
// would find. False: it is a stop.
bool Daemon::put_off_signals(milliseconds patience) {
    const auto signal = signals_.wait(patience);
    if (signal == SIGUSR1) {
        on_signal(*signal);
    } else if (signal == SIGHUP) {
        reload_put_off_ = true;
    } else if (signal) {
        stop_put_off_ = signal;
    }
    return !stop_put_off_;
}

// A large capture takes longer to look through than the watchdog's time, and than who stops volleyd waits.
void Daemon::rest() {
    tell_systemd();
    if (!put_off_signals(milliseconds{0})) throw StopAsked();
}

void Daemon::take_signals(milliseconds patience) {
    if (const auto stop = std::exchange(stop_put_off_, std::nullopt)) on_signal(*stop);
    if (std::exchange(reload_put_off_, false)) on_signal(SIGHUP);
    if (const auto signal = signals_.wait(patience)) on_signal(*signal);
}

void Daemon::watch_links() {
    if (Clock::now() < next_look_) return;
    next_look_ = Clock::now() + link_watch;
    links_.look(clock_ns(CLOCK_MONOTONIC));
    for (const std::size_t port : links_.take_risen()) limiters_.renew(port);
}

int Daemon::run() {
    wait_for_links();
    if (state_ != State::starting) {
        // Stopped before there was a run: nothing to report.
    } else if (model_.run.start == config::Start::automatic) {
        try {
            if (find_next_hops(model_)) {
                begin_run();
                fire(Event::started);
            }
        } catch (const StopAsked&) {
            // take_signals() finds it.
        }
    } else {
        fire(Event::started_idle);
    }
    while (state_ != State::stopping) {
        take_signals(state_ == State::draining ? drain_tick : control_tick);
        obey();
        watch();
    }
    captures_.reset();
    steering_.reset();
    stop_stats();
    if (!road_.stop_lcores(stop_patience)) {
        spdlog::critical("a worker hangs in its device and cannot be stopped: leaving without clean-up");
        std::_Exit(exit_internal);  // its memory may not be freed under it
    }
    return exit_code_;
}

void Daemon::on_signal(int signal) {
    switch (signal) {
        case SIGUSR1:
            stats_->reopen();
            break;
        case SIGHUP:
            reload();
            break;
        default:
            if (stop_asked_) {
                hurry_ = true;
                spdlog::warn("second stop: not waiting any more");
            }
            if (!stop_asked_) systemd_.stopping();
            stop_asked_ = exit_after_ = true;
            if (state_ == State::running) begin_drain();
            fire(Event::stop);
    }
}

void Daemon::tell_systemd() {
    const auto now = Clock::now();
    std::vector<std::uint64_t> heartbeats;
    for (const auto& loop : road_.loops()) heartbeats.push_back(loop->heartbeat().get());
    systemd_.watch(now, heartbeats);
    const auto line = now >= next_status_ ? stats_->latest() : nullptr;
    if (line == nullptr) return;
    next_status_ = now + status_tick;
    double pps = 0;
    double l1_bps = 0;
    for (const telemetry::PortView& port : line->snapshot.ports) {
        if (!port.tx) continue;
        pps += port.tx->traffic.rates.pps.value_or(0);
        l1_bps += port.tx->traffic.rates.l1_bps.value_or(0);
    }
    systemd_.status(fmt::format("{}: {:.0f} packets/s, {:.6f} Gbit/s on the wire, generation {}",
                                name_of(state_), pps, l1_bps / 1e9, generation_));
}

void Daemon::watch() {
    tell_systemd();
    watch_links();
    watch_files();
    gather_evidence();
    gather_captures();
    plans_.free_idle(road_);
    switch (state_) {
        case State::running:
            watch_run();
            break;
        case State::draining:
            watch_drain();
            break;
        case State::settling:
            if (hurry_ || Clock::now() >= deadline_) {
                finish_run();
                fire(Event::settled);
            }
            break;
        default:
            break;
    }
}

// A run is over when every lane has emitted all that it ever will. A lane that is late at the end of the
// duration still has its backlog to emit, and gets a moment for it; without streams only the clock can end a
// run.
bool Daemon::run_is_over() const {
    const Tsc now = tsc_now();
    const bool empty = plans_.current() == nullptr || plans_.current()->streams.empty();
    const bool emitted = !empty && road_.adopted() && road_.emission_over();
    const bool too_late = now >= end_ && (empty || now - end_ > ticks(late_end));
    return emitted || too_late;
}

void Daemon::watch_run() {
    if (!run_is_over()) return;
    begin_drain();
    fire(Event::run_over);
}

void Daemon::begin_drain() {
    const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
    situation_.run_ended_ns = std::min(now, end_ns_);
    book_.end(now);
    if (road_.adopted()) road_.offer(nullptr);
    deadline_ = Clock::now() + drain_patience;
}

void Daemon::watch_drain() {
    stats_->refresh();
    dry_ = road_.adopted() && road_.rings_dry() && road_.devices_dry();
    if (!dry_ && !hurry_ && Clock::now() < deadline_) return;
    begin_settling();
    fire(dry_ ? Event::drained : Event::deadline);
}

// Only a receiver has anything to wait for.
void Daemon::begin_settling() {
    const bool receives =
        std::any_of(model_.ports.begin(), model_.ports.end(), [](const config::Port& p) { return p.rx; });
    deadline_ = Clock::now() + std::chrono::nanoseconds(receives ? model_.run.settle_time.ns : 0);
}

// The stream stands still where its file ends, which is told once.
void Daemon::watch_files() {
    if (plans_.current() == nullptr || file_warning_) return;
    for (const traffic::StreamPlan& stream : plans_.current()->streams) {
        if (stream.feed == nullptr || file_warning_) continue;
        const std::string why = stream.feed->problem();
        if (why.empty()) continue;
        file_warning_ = "stream " + stream.name + ": " + why;
        spdlog::error("{}", *file_warning_);
        tell();
    }
}

// No error, but nobody should have to find it out from zeros.
void Daemon::note_silence() {
    if (model_.streams.empty() || road_.sent() != sent_before_) return;
    silence_ =
        "no packet was sent in this run: look at state, rate, start and enabled of its streams, at the "
        "run's duration and at the ports' links";
    spdlog::warn("{}", *silence_);
}

void Daemon::finish_run() {
    if (!dry_) {
        situation_.unsent = road_.write_off();
        exit_code_ = exit_unsent;
        spdlog::error(
            "packets were still unsent {} s after the end of traffic; look at the ports' links and at what "
            "reads "
            "from them",
            drain_patience.count());
    }
    note_silence();
    tell();
    // What still came would be in one sum and not in another.
    if (wait_for_receivers()) receivers_.hold(road_);
    wait_for_receivers();
    finish_evidence();
    // At the end of the process no tick may follow: the report is the last line.
    const auto line =
        exit_after_ ? stats_->finish(dry_, stats_patience) : stats_->report(dry_, stats_patience);
    if (!line) {
        spdlog::error("the stats lcore {} has not made the report in {} s", model_.lcores.stats,
                      stats_patience.count());
        exit_code_ = exit_internal;
    } else {
        tell_corrupted();
        if (exit_code_ == 0) exit_code_ = judge(line->snapshot);
        if (!options_.report_file.empty()) write_report(line->line);
    }
    if (!exit_after_ && wait_for_receivers()) receivers_.listen(road_);
    if (road_.adopted()) plans_.adopted(road_);
    if (configured_run_) model_.run = *configured_run_;
    configured_run_.reset();
}

// The run's first packets that were not what was sent, for whoever has to find out where they were damaged.
void Daemon::tell_corrupted() {
    for (const auto& lane : road_.receivers()) {
        const worker::Verifier& verifier = lane->worker.verifier();
        for (std::uint32_t i = 0; i < verifier.kept(); ++i) {
            const worker::CorruptedPacket& packet = verifier.kept(i);
            const std::string& name = table_.name(StreamSlot{packet.slot});
            if (packet.length != packet.expected_length) {
                spdlog::error("stream {}: packet {} came with {} bytes instead of {}", name, packet.index,
                              packet.length, packet.expected_length);
            } else if (packet.offset < worker::CorruptedPacket::most_bytes) {
                spdlog::error("stream {}: packet {} differs at byte {}: {:#04x} instead of {:#04x}", name,
                              packet.index, packet.offset, packet.bytes[packet.offset],
                              packet.expected[packet.offset]);
            }
        }
    }
}

// Hands what the receivers have found to the thread that writes it.
void Daemon::gather_evidence() {
    if (evidence_files_ == nullptr) return;
    std::uint64_t dropped = 0;
    for (std::size_t w = 0; w < road_.evidence().size(); ++w) {
        worker::Evidence& evidence = *road_.evidence()[w];
        dropped += evidence.dropped();
        while (worker::EvidenceCase* const found = evidence.take()) {
            const worker::RxLane& lane = *road_.receivers()[w];
            evidence_files_->put({found, lane.port, lane.index, table_.name(StreamSlot{found->found.slot})});
        }
    }
    telemetry::EvidenceTotals totals = evidence_files_->totals();
    totals.dropped += dropped;
    if (totals == situation_.evidence) return;
    situation_.evidence = std::move(totals);
    tell();
}

void Daemon::gather_captures() {
    const telemetry::CaptureTotals totals = captures_->totals();
    if (totals == situation_.captures) return;
    situation_.captures = totals;
    tell();
}

// After the receivers have stopped, so that the report tells of everything. A disk that hangs is not waited
// for.
void Daemon::finish_evidence() {
    if (evidence_files_ == nullptr) return;
    gather_evidence();
    if (!evidence_files_->wait_until_written(evidence_patience)) {
        spdlog::warn("evidence is still being written to {} after {} s", model_.evidence->folder,
                     evidence_patience.count());
    }
    gather_evidence();
}

// What each stream was expected to reach, told where it did not.
int Daemon::judge(const telemetry::Snapshot& report) const {
    int code = 0;
    for (const config::Stream& stream : model_.streams) {
        const auto view = std::find_if(report.streams.begin(), report.streams.end(),
                                       [&](const auto& v) { return v.name == stream.name; });
        if (!stream.enabled || view == report.streams.end()) continue;
        const std::uint64_t bad = view->rx ? view->rx->lost + view->rx->corrupted : view->tx.packets;
        if (stream.expect.loss && bad > *stream.expect.loss) {
            spdlog::error("stream {}: {} packets lost or corrupted, {} are allowed", stream.name, bad,
                          *stream.expect.loss);
            code = exit_unmet;
        }
        const double short_ppm = -view->rate_error_ppm.value_or(0);
        if (stream.expect.rate_error_ppm && short_ppm > static_cast<double>(*stream.expect.rate_error_ppm)) {
            spdlog::error("stream {}: its rate fell short by {} ppm, {} are allowed", stream.name,
                          std::llround(short_ppm), *stream.expect.rate_error_ppm);
            if (code == 0) code = exit_slow;
        }
    }
    return code;
}

void Daemon::write_report(const std::string& line) {
    try {
        telemetry::write_whole_file(options_.report_file, line);
    } catch (const std::exception& error) {
        spdlog::error("{}; the report is on stdout as the last line", error.what());
        if (exit_code_ == 0) exit_code_ = exit_host;
    }
}

// A pipe or a device in the file's place would hold control up for as long as it likes.
config::Model Daemon::load_again() const {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(options_.config_file, ignored))
        throw config::FileError("cannot read " + options_.config_file + " again: it is no regular file");
    return config::load(options_.config_file, options_.sets);
}

// Certificates and tokens are replaced in place by whoever looks after the machine, so they are read too.
service::Outcome Daemon::reload() {
    std::function<void()> use_secrets;
    service::Outcome out = adopt_configuration([&] {
        config::Model model = load_again();
        use_secrets = steering_->read_secrets_again();
        return model;
    });
    if (out.verdict == service::Outcome::Verdict::done) use_secrets();
    return out;
}

// Reloads may come faster than a port sends what the plans before have emitted, which is no reason to refuse
// one. Names the port that has not done so in time.
std::optional<std::string> Daemon::wait_for_idle_plan() {
    const auto deadline = Clock::now() + idle_plan_patience;
    for (;;) {
        plans_.free_idle(road_);
        auto holder = plans_.held_by(road_);
        if (!holder || Clock::now() >= deadline) return holder;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

// Captures and packet files are read for every plan, so what has been put in their place counts.
bool Daemon::same_files() const {
    return state_ == State::idle || plans_.current() == nullptr ||
           !traffic::has_other_files(*plans_.current());
}

bool Daemon::replace_plan(config::Model fresh) {
    if (state_ == State::idle) {
        model_ = std::move(fresh);  // the next run takes it
        return true;
    }
    std::string laggard;
    if (!road_.adopted(&laggard)) {
        reload_warning_ = "last reload refused: " + laggard + " has not adopted the plan before";
        return false;
    }
    if (const auto holder = wait_for_idle_plan()) {
        reload_warning_ = "last reload refused: port " + *holder +
                          " has not sent what earlier plans emitted; wait for it, or restart";
        return false;
    }
    if (!find_next_hops(fresh)) {
        reload_warning_ = std::string("last reload refused: ") +
                          (stop_waits() ? "a stop came" : "the run ended") +
                          " before its next hops were known";
        return false;
    }
    const Tsc old_end = end_;
    const std::uint64_t old_end_ns = end_ns_;
    set_end(fresh.run);
    const auto keep_end = [&] {
        end_ = old_end;
        end_ns_ = old_end_ns;
    };
    std::unique_ptr<traffic::Plan> plan;
    try {
        plan = compile(fresh, generation_ + 1, plans_.current(), salt_);
        limiters_.hold(*plan);
    } catch (const dpdk::Error& error) {
        keep_end();
        reload_warning_ = std::string("last reload refused: ") + error.what();
        return false;
    } catch (...) {
        keep_end();
        throw;
    }
    const traffic::Plan& adopted_plan = *plan;
    const bool done = adopt(std::move(plan), fresh, false);
    limiters_.let_go(adopted_plan);
    model_ = std::move(fresh);
    exit_after_ = stop_asked_ || model_.run.when_done == config::WhenDone::exit;
    ++generation_;
    book_.adopt(adopted_plan, model_, epoch_ns_, end_ns_, clock_ns(CLOCK_MONOTONIC), true,
                [this](StreamSlot slot) { return road_.sent(slot); });
    if (!done) reload_warning_ = "the last reload has not reached every worker; see the log";
    return done;
}

}  // namespace volley::daemon
