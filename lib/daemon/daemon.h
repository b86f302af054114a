#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/model.h"
#include "daemon/captures.h"
#include "daemon/collector.h"
#include "daemon/evidence_files.h"
#include "daemon/life_cycle.h"
#include "daemon/limiters.h"
#include "daemon/links.h"
#include "daemon/next_hops.h"
#include "daemon/plans.h"
#include "daemon/receivers.h"
#include "daemon/road.h"
#include "daemon/signals.h"
#include "daemon/steering.h"
#include "daemon/stream_book.h"
#include "daemon/systemd.h"
#include "dpdk/eal.h"
#include "telemetry/rte_commands.h"
#include "telemetry/stats_loop.h"
#include "traffic/stream_table.h"

namespace volley::daemon {

struct Options {
    std::string config_file;
    std::vector<std::string> sets;  ///< "/json/pointer=value", applied at every (re)load
    std::string report_file;        ///< empty: stdout only
    bool live = false;              ///< the live line on stderr
    std::string version{};          ///< of the program, for metrics and the control interface
};

/// A stop came while a large capture was looked through for what was asked before.
class StopAsked : public std::runtime_error {
  public:
    StopAsked() : std::runtime_error("a stop came before its captures were looked through") {}
};

/// The process: control's own thread of action. Members stand in the order in which they are built, from the
/// EAL on; they go in reverse. Throws dpdk::Error, config::Error and StopAsked while coming up, nothing
/// later.
class Daemon {
  public:
    /// A member of a request's body and the object of the configuration that it goes into.
    struct Edit {
        std::string at;     ///< pointer to that object
        std::string key;    ///< of the member, in both
        std::string value;  ///< JSON
    };

    Daemon(Options options, config::Model model);
    ~Daemon();
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    /// From ports up to the last report. Returns the exit code: 0; 1 when an expectation was not met, 2 when
    /// only a rate fell short; 75 when packets were left unsent.
    int run();

  private:
    using Clock = std::chrono::steady_clock;

    void inspect_host();
    void launch_stats();
    void stop_stats() noexcept;
    void enter(State state);
    void fire(Event event);
    void tell();

    void begin_run();
    bool find_next_hops(config::Model& model);
    bool put_off_signals(std::chrono::milliseconds patience);
    void rest();
    [[nodiscard]] bool same_files() const;
    [[nodiscard]] bool stop_waits() const { return stop_put_off_ || steering_->stop_waits(); }
    [[nodiscard]] bool run_is_over() const;
    void take_signals(std::chrono::milliseconds patience);
    void wait_for_links();
    void watch_links();
    void tell_systemd();
    void set_end(const config::Run& run);
    void on_signal(int signal);
    void watch();
    void watch_run();
    void watch_drain();
    void begin_drain();
    void begin_settling();
    void finish_run();
    void write_report(const std::string& line);

    // Commands of the control interface; see run_control.cpp.
    void obey();
    service::Outcome execute(const service::Command& command);
    service::Outcome start(const service::Command& command);
    service::Outcome stop_run();
    service::Outcome clear();
    void capture(service::Mailbox::Letter letter);
    void add_situation(service::Outcome& outcome) const;
    service::Outcome change_streams(const service::Command& command);
    service::Outcome adopt_configuration(const std::function<config::Model()>& read,
                                         const std::function<void(config::Model&)>& edit = {});
    config::Model edited(const std::vector<Edit>& edits) const;

    service::Outcome reload();
    [[nodiscard]] config::Model load_again() const;
    std::optional<std::string> wait_for_idle_plan();
    bool replace_plan(config::Model fresh);
    bool adopt(std::unique_ptr<traffic::Plan> plan, const config::Model& model, bool begins_run);
    bool wait_for_receivers();
    int judge(const telemetry::Snapshot& report) const;
    void tell_corrupted();
    void gather_evidence();
    void gather_captures();
    void finish_evidence();
    void note_silence();
    void watch_files();
    std::unique_ptr<traffic::Plan> compile(const config::Model& model, std::uint64_t generation,
                                           const traffic::Plan* previous, std::uint16_t salt);
    service::Outcome refuse_reload(service::Outcome::Verdict verdict, const std::string& code,
                                   const std::string& why);
    service::Outcome reload_done(const std::string& what);

    Options options_;
    config::Model model_;
    dpdk::Eal eal_;
    Signals signals_;
    Receivers receivers_;  ///< before the road, whose workers read its tables
    Road road_;
    std::unique_ptr<EvidenceFiles> evidence_files_;  ///< before what its packets lie in goes; none: not kept
    Links links_;
    Limiters limiters_;
    NextHops next_hops_;
    traffic::StreamTable table_;
    Plans plans_;
    StreamBook book_;
    Collector collector_;
    std::unique_ptr<telemetry::StatsLoop> stats_;
    bool stats_launched_ = false;
    std::unique_ptr<Steering> steering_;
    std::unique_ptr<Captures> captures_;  ///< answer to those that steering listens to
    std::unique_ptr<telemetry::RteCommands> rte_commands_;
    Systemd systemd_;
    Clock::time_point next_status_;
    std::atomic<bool> stats_ended_{false};  ///< written by the stats lcore as its last act, read by control

    State state_ = State::starting;
    Situation situation_;
    std::uint64_t generation_ = 0;
    std::uint16_t salt_ = 0;  ///< of the run's signatures
    TscClock clock_;
    Tsc epoch_ = 0;               ///< the run's schedule zero
    Tsc end_ = ~Tsc{0};           ///< of the run, by duration
    std::uint64_t epoch_ns_ = 0;  ///< the same instants on CLOCK_MONOTONIC
    std::uint64_t end_ns_ = ~std::uint64_t{0};
    Clock::time_point deadline_;   ///< of the state at hand
    Clock::time_point next_look_;  ///< at the links
    bool exit_after_ = true;
    bool stop_asked_ = false;
    std::optional<int> stop_put_off_;  ///< a signal that came within a request
    bool reload_put_off_ = false;      ///< the same
    bool hurry_ = false;               ///< a second stop: no more waits
    bool dry_ = false;                 ///< the run ended with nothing unsent
    int exit_code_ = 0;
    std::optional<std::string> reload_warning_;
    std::vector<std::string> host_warnings_;     ///< of the start
    std::uint64_t sent_before_ = 0;              ///< packets of all streams before the run
    std::optional<std::string> file_warning_;    ///< a capture cannot be read any more while it is sent
    std::optional<std::string> silence_;         ///< what the run that ended says of having sent nothing
    std::optional<config::Run> configured_run_;  ///< what "run" says, while a run has settings of its own
};

}  // namespace volley::daemon
