// How much each stream sends, in what bursts, and along which time line.
#include <algorithm>
#include <array>
#include <cmath>

#include "traffic/compilation.h"

namespace volley::traffic {
namespace {

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

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
    const Uint128 product = static_cast<Uint128>(a) * b;
    return product > endless ? endless : static_cast<std::uint64_t>(product);
}

}  // namespace

// Who begins when whose shape is over. A disabled stream is left out of its chain.
void Compilation::link_chains() {
    std::unordered_map<std::string_view, std::uint32_t> index;
    std::unordered_map<std::string_view, const config::Stream*> models;
    for (std::uint32_t i = 0; i < from_.size(); ++i) index.emplace(from_[i]->name, i);
    for (const config::Stream& from : model_.streams) models.emplace(from.name, &from);
    std::unordered_map<std::string_view, std::string_view> before;
    for (const config::Stream& from : model_.streams) {
        if (!from.next.empty()) before.emplace(from.next, from.name);
    }
    for (std::uint32_t i = 0; i < from_.size(); ++i) {
        StreamPlan& stream = plan_->streams[i];
        const auto enabled_after = [&](std::string_view name) {
            for (auto left = models.size(); !name.empty() && left != 0; --left) {
                if (const auto found = index.find(name); found != index.end()) return found->second;
                const auto disabled = models.find(name);
                name = disabled == models.end() ? std::string_view() : disabled->second->next;
            }
            return no_stream;
        };
        stream.next = enabled_after(from_[i]->next);
        std::string_view first = from_[i]->name;
        for (auto left = models.size(); before.contains(first) && left != 0; --left) first = before[first];
        const std::uint32_t head = enabled_after(first);
        stream.loops = models.at(first)->loop;
        if (head != i) stream.head = head;
    }
}

bool Compilation::in_chain(const StreamPlan& stream) const {
    return stream.next != no_stream || stream.head != no_stream;
}

bool Compilation::looped(const StreamPlan& stream) const {
    return stream.loops != 1;
}

void Compilation::set_counts() {
    for (std::size_t i = 0; i < from_.size(); ++i) {
        const config::Stream& from = *from_[i];
        StreamPlan& stream = plan_->streams[i];
        stream.count = from.count.value_or(endless);
        if (from.source.pcap && from.source.pcap->loop != 0) {
            stream.count = std::min(stream.count, source_packets_[from.name] * from.source.pcap->loop);
        }
        if (from.bytes) stream.count = std::min(stream.count, packets_within(*stream.packet, *from.bytes));
        if (stream.recording != nullptr && !stream.recording->fed() && stream.duration.ns != 0) {
            const Tsc ticks = ticks_of(stream.duration, inputs_.tsc_hz);
            stream.count = std::min(stream.count, stream.recording->packets_before(ticks));
        }
        if (from.count == 0U) {
            problem(from.pointer + "/count",
                    "0 packets: leave count out for an endless stream, or set enabled to false");
        }
        if (from.duration == Duration{0}) {
            problem(from.pointer + "/duration", "a duration of 0: leave it out, or set enabled to false");
        }
        // A count that is repeated without a pause is a greater count.
        const bool plain = !from.bursts && rates_[i].empty() && stream.duration.ns == 0 && !in_chain(stream);
        if (plain && looped(stream)) {
            if (stream.count == endless)
                problem(from.pointer + "/loop", "a loop repeats what has an end: give the stream a count");
            stream.count = stream.loops == 0 ? endless : saturating_product(stream.count, stream.loops);
            stream.loops = 1;
        }
    }
}

void Compilation::set_shapes() {
    for (std::size_t i = 0; i < from_.size(); ++i) {
        StreamPlan& stream = plan_->streams[i];
        Shape shape;
        if (!from_[i]->rate_steps.empty()) {
            add_steps(i, shape);
        } else if (from_[i]->rate_ramp) {
            add_ramp(i, shape);
        } else if (from_[i]->bursts) {
            add_groups(i, shape);
        } else if (in_chain(stream) || looped(stream)) {
            add_plain(stream, shape);
        }
        if (!shape.legs.empty()) {
            cut_shape(stream, shape);
            const std::uint64_t total = total_packets(shape);
            if ((stream.next != no_stream || looped(stream)) && !stream.max &&
                (total == endless || total == 0)) {
                problem(from_[i]->pointer,
                        "the stream has no end, or sends nothing, and something comes after it: give it a "
                        "count, a duration or bursts.count");
            }
            stream.shape = std::make_shared<const Shape>(std::move(shape));
            if (from_[i]->bursts) stream.max = false;  // paced by its gaps
        }
        set_burst(*from_[i], stream);
        if (stream.recording != nullptr) stream.burst = 1;
        if (stream.max || stream.recording != nullptr || stream.shape != nullptr || stream.pps.num == 0)
            continue;
        const std::uint64_t own_step = std::uint64_t{stream.burst} * stream.workers.size();
        if (span_of(interval_of(stream.pps, inputs_.tsc_hz), own_step).whole >= longest_step) {
            problem(from_[i]->pointer + "/rate",
                    "the rate is so low that a burst comes less than once in ten years");
        }
    }
}

