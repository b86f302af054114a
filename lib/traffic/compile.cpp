#include "traffic/compile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "traffic/phases.h"
#include "traffic/rates.h"

namespace volley::traffic {
namespace {

std::string quoted(std::string_view text) {
    return '"' + std::string(text) + '"';
}

std::string gigabits(double bps) {
    return speed_text(static_cast<std::uint64_t>(std::llround(bps)));
}

/// One compilation: its steps in order, each reading what the earlier ones wrote.
class Compilation {
  public:
    Compilation(const config::Model& model, const Inputs& inputs, StreamTable& table, const Plan* previous)
        : model_(model),
          inputs_(inputs),
          table_(table),
          previous_(previous),
          plan_(std::make_unique<Plan>()) {
        plan_->generation = inputs.generation;
        plan_->epoch = inputs.epoch;
        plan_->end = inputs.end;
    }

    std::variant<std::unique_ptr<Plan>, std::vector<Problem>> run() {
        take_streams();
        set_rates();
        if (problems_.empty()) set_amounts();
        if (!problems_.empty()) return std::move(problems_);
        carry();
        set_phases();
        make_lanes();
        return std::move(plan_);
    }

  private:
    void problem(std::string pointer, std::string text) {
        problems_.push_back({std::move(pointer), std::move(text)});
    }

    [[nodiscard]] std::uint64_t link_of(std::size_t port) const {
        const std::uint64_t real = inputs_.ports[port].link_bps;
        return real != 0 ? real : model_.ports[port].speed_bps.value_or(0);
    }

    void take_streams();
    void build_packet(const config::Stream& from, StreamPlan& stream);
    void set_workers(const config::Stream& from, StreamPlan& stream);
    void set_rates();
    void set_rates_of_port(std::uint32_t port, Rational multiplier);
    void check_total(std::uint32_t port, const std::vector<std::size_t>& members);
    void set_amounts();
    void set_burst(const config::Stream& from, StreamPlan& stream);
    const StreamPlan* before(const std::string& name) const;
    void carry();
    void set_phases();
    void make_lanes();

