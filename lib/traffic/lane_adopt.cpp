// How a lane schedule comes to be and takes over from its predecessor: the cold half of LaneSchedule.
#include <algorithm>

#include "traffic/departures.h"
#include "traffic/lane_schedule.h"

namespace volley::traffic {
namespace {

std::uint64_t scaled(std::uint64_t value, double ratio) noexcept {
    const double product = static_cast<double>(value) * ratio;
    return product < 9e18 ? static_cast<std::uint64_t>(product) : std::uint64_t{9'000'000'000'000'000'000U};
}

// One rate for ever: the others have a shape, or nothing to reckon with.
bool has_rate(const LaneStream& stream) noexcept {
    return !stream.max && stream.shape == nullptr && stream.recording == nullptr && stream.pps.num != 0;
}

// Where the lane begins when its stream does.
std::uint64_t first_index(const LaneStream& stream) noexcept {
    if (stream.recording != nullptr) return stream.recording->first_of(stream.lane);
    return static_cast<std::uint64_t>(stream.first) * stream.burst;
}

}  // namespace

LaneSchedule::LaneSchedule(const std::vector<LaneStream>& streams, Tsc end, std::uint64_t tsc_hz, Tsc zero)
    : lines_(streams.size()),
      terms_(streams.size()),
      paced_(streams.size()),
      max_(streams.size()),
      zero_(zero),
      end_(end),
      last_tick_(end == 0 ? 0 : end - 1),
      catch_up_(ticks_of(catch_up_limit, tsc_hz)) {
    for (std::uint32_t i = 0; i < streams.size(); ++i) {
        const std::uint32_t from = streams[i].previous;
        if (from != no_stream) {
            if (from >= successor_.size()) successor_.resize(from + 1, no_stream);
            successor_[from] = i;
        }
        terms_[i].spec = streams[i];
        if (streams[i].shape != nullptr) {
            terms_[i].route = static_cast<std::uint32_t>(routes_.size());
            routes_.emplace_back();
        }
        set_line(i, tsc_hz);
    }
}

void LaneSchedule::set_line(std::uint32_t stream, std::uint64_t tsc_hz) noexcept {
    Terms& terms = terms_[stream];
    const LaneStream& spec = terms.spec;
    Line& line = lines_[stream];
    line.packet = spec.packet;
    line.slot = spec.slot.value;
    line.burst = static_cast<std::uint16_t>(spec.burst);
    line.lanes = static_cast<std::uint8_t>(spec.lanes);
    line.special = spec.max ? lane::at_max : 0;
    if (spec.departure == Departure::jitter) line.special |= lane::jittered;
    if (spec.departure == Departure::poisson) line.special |= lane::random;
    if (spec.recording != nullptr) line.special |= lane::recorded;
    line.index = first_index(spec);
    line.limit = spec.count;
    line.fraction = 0;
    line.denominator = 1;
    line.step_whole = 0;
    line.step_fraction = 0;
    if (spec.max) {
        line.step_whole = (static_cast<std::uint64_t>(spec.burst) << 32) / std::max(spec.weight, 1U);
    } else if (has_rate(spec)) {
        set_interval(stream, interval_of(spec.pps, tsc_hz));
    }
}

void LaneSchedule::set_interval(std::uint32_t stream, Interval interval) noexcept {
    Line& line = lines_[stream];
    terms_[stream].interval = interval;
    const Ticks step = span_of(interval, static_cast<std::uint64_t>(line.burst) * line.lanes);
    line.denominator = (line.special & lane::random) != 0 ? std::uint64_t{1} << 32 : interval.den;
    line.step_whole = std::min(step.whole, longest_step);
    line.step_fraction = step.fraction;
}

void LaneSchedule::shift(Tsc later) noexcept {
    zero_ += later;
    if (end_ != ~Tsc{0}) {
        end_ += later;
        last_tick_ += later;
    }
    for (Terms& terms : terms_) {
        if (terms.spec.fixed_start) continue;
        terms.spec.start += later;
        if (terms.spec.stop != ~Tsc{0}) terms.spec.stop += later;
    }
}

void LaneSchedule::adopt(const LaneSchedule* previous, Tsc now) noexcept {
    change_at_ = now;
    if (previous != nullptr) {
        const Tsc next = previous->paced_.empty() ? ~Tsc{0} : previous->paced_.top().tick;
        change_at_ = std::max(now, std::min(previous->until_, next));
        const auto take = [&](const Due& old, Tsc due) {
            const std::uint32_t stream = old.stream < successor_.size() ? successor_[old.stream] : no_stream;
            if (stream != no_stream) carry(stream, *previous, due, false, now);
        };
        // In the order of the old heap, which is nearly that of the new one.
        for (std::size_t i = 0; i < previous->paced_.size(); ++i) {
            take(previous->paced_.entry(i), previous->paced_.entry(i).tick);
        }
        for (std::size_t i = 0; i < previous->max_.size(); ++i) {
            const Due old = previous->max_.entry(i);
            if (old.stream < successor_.size() && successor_[old.stream] != no_stream) {
                terms_[successor_[old.stream]].served = old.tick - previous->max_.top().tick;
            }
            take(old, now);
        }
    }
    for (std::uint32_t stream = 0; stream < terms_.size(); ++stream) {
        const Terms& terms = terms_[stream];
        if (terms.placed) continue;
        if (previous != nullptr && terms.spec.previous != no_stream) {
            carry(stream, *previous, previous->terms_[terms.spec.previous].due, true, now);
        } else {
            start(stream, now);
        }
    }
    settle_routes(now);
    paced_.order();
    ordered_ = true;
}

// Random gaps lie before every burst, the first included.
Tsc LaneSchedule::first_random_due(std::uint32_t stream, Tsc at, std::uint64_t ordinals) noexcept {
    const Terms& terms = terms_[stream];
    Line& line = lines_[stream];
    const double mean = approximate(terms.interval) * line.burst;
    Ticks due{at, 0};
    for (std::uint64_t back = 0; back <= ordinals; ++back) {
        const Gap32 gap = poisson_gap(terms.spec.seed, line.index / line.burst - back, mean);
        due = plus(due, {gap.whole, gap.fraction}, line.denominator);
    }
    line.fraction = due.fraction;
    return due.whole;
}

// A line whose packet 0 is `at`, seen `ordinals` bursts later, behind by the stream's phase.
Tsc LaneSchedule::begin_line(std::uint32_t stream, Tsc at, std::uint64_t ordinals) noexcept {
    Terms& terms = terms_[stream];
    const Ticks due = plus({saturating_add(at, terms.spec.phase), 0},
                           span_of(terms.interval, ordinals * terms.spec.burst), terms.interval.den);
    terms.lead = terms.spec.phase;
    Line& line = lines_[stream];
    line.fraction = due.fraction;
    if ((line.special & lane::random) != 0) {
        return first_random_due(stream, saturating_add(at, terms.spec.phase), ordinals);
    }
    return std::min(due.whole, 2 * longest_step);
}

// A lane that adopts the plan a little late owes what fell due meanwhile, as one that was held up does. A
// time of day may lie before the plan's zero, up to which nothing is owed.
void LaneSchedule::begin_late(std::uint32_t stream, Tsc& due, Tsc now) noexcept {
    if (terms_[stream].spec.previous == no_stream && due < zero_) move_line(stream, due, zero_);
    if (saturating_add(due, catch_up_) < now) move_line(stream, due, now);
}

void LaneSchedule::start(std::uint32_t stream, Tsc now) noexcept {
    Terms& terms = terms_[stream];
    if (terms.spec.shape != nullptr) {
        start_route(stream);
        return;
    }
    terms.begin = terms.spec.start;
    terms.stop = terms.spec.stop;
    terms.duration_limit = terms.spec.max ? endless : terms.spec.duration_packets;
    Tsc due = std::max(terms.spec.start, now);
    if (has_rate(terms.spec)) {
        due = begin_line(stream, terms.spec.start, terms.spec.first);
        begin_late(stream, due, now);
        limit_by_end(stream, due);
    }
    if (terms.spec.recording != nullptr) due = start_recorded(stream, now);
    place(stream, due, now);
}

// `parked`: it stood in no heap, so its due may be long past.
void LaneSchedule::carry(std::uint32_t stream, const LaneSchedule& previous, Tsc due, bool parked,
                         Tsc now) noexcept {
    Terms& terms = terms_[stream];
    const LaneStream& spec = terms.spec;
    const Terms& was = previous.terms_[spec.previous];
    const Line& old = previous.lines_[spec.previous];
    Line& line = lines_[stream];
    note_slips(stream, was.slips, was.slipped_packets);
    line.index = old.index;
    if (spec.shape != nullptr) {
        carry_route(stream, previous, due, parked, now);
        return;
    }
    terms.begin = spec.start;
    terms.stop = spec.stop;
    const bool begun = old.index != first_index(was.spec);
    if (!begun && (spec.start > now || spec.start != was.spec.start)) {
        line.index = first_index(spec);
        start(stream, now);
        return;
    }
    if (line.lanes > 1 && line.index % line.burst != 0) line.special |= lane::broken;
    carry_duration(stream, previous, now);
    if (has_rate(spec)) due = carry_due(stream, previous, due, parked, now);
    if (spec.recording != nullptr) due = carry_recorded(stream, parked, now);
    place(stream, due, now);
}

Tsc LaneSchedule::carry_due(std::uint32_t stream, const LaneSchedule& previous, Tsc due, bool parked,
                            Tsc now) noexcept {
    Terms& terms = terms_[stream];
    const Terms& was = previous.terms_[terms.spec.previous];
    Line& line = lines_[stream];
    if (!has_rate(was.spec)) {
        // It had no line: a new one begins now, with the lanes in the order of their next ordinals.
        due = begin_line(stream, std::max(now, terms.spec.start), line.index / line.burst % line.lanes);
        limit_by_end(stream, due);
        return due;
    }
    const bool same_rate = terms.interval == was.interval && terms.spec.departure == was.spec.departure;
    if (was.spec.departure == Departure::jitter && !parked) due = was.due;
    line.fraction = same_rate ? previous.lines_[terms.spec.previous].fraction : 0;
    terms.lead = was.lead;
    if (!same_rate) {
        const double ratio = approximate(terms.interval) / approximate(was.interval);
        if (due > change_at_) due = change_at_ + std::min(scaled(due - change_at_, ratio), longest_step);
        terms.lead = std::min(scaled(was.lead, ratio), longest_step);
    }
    const bool moved = parked && move_line(stream, due, now) != 0;
    terms.end_limit = was.end_limit;
    if (!same_rate || moved || end_ != previous.end_) limit_by_end(stream, due);
    return due;
}

// What is left of a duration is time, so a new rate changes how many packets it holds.
void LaneSchedule::carry_duration(std::uint32_t stream, const LaneSchedule& previous, Tsc now) noexcept {
    Terms& terms = terms_[stream];
    const Terms& was = previous.terms_[terms.spec.previous];
    const std::uint64_t index = lines_[stream].index;
    terms.duration_limit = terms.spec.max ? endless : terms.spec.duration_packets;
    if (!has_rate(terms.spec) || terms.spec.duration.ns == 0 || terms.spec.duration != was.spec.duration)
        return;
    if (was.spec.max) {
        const Ticks next{now, 0};
        terms.duration_limit = saturating_add(index, packets_before(next, terms.spec.stop, terms.interval));
    } else if (has_rate(was.spec)) {
        terms.duration_limit = was.duration_limit;
        if (!(terms.interval == was.interval) && was.duration_limit > index) {
            const double ratio = approximate(was.interval) / approximate(terms.interval);
            terms.duration_limit = saturating_add(index, scaled(was.duration_limit - index, ratio));
        }
    }
}

}  // namespace volley::traffic
