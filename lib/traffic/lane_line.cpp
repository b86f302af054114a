// The line of one stream in a lane: where it ends, how it moves, how it enters and leaves the heaps.
#include <algorithm>

#include "traffic/departures.h"
#include "traffic/lane_schedule.h"

namespace volley::traffic {

void LaneSchedule::limit_by_end(std::uint32_t stream, Tsc due) noexcept {
    Terms& terms = terms_[stream];
    const Line& line = lines_[stream];
    terms.end_limit = endless;
    // Random departures and recorded ones are cut by their dues, one by one.
    if (end_ == ~Tsc{0} || (line.special & (lane::random | lane::recorded)) != 0) return;
    const Tsc end = saturating_add(end_, terms.lead);
    std::uint64_t left = 0;
    if ((line.special & lane::curved) != 0) {
        const Route& route = route_of(stream);
        const double by_end =
            terms.spec.shape->legs[route.leg].packets_by(static_cast<double>(end - route.origin.whole));
        const double before = static_cast<double>(line.index - route.leg_base);
        if (end > route.origin.whole && by_end > before)
            left = static_cast<std::uint64_t>(by_end - before) + 1;
    } else {
        left = packets_before({due, line.fraction}, end, terms.interval);
    }
    terms.end_limit = saturating_add(line.index, left);
}

void LaneSchedule::set_limit(std::uint32_t stream) noexcept {
    const Terms& terms = terms_[stream];
    lines_[stream].limit =
        std::min({terms.spec.count, terms.duration_limit, terms.leg_limit, terms.end_limit});
}

// Moves the line by the fewest whole lane steps that bring its due to `now` or later, and says how many
// packets of this lane the move is worth.
std::uint64_t LaneSchedule::move_line(std::uint32_t stream, Tsc& due, Tsc now) noexcept {
    if (terms_[stream].spec.shape != nullptr) return move_route(stream, due, now);
    if (terms_[stream].spec.recording != nullptr) return move_recorded(stream, due, now);
    Line& line = lines_[stream];
    const Interval interval = terms_[stream].interval;
    const std::uint64_t packets = static_cast<std::uint64_t>(line.burst) * line.lanes;
    if ((line.special & lane::random) != 0) {  // it has no grid
        if (due >= now) return 0;
        const std::uint64_t steps = steps_until({due, 0}, now, interval, packets);
        due = now;
        return steps * line.burst;
    }
    const Ticks at{due, line.fraction};
    const std::uint64_t steps = steps_until(at, now, interval, packets);
    const Ticks moved = after_steps(at, steps, interval, packets);
    due = moved.whole;
    line.fraction = moved.fraction;
    return steps * line.burst;
}

void LaneSchedule::stand(Due due) noexcept {
    if (ordered_) {
        paced_.push(due);
    } else {
        paced_.append(due);
    }
}

// Where a stream goes whose line is set: into a heap, on hold, or nowhere if it has nothing left to send.
void LaneSchedule::place(std::uint32_t stream, Tsc due, Tsc now) noexcept {
    Terms& terms = terms_[stream];
    const LaneStream& spec = terms.spec;
    Line& line = lines_[stream];
    terms.placed = true;
    terms.due = due;
    set_limit(stream);
    if (spec.max && std::max(terms.begin, now) >= std::min(terms.stop, end_)) line.limit = 0;
    if (line.index >= line.limit) return;
    if (spec.paused ||
        (!spec.max && spec.shape == nullptr && spec.recording == nullptr && spec.pps.num == 0)) {
        ++held_;
    } else if (!spec.max) {
        if ((line.special & lane::jittered) != 0) due += jitter_of(spec.seed, line.index, spec.jitter);
        stand({due, stream});
    } else if (terms.begin > now) {
        stand({terms.begin, stream});
    } else {
        begin_max(stream, terms.served);
    }
}

void LaneSchedule::begin_max(std::uint32_t stream, Tsc served) noexcept {
    latest_stop_ = std::max(latest_stop_, std::min(terms_[stream].stop, end_));
    max_.push({served, stream});
}

// The stream has reached its limit. Should the limit grow, it goes on where it was cut, so that no index is
// left out.
void LaneSchedule::retire(std::uint32_t stream, Tsc due) noexcept {
    Line& line = lines_[stream];
    const std::uint64_t last = line.index - static_cast<std::uint64_t>(line.burst) * line.lanes;
    if (line.limit - last < line.burst) line.index = line.limit;
    terms_[stream].due = due;
}

void LaneSchedule::note_slips(std::uint32_t stream, std::uint64_t slips, std::uint64_t packets) noexcept {
    Terms& terms = terms_[stream];
    if (slips != 0 && terms.slips == 0) {
        terms.next_slipped = slipped_;
        slipped_ = stream;
    }
    terms.slips += slips;
    terms.slipped_packets += packets;
}

// The next burst of a line that the hot path does not know, and the index behind it. What is left of an own
// burst comes first; then whole ones again.
TemplateBurst LaneSchedule::take_special(std::uint32_t stream, Tsc due) noexcept {
    Line& line = lines_[stream];
    const bool aligned = line.lanes > 1 || terms_[stream].spec.shape != nullptr;
    const std::uint64_t rest = aligned ? line.burst - line.index % line.burst : line.burst;
    const std::uint64_t count = std::min(rest, line.limit - line.index);
    const TemplateBurst out{line.packet, line.index, due, static_cast<std::uint32_t>(count), line.slot};
    line.index += count;
    if (count == rest) line.index += static_cast<std::uint64_t>(line.burst) * (line.lanes - 1U);
    line.special &= static_cast<std::uint8_t>(~lane::broken);
    return out;
}

// When the burst at index falls due, the one before having begun with packet `from` at `due`.
Tsc LaneSchedule::due_after(std::uint32_t stream, Tsc due, std::uint64_t from) noexcept {
    Terms& terms = terms_[stream];
    Line& line = lines_[stream];
    if ((line.special & lane::curved) != 0) return due_in_leg(stream);
    if ((line.special & lane::random) != 0) {
        const double mean = approximate(terms.interval) * line.burst;
        Ticks at{due, line.fraction};
        for (std::uint64_t ordinal = from / line.burst; ordinal < line.index / line.burst;) {
            const Gap32 gap = poisson_gap(terms.spec.seed, ++ordinal, mean);
            at = plus(at, {gap.whole, gap.fraction}, line.denominator);
        }
        line.fraction = at.fraction;
        return at.whole;
    }
    const bool jittered = (line.special & lane::jittered) != 0;
    const Ticks at = plus({jittered ? terms.due : due, line.fraction},
                          span_of(terms.interval, line.index - from), line.denominator);
    line.fraction = at.fraction;
    if (!jittered) return at.whole;
    terms.due = at.whole;
    return std::max(due, at.whole + jitter_of(terms.spec.seed, line.index, terms.spec.jitter));
}

}  // namespace volley::traffic
