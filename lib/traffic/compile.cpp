#include "traffic/compile.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "traffic/compilation.h"
#include "traffic/source.h"

namespace volley::traffic {

std::string quoted(std::string_view text) {
    return '"' + std::string(text) + '"';
}

Compilation::Compilation(const config::Model& model, const Inputs& inputs, StreamTable& table,
                         const Plan* previous)
    : model_(model), inputs_(inputs), table_(table), previous_(previous), plan_(std::make_unique<Plan>()) {
    plan_->generation = inputs.generation;
    plan_->epoch = inputs.epoch;
    plan_->tsc_hz = inputs.tsc_hz;
    plan_->end = inputs.end;
}

std::variant<std::unique_ptr<Plan>, std::vector<Problem>> Compilation::run() {
    take_streams();
    set_rates();
    if (problems_.empty()) {
        link_chains();
        set_counts();
        set_shapes();
        for (std::uint32_t port = 0; port < model_.ports.size(); ++port) check_total(port);
    }
    if (!problems_.empty()) return std::move(problems_);
    carry();
    keep_routes();
    set_phases();
    make_lanes();
    return std::move(plan_);
}

std::uint64_t Compilation::link_of(std::size_t port) const {
    const std::uint64_t real = inputs_.ports[port].link_bps;
    return real != 0 ? real : model_.ports[port].speed_bps.value_or(0);
}

bool Compilation::has_latency(const std::string& port) const {
    return std::any_of(model_.streams.begin(), model_.streams.end(), [&](const config::Stream& stream) {
        return stream.enabled && stream.latency && stream.workers.empty() && stream.port == port;
    });
}

const StreamPlan* Compilation::before(const std::string& name) const {
    const auto found = before_.find(name);
    return found == before_.end() ? nullptr : found->second;
}

void Compilation::take_streams() {
    if (previous_ != nullptr) {
        for (const StreamPlan& stream : previous_->streams) before_.emplace(stream.name, &stream);
        if (inputs_.previous_model != nullptr) {
            for (const config::Stream& from : inputs_.previous_model->streams)
                models_before_.emplace(from.name, &from);
        }
    }
    for (const config::Stream& from : model_.streams) {
        if (!from.enabled) continue;
        const config::Port* const port = find_port(model_, from.port);
        if (port == nullptr) {
            problem(from.pointer + "/port", "no port is named " + quoted(from.port));
            continue;
        }
        StreamPlan stream;
        stream.name = from.name;
        stream.port = static_cast<std::uint32_t>(port - model_.ports.data());
        stream.paused = from.paused;
        stream.weight = from.weight;
        stream.start_delay = from.start_delay;
        stream.duration = from.duration.value_or(Duration{0});
        stream.departure = static_cast<Departure>(from.departure);
        stream.jitter = from.jitter;
        stream.hardware = from.hardware_pacing;
        set_workers(from, stream);
        build_packet(from, stream);
        plan_->streams.push_back(std::move(stream));
        from_.push_back(&from);
        rates_.emplace_back();
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
        // What measures latency does not queue behind the load, where the port has a queue to spare.
        const bool spare = workers > 1 && has_latency(from.port);
        stream.workers.resize(spare ? workers - 1 : workers);
        std::iota(stream.workers.begin(), stream.workers.end(), 0U);
        if (from.latency) stream.workers = {workers - 1};
    }
    std::sort(stream.workers.begin(), stream.workers.end());
    stream.workers.erase(std::unique(stream.workers.begin(), stream.workers.end()), stream.workers.end());
    if (stream.workers.back() >= workers) {
        problem(from.pointer + "/workers", "worker " + std::to_string(stream.workers.back()) + " of port " +
                                               quoted(from.port) + " does not exist: it has workers 0 to " +
                                               std::to_string(workers - 1));
    }
}

// The template of the plan before, if nothing that it is made of has changed. Buffers that hold it stay good.
std::shared_ptr<const packet::PacketTemplate> Compilation::unchanged_packet(
    const config::Stream& from) const {
    const StreamPlan* was = before(from.name);
    const auto model = models_before_.find(from.name);
    if (was == nullptr || model == models_before_.end()) return nullptr;
    const bool file = from.source.pcap || from.source.trafgen;  // which may have changed
    // What is signed says which life of the stream it belongs to.
    const bool of_a_life = from.is_signed() || was->signing != nullptr;
    const bool same = !file && !of_a_life && model->second->port == from.port &&
                      model->second->packet == from.packet && model->second->source == from.source;
    return same ? was->packet : nullptr;
}

void Compilation::build_packet(const config::Stream& from, StreamPlan& stream) {
    const std::optional<packet::Value> mac =
        inputs_.ports[stream.port].mac ? inputs_.ports[stream.port].mac : model_.ports[stream.port].mac;
    if (from.source.pcap) stream.file = from.source.pcap->file;
    if (from.source.trafgen) stream.file = *from.source.trafgen;
    if (!stream.file.empty()) stream.file_was = identify(stream.file);
    if (go_on_feeding(from, stream)) return;
    stream.packet = unchanged_packet(from);
    if (stream.packet != nullptr) {
        stream.mean_l2_bytes = stream.packet->mean_l2_bytes();
        return;
    }
    if (from.is_signed()) {
        stream.signing = std::make_shared<packet::Signing>();
        stream.signing->salt = inputs_.salt;
        stream.signing->closes_batch = from.latency;
    }
    auto built = build_source(from, mac, stream.workers, stream.signing, inputs_.rest);
    if (auto* problems = std::get_if<std::vector<packet::Problem>>(&built)) {
        for (packet::Problem& found : *problems) {
            problem(from.pointer + "/packet" + found.pointer, std::move(found.text));
        }
        stream.mean_l2_bytes = {0, 1};
        return;
    }
    auto& source = std::get<Source>(built);
    const std::string reason = too_long(model_.ports[stream.port], *source.packet);
    if (!reason.empty()) problem(from.pointer + "/packet", reason);
    if (std::string unsent = unsent_cpus(from, model_.ports[stream.port], source); !unsent.empty())
        source.warnings.push_back(std::move(unsent));
    for (std::string& warning : source.warnings) plan_->warnings.push_back(std::move(warning));
    source_packets_.emplace(from.name, source.packets);
    stream.feed = std::move(source.feed);
    if (stream.feed != nullptr) stream.feed->start();
    if (from.is_recorded()) set_recording(from, stream, source);
    stream.packet = std::move(source.packet);
    stream.mean_l2_bytes = stream.packet->mean_l2_bytes();
}

// A file that is read while it is sent cannot be read from the middle: as long as it is the same, and sent as
// before but for its speed, the thread that reads it goes on for the next plan.
bool Compilation::go_on_feeding(const config::Stream& from, StreamPlan& stream) {
    const StreamPlan* was = before(from.name);
    const auto model = models_before_.find(from.name);
    if (was == nullptr || was->feed == nullptr || model == models_before_.end() || !from.is_recorded())
        return false;
    config::PacketSource played = from.source;
    played.pcap->speed = model->second->source.pcap->speed;
    const bool same = model->second->source == played && model->second->packet.pad == from.packet.pad &&
                      was->port == stream.port && was->workers == stream.workers && !from.is_signed() &&
                      same_receiver(from, false) && was->feed->same_file();
    if (!same) return false;
    stream.feed = was->feed;
    stream.packet = was->packet;
    stream.mean_l2_bytes = stream.packet->mean_l2_bytes();
    source_packets_.emplace(from.name, stream.feed->surveyed().packets);
    set_recording(from, stream, {});
    return true;
}

// The multiplier of the run is one of speed here.
void Compilation::set_recording(const config::Stream& from, StreamPlan& stream, const Source& source) const {
    constexpr double fastest = 1e9;  // a thousand times as fast as recorded
    const double factor = from.scale ? inputs_.multiplier.value_or(model_.run.multiplier) : 1.0;
    const double speed = from.source.pcap->speed * factor * static_cast<double>(Recording::original_speed);
    const auto millionths = static_cast<std::uint64_t>(std::llround(std::clamp(speed, 0.0, fastest)));
    if (millionths == 0) stream.paused = true;
    const auto lanes = static_cast<std::uint32_t>(stream.workers.size());
    const std::uint64_t played = std::max<std::uint64_t>(millionths, 1);
    const auto recording =
        stream.feed == nullptr
            ? std::make_shared<Recording>(source.times_ns, played, inputs_.tsc_hz, source.lanes, lanes)
            : std::make_shared<Recording>(stream.feed->window(), stream.feed->surveyed().packets,
                                          stream.feed->period_ns(), played, inputs_.tsc_hz);
    stream.pps = {0, 1};
    if (recording->period_ns() != 0) {
        stream.pps = product({recording->packets(), recording->period_ns()}, {played * 1000, 1});
    }
    stream.recording = recording;
}

std::variant<std::unique_ptr<Plan>, std::vector<Problem>> compile(const config::Model& model,
                                                                  const Inputs& inputs, StreamTable& table,
                                                                  const Plan* previous) {
    return Compilation(model, inputs, table, previous).run();
}

void begin_at(Plan& plan, Tsc epoch) {
    const Tsc later = epoch - plan.epoch;  // modulo 2^64: earlier too
    plan.epoch = epoch;
    if (plan.end != ~Tsc{0}) plan.end += later;
    for (StreamPlan& stream : plan.streams) {
        if (!stream.fixed_start) {
            stream.start += later;
        } else if (stream.start >= epoch) {
            stream.start_delay = {mul_div(stream.start - epoch, 1'000'000'000, plan.tsc_hz)};
        } else {
            stream.start_delay = {0};
        }
    }
    for (auto& lanes : plan.lanes) {
        for (auto& lane : lanes) lane->shift(later);
    }
}

bool has_other_files(const Plan& plan) {
    return std::any_of(plan.streams.begin(), plan.streams.end(), [](const StreamPlan& stream) {
        return !stream.file.empty() && identify(stream.file) != stream.file_was;
    });
}

}  // namespace volley::traffic