// span.ns 0: as long as the packets take.
Leg Compilation::leg_at(Rational pps, std::uint64_t packets, Duration span) const {
    Leg leg;
    leg.packets = packets;
    if (pps.num != 0) leg.interval = interval_of(pps, inputs_.tsc_hz);
    leg.timed = span.ns != 0;
    leg.span = leg.timed ? instant_of(static_cast<Uint128>(span.ns) * inputs_.tsc_hz, 1'000'000'000)
                         : instant_of(span_of(leg.interval, packets), leg.interval.den);
    return leg;
}

void Compilation::add_steps(std::size_t stream, Shape& shape) const {
    for (std::size_t i = 0; i < rates_[stream].size(); ++i) {
        const Rational pps = rates_[stream][i];
        const Duration span = from_[stream]->rate_steps[i].span;
        const std::uint64_t packets = pps.num == 0 ? 0 : (span.ns == 0 ? endless : packets_in(span, pps));
        shape.legs.push_back(leg_at(pps, packets, span));
    }
}

void Compilation::add_ramp(std::size_t stream, Shape& shape) const {
    const StreamPlan& plan = plan_->streams[stream];
    const Duration span = from_[stream]->rate_ramp->span;
    const Rational from = rates_[stream][0];
    const Rational to = rates_[stream][1];
    Leg leg = leg_at({0, 1}, packets_in(span, product(sum(from, to), {1, 2})), span);
    const auto hz = static_cast<double>(inputs_.tsc_hz);
    const auto per_tick = [hz](Rational pps) {
        return static_cast<double>(pps.num) / static_cast<double>(pps.den) / hz;
    };
    leg.ramp = true;
    leg.from = per_tick(from);
    leg.slope = (per_tick(to) - per_tick(from)) / (static_cast<double>(span.ns) * hz / 1e9);
    shape.legs.push_back(leg);
    if (!in_chain(plan) && !looped(plan) && to.num != 0) shape.legs.push_back(leg_at(to, endless, {0}));
}

void Compilation::add_groups(std::size_t stream, Shape& shape) const {
    StreamPlan& plan = plan_->streams[stream];
    const config::Bursts& groups = *from_[stream]->bursts;
    Leg leg = leg_at(plan.max ? Rational{0, 1} : plan.pps, groups.packets, {0});
    leg.span = leg.span + instant_of(static_cast<Uint128>(groups.gap.ns) * inputs_.tsc_hz, 1'000'000'000);
    shape.legs.push_back(leg);
    shape.rounds = groups.count.value_or(0);
    // Rounds that are repeated with the same gap in between are more rounds.
    const bool uncut = plan.count == endless && plan.duration.ns == 0;
    if (uncut && !in_chain(plan) && looped(plan) && shape.rounds != 0) {
        shape.rounds = plan.loops == 0 ? 0 : saturating_product(shape.rounds, plan.loops);
        plan.loops = 1;
    }
}

void Compilation::add_plain(const StreamPlan& stream, Shape& shape) const {
    const std::uint64_t by_time = stream.duration.ns == 0
                                      ? endless
                                      : (stream.max ? endless - 1 : packets_in(stream.duration, stream.pps));
    const bool timed = by_time < stream.count;
    Leg leg = leg_at(stream.pps, timed ? by_time : stream.count, timed ? stream.duration : Duration{0});
    if (stream.max && timed) leg.packets = endless;
    shape.legs.push_back(leg);
}

// Its count or duration, where the shape is longer.
void Compilation::cut_shape(const StreamPlan& stream, Shape& shape) const {
    std::uint64_t packets = stream.count;
    if (stream.duration.ns != 0 && !stream.max) {
        packets = std::min(
            packets,
            packets_before(
                shape, instant_of(static_cast<Uint128>(stream.duration.ns) * inputs_.tsc_hz, 1'000'000'000)));
    }
    if (packets < total_packets(shape)) shape.packets = packets;
}

void Compilation::set_burst(const config::Stream& from, StreamPlan& stream) {
    std::uint64_t most = endless;
    if (stream.shape != nullptr) {
        // No longer than a group or a run: then every lane has its turn within as many runs as there are
        // lanes.
        most = std::max<std::uint64_t>(total_packets(*stream.shape), 1);
        if (stream.shape->legs.size() == 1) most = std::min(most, stream.shape->legs[0].packets);
    }
    if (from.burst) {
        stream.burst = *from.burst;
        if (stream.burst == 0 || stream.burst > packet::max_burst) {
            problem(from.pointer + "/burst",
                    "a burst has 1 to " + std::to_string(packet::max_burst) + " packets");
            stream.burst = 1;
        }
        stream.burst = static_cast<std::uint32_t>(std::min<std::uint64_t>(stream.burst, most));
        return;
    }
    stream.burst_auto = true;
    const StreamPlan* was = before(stream.name);
    if (was != nullptr && was->burst_auto && was->workers == stream.workers && stream.workers.size() > 1) {
        stream.burst = static_cast<std::uint32_t>(std::min<std::uint64_t>(was->burst, most));
        return;
    }
    const bool timed = !stream.max && stream.shape == nullptr && stream.duration.ns != 0;
    const std::uint64_t packets = timed ? packets_in(stream.duration, stream.pps) : most;
    const bool at_once = stream.max || stream.hardware || (stream.shape != nullptr && stream.pps.num == 0);
    stream.burst = automatic_burst(at_once, stream.pps, std::min(stream.count, packets));
    if (stream.departure != Departure::constant) stream.burst = 1;
}

}  // namespace volley::traffic
