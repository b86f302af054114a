// What of the plan before goes on, when each stream's bursts fall due beside its equals, and the lanes that
// send them.
#include <algorithm>
#include <functional>

#include "traffic/compilation.h"
#include "traffic/phases.h"

namespace volley::traffic {
namespace {

LaneStream lane_stream(const StreamPlan& stream, std::size_t lane, std::uint64_t tsc_hz) {
    const auto lanes = static_cast<std::uint32_t>(stream.workers.size());
    LaneStream out;
    out.packet = stream.packet.get();
    out.slot = stream.slot;
    out.max = stream.max || stream.hardware;
    out.paused = stream.paused;
    out.pps = stream.pps;
    out.burst = stream.burst;
    out.lanes = lanes;
    out.first = (static_cast<std::uint32_t>(lane) + lanes - stream.slot.value % lanes) % lanes;
    out.start = stream.start;
    out.fixed_start = stream.fixed_start;
    out.phase = stream.phase;
    out.weight = stream.weight;
    out.departure = stream.departure;
    out.jitter = ticks_of(stream.jitter, tsc_hz);
    out.seed = std::hash<std::string>()(stream.name);
    if (stream.recording != nullptr) {
        out.recording = stream.recording.get();
        out.clock = stream.clock.get();
        out.lane = static_cast<std::uint32_t>(lane);
        out.lanes = 1;
        out.first = 0;
        out.count = stream.count;
        if (stream.duration.ns != 0) out.replay_stop = ticks_of(stream.duration, tsc_hz);
        return out;
    }
    if (stream.shape != nullptr) {
        out.shape = stream.shape.get();
        out.follows = stream.head != no_stream;
        out.loops = stream.loops;
        out.route_kept = stream.route_kept;
        return out;
    }
    out.count = stream.count;
    if (stream.hardware && stream.duration.ns != 0) {
        out.count = std::min(out.count, packets_in(stream.duration, stream.pps));
        return out;
    }
    out.duration = stream.duration;
    if (stream.duration.ns != 0) {
        out.duration_packets = stream.max ? endless : packets_in(stream.duration, stream.pps);
        out.stop = stream.start + ticks_of(stream.duration, tsc_hz);
    }
    return out;
}

// The names of the chain that begins with a stream, in order.
std::vector<std::string_view> chain_of(const Plan& plan, std::uint32_t head) {
    std::vector<std::string_view> out;
    for (std::uint32_t at = head; at != no_stream && out.size() <= plan.streams.size();
         at = plan.streams[at].next) {
        out.push_back(plan.streams[at].name);
    }
    return out;
}

}  // namespace

void Compilation::carry() {
    for (std::size_t i = 0; i < from_.size(); ++i) {
        StreamPlan& stream = plan_->streams[i];
        stream.slot = table_.slot(stream.name);
        const StreamPlan* was = before(stream.name);
        const bool same_burst =
            was != nullptr && (was->burst == stream.burst ||
                               (stream.burst_auto && was->burst_auto && stream.workers.size() == 1));
        stream.carried = same_burst && was->port == stream.port && was->workers == stream.workers &&
                         same_receiver(*from_[i], was->signing != nullptr) &&
                         same_timing(*from_[i], stream, *was);
        if (stream.recording != nullptr) {
            stream.clock = stream.carried ? was->clock : std::make_shared<ReplayClock>();
        }
        stream.epoch = stream.carried ? was->epoch : table_.next_epoch(stream.slot);
        if (stream.signing != nullptr) {
            stream.signing->stream = stream.slot.value;
            stream.signing->generation = static_cast<std::uint8_t>(stream.epoch);
        }
        set_start(*from_[i], stream, stream.carried ? was : nullptr);
    }
}

// A recording goes on at its place where the same file is played; another speed is no other file.
bool Compilation::same_timing(const config::Stream& from, const StreamPlan& stream,
                              const StreamPlan& was) const {
    if (stream.recording == nullptr && was.recording == nullptr) return true;
    if (stream.recording == nullptr || was.recording == nullptr) return false;
    const auto model = models_before_.find(from.name);
    const bool same_split = model == models_before_.end() || model->second->split == from.split;
    return same_split && stream.recording->same_times(*was.recording);
}

// A receiver counts from index 0 on: who starts to follow a stream, or another who does, needs a new life.
bool Compilation::same_receiver(const config::Stream& from, bool was_signed) const {
    if (was_signed != from.is_signed()) return false;
    const auto model = models_before_.find(from.name);
    return model == models_before_.end() || model->second->expect_on == from.expect_on;
}

void Compilation::set_start(const config::Stream& from, StreamPlan& stream, const StreamPlan* was) const {
    const Tsc delay = ticks_of(stream.start_delay, inputs_.tsc_hz);
    if (from.start_at) {
        stream.fixed_start = true;
        const std::uint64_t zero = inputs_.epoch_unix_ns;
        if (*from.start_at >= zero) {
            stream.start_delay = {*from.start_at - zero};
            stream.start = inputs_.epoch + ticks_of(stream.start_delay, inputs_.tsc_hz);
        } else {
            stream.start =
                inputs_.epoch - std::min(inputs_.epoch, ticks_of({zero - *from.start_at}, inputs_.tsc_hz));
        }
    } else if (was != nullptr && !was->fixed_start) {
        stream.start = was->start - ticks_of(was->start_delay, inputs_.tsc_hz) + delay;
    } else {
        stream.start = std::max(inputs_.epoch, inputs_.not_before) + delay;
    }
}

// A chain goes on if it is made of the same streams in the same order and all of them go on.
void Compilation::keep_routes() {
    if (previous_ == nullptr) return;
    for (std::uint32_t head = 0; head < plan_->streams.size(); ++head) {
        const StreamPlan& first = plan_->streams[head];
        if (first.shape == nullptr || first.head != no_stream) continue;
        const StreamPlan* was = before(first.name);
        bool kept =
            was != nullptr && was->shape != nullptr && was->head == no_stream && was->loops == first.loops;
        kept = kept && chain_of(*plan_, head) ==
                           chain_of(*previous_, static_cast<std::uint32_t>(was - previous_->streams.data()));
        for (std::uint32_t at = head; at != no_stream; at = plan_->streams[at].next)
            kept = kept && plan_->streams[at].carried;
        for (std::uint32_t at = head; at != no_stream; at = plan_->streams[at].next)
            plan_->streams[at].route_kept = kept;
    }
}

void Compilation::set_phases() {
    for (std::uint32_t port = 0; port < model_.ports.size(); ++port) {
        std::vector<StreamPlan*> members;
        std::vector<PhaseSeat> seats;
        for (StreamPlan& stream : plan_->streams) {
            if (stream.port != port || stream.max || stream.hardware || stream.head != no_stream ||
                stream.recording != nullptr)
                continue;
            PhaseSeat seat;
            seat.burst = stream.burst;
            if (stream.shape == nullptr) {
                if (stream.pps.num == 0) continue;
                seat.interval = interval_of(stream.pps, inputs_.tsc_hz);
            } else {
                // Groups stand apart as a whole; of other shapes the first leg counts.
                const Leg& leg = stream.shape->legs[0];
                const bool groups = stream.shape->legs.size() == 1 && stream.shape->rounds != 1;
                if (groups) seat.interval = {leg.span.whole, 1};
                if (groups) seat.burst = 1;
                if (!groups) seat.interval = leg.interval;
                if (seat.interval.num == 0) continue;
            }
            seat.start = stream.start;
            seat.delay_ns = stream.start_delay.ns;
            seat.placed = stream.fixed_start || stream.start_delay.ns != 0;
            const StreamPlan* was = stream.carried ? before(stream.name) : nullptr;
            seat.kept = was != nullptr && was->pps == stream.pps && was->burst == stream.burst && !was->max &&
                        was->start == stream.start && (was->shape == nullptr) == (stream.shape == nullptr);
            if (seat.kept) seat.phase = was->phase;
            members.push_back(&stream);
            seats.push_back(seat);
        }
        assign_phases(seats);
        for (std::size_t i = 0; i < seats.size(); ++i) members[i]->phase = seats[i].phase;
    }
}

void Compilation::make_lanes() {
    // Where each stream stands in the lanes of a plan: lanes list their streams in plan order.
    const auto places_in = [](const Plan& plan, std::size_t ports) {
        std::vector<std::vector<std::uint32_t>> places;
        std::vector<std::vector<std::uint32_t>> filled(ports);
        for (const StreamPlan& stream : plan.streams) {
            std::vector<std::uint32_t>& of_port = filled[stream.port];
            std::vector<std::uint32_t>& place = places.emplace_back();
            for (const std::uint32_t worker : stream.workers) {
                if (worker >= of_port.size()) of_port.resize(worker + 1);
                place.push_back(of_port[worker]++);
            }
        }
        return places;
    };
    std::vector<std::vector<std::uint32_t>> old_places;
    if (previous_ != nullptr) old_places = places_in(*previous_, model_.ports.size());
    const auto places = places_in(*plan_, model_.ports.size());
    std::vector<std::vector<std::vector<LaneStream>>> lanes(model_.ports.size());
    for (std::size_t port = 0; port < lanes.size(); ++port) lanes[port].resize(inputs_.ports[port].workers);
    for (const StreamPlan& stream : plan_->streams) {
        for (std::size_t lane = 0; lane < stream.workers.size(); ++lane) {
            LaneStream spec = lane_stream(stream, lane, inputs_.tsc_hz);
            if (stream.carried)
                spec.previous =
                    old_places[static_cast<std::size_t>(before(stream.name) - previous_->streams.data())]
                              [lane];
            if (stream.next != no_stream) spec.next = places[stream.next][lane];
            if (stream.head != no_stream) spec.head = places[stream.head][lane];
            lanes[stream.port][stream.workers[lane]].push_back(spec);
        }
    }
    const Tsc zero = std::max(inputs_.epoch, inputs_.not_before);
    plan_->lanes.resize(lanes.size());
    for (std::size_t port = 0; port < lanes.size(); ++port) {
        for (const std::vector<LaneStream>& of_worker : lanes[port]) {
            plan_->lanes[port].push_back(
                std::make_unique<LaneSchedule>(of_worker, plan_->end, inputs_.tsc_hz, zero));
        }
    }
}

}  // namespace volley::traffic