    const config::Model& model_;
    const Inputs& inputs_;
    StreamTable& table_;
    const Plan* previous_;
    std::unique_ptr<Plan> plan_;
    std::vector<const config::Stream*> from_;  ///< of each plan stream
    std::unordered_map<std::string_view, const StreamPlan*> before_;
    std::vector<Problem> problems_;
};

void Compilation::take_streams() {
    if (previous_ != nullptr) {
        for (const StreamPlan& stream : previous_->streams) before_.emplace(stream.name, &stream);
    }
    const std::set<std::string> paused(inputs_.paused.begin(), inputs_.paused.end());
    for (const config::Stream& from : model_.streams) {
        if (!from.enabled) continue;
        const auto port = std::find_if(model_.ports.begin(), model_.ports.end(),
                                       [&](const config::Port& p) { return p.name == from.port; });
        if (port == model_.ports.end()) {
            problem(from.pointer + "/port", "no port is named " + quoted(from.port));
            continue;
        }
        StreamPlan stream;
        stream.name = from.name;
        stream.port = static_cast<std::uint32_t>(port - model_.ports.begin());
        stream.paused = paused.contains(from.name);
        stream.weight = from.weight;
        stream.start_delay = from.start_delay;
        stream.duration = from.duration.value_or(Duration{0});
        set_workers(from, stream);
        build_packet(from, stream);
        plan_->streams.push_back(std::move(stream));
        from_.push_back(&from);
    }
}

void Compilation::set_workers(const config::Stream& from, StreamPlan& stream) {
    const std::uint32_t workers = inputs_.ports[stream.port].workers;
    if (workers == 0 || workers > max_lanes) {
        problem(from.pointer + "/port", "port " + quoted(from.port) + " has " + std::to_string(workers) +
                                            " workers to send with: give it 1 to " +
                                            std::to_string(max_lanes) + " lcores in tx.lcores");
        return;
    }
    stream.workers = from.workers;
    if (from.workers.empty()) {
        stream.workers.resize(workers);
        std::iota(stream.workers.begin(), stream.workers.end(), 0U);
    }
    std::sort(stream.workers.begin(), stream.workers.end());
    stream.workers.erase(std::unique(stream.workers.begin(), stream.workers.end()), stream.workers.end());
    if (stream.workers.back() >= workers) {
        problem(from.pointer + "/workers", "worker " + std::to_string(stream.workers.back()) + " of port " +
                                               quoted(from.port) + " does not exist: it has workers 0 to " +
                                               std::to_string(workers - 1));
    }
}

void Compilation::build_packet(const config::Stream& from, StreamPlan& stream) {
    const std::optional<packet::Value> mac =
        inputs_.ports[stream.port].mac ? inputs_.ports[stream.port].mac : model_.ports[stream.port].mac;
    auto built = packet::build(from.packet, mac);
    if (auto* problems = std::get_if<std::vector<packet::Problem>>(&built)) {
        for (packet::Problem& found : *problems) {
            problem(from.pointer + "/packet" + found.pointer, std::move(found.text));
        }
        stream.mean_l2_bytes = {0, 1};
        return;
    }
    stream.packet = std::move(std::get<0>(built));
    stream.mean_l2_bytes = stream.packet->mean_l2_bytes();
}

void Compilation::set_rates() {
    const auto multiplier = decimal(inputs_.multiplier.value_or(model_.run.multiplier));
    if (!multiplier) problem("/run/multiplier", "the multiplier is a decimal from 0 on, such as 0.5");
    for (std::uint32_t port = 0; port < model_.ports.size(); ++port) {
        set_rates_of_port(port, multiplier.value_or(Rational{1, 1}));
    }
}

void Compilation::set_rates_of_port(std::uint32_t port, Rational multiplier) {
    std::vector<std::size_t> members;
    std::vector<Demand> demands;
    for (std::size_t i = 0; i < from_.size(); ++i) {
        const StreamPlan& stream = plan_->streams[i];
        if (stream.port != port || stream.packet == nullptr) continue;
        members.push_back(i);
        demands.push_back({from_[i]->rate, from_[i]->weight, stream.mean_l2_bytes, from_[i]->scale});
    }
    const config::Port& settings = model_.ports[port];
    const std::vector<Granted> granted = grant(demands, settings.rate, link_of(port), multiplier);
    bool port_told = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
        StreamPlan& stream = plan_->streams[members[i]];
        const config::Stream& from = *from_[members[i]];
        stream.max = granted[i].max;
        stream.pps = granted[i].pps.value_or(Rational{0, 1});
        if (granted[i].max || granted[i].pps) continue;
        if (!from.rate && !settings.rate) {
            problem(from.pointer + "/rate",
                    "neither the stream nor its port " + quoted(settings.name) + " has a rate");
        } else if (from.rate || !std::exchange(port_told, true)) {
            const std::string place = from.rate ? from.pointer : settings.pointer;
            problem(place + "/rate", quoted(to_text(from.rate ? *from.rate : *settings.rate)) +
                                         " needs the speed of the link, and that of port " +
                                         quoted(settings.name) +
                                         " is unknown: give the port \"speed\", or the rate in pps or bps");
        }
    }
    if (!settings.oversubscribe && link_of(port) != 0) check_total(port, members);
}

void Compilation::check_total(std::uint32_t port, const std::vector<std::size_t>& members) {
    double total = 0;
    std::vector<std::pair<double, const StreamPlan*>> parts;
    for (const std::size_t i : members) {
        const StreamPlan& stream = plan_->streams[i];
        if (stream.max) continue;
        parts.emplace_back(l1_bps(stream.pps, stream.mean_l2_bytes), &stream);
        total += parts.back().first;
    }
    const auto link = static_cast<double>(link_of(port));
    if (total <= link * (1 + 1e-9)) return;
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string most;
    for (std::size_t i = 0; i < std::min<std::size_t>(parts.size(), 3); ++i) {
        most += (i == 0 ? "" : ", ") + parts[i].second->name + ' ' + gigabits(parts[i].first);
    }
    if (parts.size() > 3) most += ", and " + std::to_string(parts.size() - 3) + " more";
    problem(model_.ports[port].pointer, "the streams of port " + quoted(model_.ports[port].name) +
                                            " ask for " + gigabits(total) +
                                            " on the wire (L1) and its link carries " + gigabits(link) +
                                            " (" + most + "): lower a rate, or say \"oversubscribe\": true");
}

const StreamPlan* Compilation::before(const std::string& name) const {
    const auto found = before_.find(name);
    return found == before_.end() ? nullptr : found->second;
}

// The most packets from index 0 on whose bytes, with FCS as in frame_size, stay within `bytes`.
std::uint64_t packets_within(const packet::PacketTemplate& packet, std::uint64_t bytes) {
    if (packet.fixed_length() != 0) return bytes / (packet.fixed_length() + fcs_bytes);
    std::uint64_t index = 0;
    std::array<std::uint16_t, packet::max_burst> lengths{};
    for (;;) {
        packet.lengths(index, packet::max_burst, lengths.data());
        for (const std::uint16_t length : lengths) {
            if (length + fcs_bytes > bytes) return index;
            bytes -= length + fcs_bytes;
            ++index;
        }
    }
}

void Compilation::set_amounts() {
    for (std::size_t i = 0; i < from_.size(); ++i) {
        const config::Stream& from = *from_[i];
        StreamPlan& stream = plan_->streams[i];
        stream.count = from.count.value_or(endless);
        if (from.bytes) stream.count = std::min(stream.count, packets_within(*stream.packet, *from.bytes));
        if (from.count == 0U)
            problem(from.pointer + "/count",
                    "0 packets: leave count out for an endless stream, or set enabled to false");
        if (from.duration == Duration{0})
            problem(from.pointer + "/duration", "a duration of 0: leave it out, or set enabled to false");
        set_burst(from, stream);
        if (stream.max || stream.pps.num == 0) continue;
        const Ticks step = span_of(interval_of(stream.pps, inputs_.tsc_hz),
                                   std::uint64_t{stream.burst} * stream.workers.size());
        if (step.whole >= longest_step) {
            problem(from.pointer + "/rate",
                    "the rate is so low that a burst comes less than once in ten years");
        }
    }
}

void Compilation::set_burst(const config::Stream& from, StreamPlan& stream) {
    if (from.burst) {
        stream.burst = *from.burst;
        if (stream.burst == 0 || stream.burst > packet::max_burst) {
            problem(from.pointer + "/burst",
                    "a burst has 1 to " + std::to_string(packet::max_burst) + " packets");
            stream.burst = 1;
        }
        return;
    }
    stream.burst_auto = true;
    const StreamPlan* was = before(stream.name);
    if (was != nullptr && was->burst_auto && was->workers == stream.workers && stream.workers.size() > 1) {
        stream.burst = was->burst;
        return;
    }
    const bool timed = !stream.max && stream.duration.ns != 0;
    const std::uint64_t packets = timed ? packets_in(stream.duration, stream.pps) : endless;
    stream.burst = automatic_burst(stream.max, stream.pps, std::min(stream.count, packets));
}

void Compilation::carry() {
    for (StreamPlan& stream : plan_->streams) {
        stream.slot = table_.slot(stream.name);
        const StreamPlan* was = before(stream.name);
        const bool same_burst =
            was != nullptr && (was->burst == stream.burst ||
                               (stream.burst_auto && was->burst_auto && stream.workers.size() == 1));
        stream.carried = same_burst && was->port == stream.port && was->workers == stream.workers;
        if (stream.carried) {
            stream.epoch = was->epoch;
            const Tsc zero = was->start - ticks_of(was->start_delay, inputs_.tsc_hz);
            stream.start = zero + ticks_of(stream.start_delay, inputs_.tsc_hz);
        } else {
            stream.epoch = table_.next_epoch(stream.slot);
            stream.start =
                std::max(inputs_.epoch, inputs_.not_before) + ticks_of(stream.start_delay, inputs_.tsc_hz);
        }
    }
}

void Compilation::set_phases() {
    for (std::uint32_t port = 0; port < model_.ports.size(); ++port) {
        std::vector<StreamPlan*> members;
        std::vector<PhaseSeat> seats;
        for (StreamPlan& stream : plan_->streams) {
            if (stream.port != port || stream.max || stream.pps.num == 0) continue;
            members.push_back(&stream);
            PhaseSeat seat{interval_of(stream.pps, inputs_.tsc_hz),
                           stream.burst,
                           stream.start,
                           stream.start_delay.ns,
                           false,
                           0};
            const StreamPlan* was = stream.carried ? before(stream.name) : nullptr;
            seat.kept = was != nullptr && was->pps == stream.pps && was->burst == stream.burst && !was->max &&
                        was->start == stream.start;
            if (seat.kept) seat.phase = was->phase;
            seats.push_back(seat);
        }
        assign_phases(seats);
        for (std::size_t i = 0; i < seats.size(); ++i) members[i]->phase = seats[i].phase;
    }
}

LaneStream lane_stream(const StreamPlan& stream, std::size_t lane, std::uint64_t tsc_hz) {
    const auto lanes = static_cast<std::uint32_t>(stream.workers.size());
    LaneStream out;
    out.packet = stream.packet.get();
    out.slot = stream.slot;
    out.max = stream.max;
    out.paused = stream.paused;
    out.pps = stream.pps;
    out.burst = stream.burst;
    out.lanes = lanes;
    out.first = (static_cast<std::uint32_t>(lane) + lanes - stream.slot.value % lanes) % lanes;
    out.count = stream.count;
    out.duration = stream.duration;
    if (stream.duration.ns != 0) {
        out.duration_packets = stream.max ? endless : packets_in(stream.duration, stream.pps);
        out.stop = stream.start + ticks_of(stream.duration, tsc_hz);
    }
    out.start = stream.start;
    out.phase = stream.phase;
    out.weight = stream.weight;
    return out;
}

void Compilation::make_lanes() {
    // Where each stream stands in the lanes of the previous plan: lanes list their streams in plan order.
    std::unordered_map<std::string_view, std::vector<std::uint32_t>> places;
    if (previous_ != nullptr) {
        std::vector<std::vector<std::uint32_t>> filled(previous_->lanes.size());
        for (const StreamPlan& stream : previous_->streams) {
            std::vector<std::uint32_t>& of_port = filled[stream.port];
            of_port.resize(previous_->lanes[stream.port].size());
            for (const std::uint32_t worker : stream.workers)
                places[stream.name].push_back(of_port[worker]++);
        }
    }
    std::vector<std::vector<std::vector<LaneStream>>> lanes(model_.ports.size());
    for (std::size_t port = 0; port < lanes.size(); ++port) lanes[port].resize(inputs_.ports[port].workers);
    for (const StreamPlan& stream : plan_->streams) {
        for (std::size_t lane = 0; lane < stream.workers.size(); ++lane) {
            LaneStream spec = lane_stream(stream, lane, inputs_.tsc_hz);
            if (stream.carried) spec.previous = places[stream.name][lane];
            lanes[stream.port][stream.workers[lane]].push_back(spec);
        }
    }
    plan_->lanes.resize(lanes.size());
    for (std::size_t port = 0; port < lanes.size(); ++port) {
        for (const std::vector<LaneStream>& of_worker : lanes[port]) {
            plan_->lanes[port].push_back(
                std::make_unique<LaneSchedule>(of_worker, plan_->end, inputs_.tsc_hz));
        }
    }
}

}  // namespace

std::variant<std::unique_ptr<Plan>, std::vector<Problem>> compile(const config::Model& model,
                                                                  const Inputs& inputs, StreamTable& table,
                                                                  const Plan* previous) {
    return Compilation(model, inputs, table, previous).run();
}

void begin_at(Plan& plan, Tsc epoch) {
    const Tsc later = epoch - plan.epoch;  // modulo 2^64: earlier too
    plan.epoch = epoch;
    if (plan.end != ~Tsc{0}) plan.end += later;
    for (StreamPlan& stream : plan.streams) stream.start += later;
    for (const auto& port : plan.lanes) {
        for (const auto& lane : port) lane->shift(later);
    }
}

}  // namespace volley::traffic
