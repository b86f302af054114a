// Streams that are more than one rate: the legs of a shape, its rounds, and chains of streams with their
// loops. A leg at a constant rate is a plain line with a limit, so the hot path is none the wiser; here is
// what happens in between.
#include <algorithm>
#include <cmath>
#include <utility>

#include "traffic/lane_schedule.h"

namespace volley::traffic {
namespace {

Instant instant_of(double ticks) noexcept {
    const auto whole = static_cast<Tsc>(ticks);
    return {whole, static_cast<std::uint64_t>((ticks - static_cast<double>(whole)) * 0x1p64)};
}

// When packet `offset` of a leg falls due, counted from the leg's begin.
Instant time_in(const Leg& leg, std::uint64_t offset) noexcept {
    if (leg.ramp) return instant_of(leg.time_of(static_cast<double>(offset)));
    return instant_of(span_of(leg.interval, offset), leg.interval.den);
}

Instant times(Instant span, std::uint64_t n) noexcept {
    const Uint128 parts = static_cast<Uint128>(span.fraction) * n;
    return {span.whole * n + static_cast<Tsc>(parts >> 64), static_cast<std::uint64_t>(parts)};
}

// Legs that stand for each other: a changed rate goes on within them.
bool same_course(const Shape& a, const Shape& b) noexcept {
    return a.rounds == b.rounds &&
           std::equal(a.legs.begin(), a.legs.end(), b.legs.begin(), b.legs.end(),
                      [](const Leg& x, const Leg& y) { return x.timed == y.timed && x.ramp == y.ramp; });
}

}  // namespace

// This lane's first packet at or after `from`.
std::uint64_t LaneSchedule::first_own(std::uint32_t stream, std::uint64_t from) const noexcept {
    const LaneStream& spec = terms_[stream].spec;
    const std::uint64_t ordinal = from / spec.burst;
    const std::uint64_t ahead = (spec.first + spec.lanes - ordinal % spec.lanes) % spec.lanes;
    return ahead == 0 ? from : (ordinal + ahead) * spec.burst;
}

Tsc LaneSchedule::due_in_leg(std::uint32_t stream) noexcept {
    const Route& route = route_of(stream);
    const Leg& leg = terms_[stream].spec.shape->legs[route.leg];
    Line& line = lines_[stream];
    const std::uint64_t offset = line.index - route.leg_base;
    if (leg.ramp) return (route.origin + time_in(leg, offset)).whole;
    const Ticks due =
        plus(ticks_over(route.origin, leg.interval.den), span_of(leg.interval, offset), leg.interval.den);
    line.fraction = due.fraction;
    return due.whole;
}

// Makes the line that of the leg, at packet `index`.
void LaneSchedule::set_leg(std::uint32_t stream, std::uint64_t index) noexcept {
    const Leg& leg = terms_[stream].spec.shape->legs[route_of(stream).leg];
    Line& line = lines_[stream];
    line.index = index;
    line.special &= static_cast<std::uint8_t>(~(lane::broken | lane::curved));
    if (index % line.burst != 0) line.special |= lane::broken;
    if (leg.ramp) {
        line.special |= lane::curved;
        line.fraction = 0;
    } else {
        set_interval(stream, leg.interval);
    }
}

// Goes to the first packet of this lane in the leg, or in a later one if it has no share in this one. False:
// the run is over, and the route's origin is where its successor begins.
bool LaneSchedule::enter_leg(std::uint32_t stream) noexcept {
    Terms& terms = terms_[stream];
    Route& route = route_of(stream);
    const Shape& shape = *terms.spec.shape;
    for (;;) {
        const std::uint64_t run_end = saturating_add(route.run_base, shape.packets);
        const std::uint64_t leg_end =
            std::min(saturating_add(route.leg_base, shape.legs[route.leg].packets), run_end);
        const std::uint64_t own = first_own(stream, route.leg_base);
        if (own < leg_end) {
            terms.leg_limit = leg_end;
            set_leg(stream, own);
            terms.due = due_in_leg(stream);
            return true;
        }
        if (!leave_leg(stream)) return false;
    }
}

// On to the next leg. False: the run is over.
bool LaneSchedule::leave_leg(std::uint32_t stream) noexcept {
    Route& route = route_of(stream);
    const Shape& shape = *terms_[stream].spec.shape;
    const Leg& leg = shape.legs[route.leg];
    if (shape.packets != endless && route.run_base + shape.packets - route.leg_base <= leg.packets) {
        const std::uint64_t run_end = route.run_base + shape.packets;
        route.origin = route.origin + time_in(leg, run_end - route.leg_base);
        route.run_base = run_end;
        return false;
    }
    route.leg_base += leg.packets;
    const bool last = route.leg + 1 == shape.legs.size();
    route.leg = last ? 0 : route.leg + 1;
    if (last) ++route.round;
    if (last && route.round == shape.rounds) {
        route.origin = route.origin + (leg.timed ? leg.span : time_in(leg, leg.packets));
        route.run_base = route.leg_base;
        return false;
    }
    route.origin = route.origin + leg.span;
    return true;
}

// Begins the stream's shape at its route's origin. False: this lane has no share in the run, and it is over.
bool LaneSchedule::begin_run(std::uint32_t stream) noexcept {
    Terms& terms = terms_[stream];
    Route& route = route_of(stream);
    route.active = true;
    route.leg = 0;
    route.round = 0;
    route.leg_base = route.run_base;
    if (!terms.spec.max) return enter_leg(stream);
    const Leg& leg = terms.spec.shape->legs[0];
    lines_[stream].index = first_own(stream, route.run_base);
    terms.begin = route.origin.whole;
    terms.stop = leg.timed ? (route.origin + leg.span).whole : ~Tsc{0};
    terms.leg_limit = leg.timed ? endless : saturating_add(route.run_base, leg.packets);
    if (lines_[stream].index < terms.leg_limit) return true;
    route.run_base += leg.packets;
    return false;
}

// The stream's run is over: who is next in the chain, with the time at which it begins. no_stream: the chain
// is over.
std::uint32_t LaneSchedule::pass_on(std::uint32_t stream) noexcept {
    const LaneStream& spec = terms_[stream].spec;
    const Instant origin = route_of(stream).origin;
    route_of(stream).active = false;
    lines_[stream].index = first_own(stream, route_of(stream).run_base);
    std::uint32_t next = spec.next;
    if (next == no_stream) {
        next = spec.head == no_stream ? stream : spec.head;
        const std::uint64_t loops = terms_[next].spec.loops;
        if (loops != 0 && ++route_of(next).loop >= loops) return no_stream;
    }
    route_of(next).origin = origin;
    terms_[next].lead = terms_[stream].lead;
    return next;
}

// Places the stream if it is `on`, otherwise the next one of its chain that has something to send in this
// lane.
void LaneSchedule::follow_route(std::uint32_t stream, bool on, Tsc now) noexcept {
    while (!on) {
        stream = pass_on(stream);
        if (stream == no_stream) return;
        on = begin_run(stream);
    }
    Tsc due = terms_[stream].due;
    if (!terms_[stream].spec.max) {
        if (!ordered_) begin_late(stream, due, now);
        limit_by_end(stream, due);
    }
    place(stream, due, now);
}

// The stream, which stands in no heap any more, has sent all below its limit.
void LaneSchedule::leave_limit(std::uint32_t stream, Tsc now) noexcept {
    const Terms& terms = terms_[stream];
    if (terms.spec.shape == nullptr || terms.end_limit < terms.leg_limit) return;  // done, or the plan is
    follow_route(stream, leave_leg(stream) && enter_leg(stream), now);
}

// The same at max: its time or its packets are over.
void LaneSchedule::leave_max(std::uint32_t stream, Tsc now) noexcept {
    const LaneStream& spec = terms_[stream].spec;
    if (spec.shape == nullptr || now >= end_) return;
    const Leg& leg = spec.shape->legs[0];
    Route& route = route_of(stream);
    route.origin = leg.timed ? route.origin + leg.span : Instant{now, 0};
    route.run_base = leg.timed ? lines_[stream].index : route.run_base + leg.packets;
    follow_route(stream, false, now);
}

void LaneSchedule::start_route(std::uint32_t stream) noexcept {
    Terms& terms = terms_[stream];
    Route& route = route_of(stream);
    route = {};
    route.run_base = route.leg_base = lines_[stream].index;
    if (lines_[stream].index == static_cast<std::uint64_t>(terms.spec.first) * terms.spec.burst)
        route.run_base = 0;
    terms.placed = true;
    if (terms.spec.follows) return;
    route.origin = {saturating_add(terms.spec.start, terms.spec.phase), 0};
    terms.lead = terms.spec.phase;
    route.then = Route::Then::begin;
}

void LaneSchedule::carry_route(std::uint32_t stream, const LaneSchedule& previous, Tsc due, bool parked,
                               Tsc now) noexcept {
    Terms& terms = terms_[stream];
    const LaneStream& spec = terms.spec;
    const Terms& was = previous.terms_[spec.previous];
    const bool kept = spec.route_kept && was.spec.shape != nullptr && was.spec.max == spec.max &&
                      was.spec.follows == spec.follows && same_course(*spec.shape, *was.spec.shape);
    const Route& old = previous.routes_[kept ? was.route : 0];
    const bool waiting = kept && !spec.follows && old.loop == 0 && old.round == 0 && old.leg == 0 &&
                         old.run_base == 0 &&
                         lines_[stream].index == static_cast<std::uint64_t>(spec.first) * spec.burst;
    if (!kept || (waiting && (spec.start > now || spec.start != was.spec.start))) {
        start_route(stream);
        return;
    }
    route_of(stream) = old;
    terms.placed = true;
    terms.lead = was.lead;
    terms.leg_limit = was.leg_limit;
    terms.begin = was.begin;
    terms.stop = was.stop;
    if (!old.active) return;
    if (!spec.max) {
        due = carry_leg(stream, previous, due);
        if (parked) move_route(stream, due, now);
        limit_by_end(stream, due);
    }
    terms.due = due;
    if (lines_[stream].index >= terms.leg_limit) {
        route_of(stream).then = Route::Then::leave;
    } else {
        place(stream, due, now);
    }
}

void LaneSchedule::settle_routes(Tsc now) noexcept {
    if (routes_.empty()) return;
    for (std::uint32_t stream = 0; stream < terms_.size(); ++stream) {
        if (terms_[stream].route == no_stream) continue;
        const auto then = std::exchange(route_of(stream).then, Route::Then::nothing);
        if (then == Route::Then::begin) follow_route(stream, begin_run(stream), now);
        if (then == Route::Then::leave) leave_limit(stream, now);
    }
}

// The leg goes on at the lane's own index. A leg of a given time ends when it would have; one of a given
// number of packets has as many.
Tsc LaneSchedule::carry_leg(std::uint32_t stream, const LaneSchedule& previous, Tsc due) noexcept {
    Terms& terms = terms_[stream];
    Route& route = route_of(stream);
    const Leg& leg = terms.spec.shape->legs[route.leg];
    const Leg& old = previous.terms_[terms.spec.previous].spec.shape->legs[route.leg];
    Line& line = lines_[stream];
    set_leg(stream, line.index);
    if (leg == old) {
        line.fraction = previous.lines_[terms.spec.previous].fraction;
    } else {
        const auto offset = static_cast<double>(line.index - route.leg_base);
        const double ratio = leg.interval_at(offset) / std::max(old.interval_at(offset), 1e-9);
        if (due > change_at_) {
            const double left = static_cast<double>(due - change_at_) * ratio;
            due = change_at_ + static_cast<Tsc>(std::min(left, 1e18));
        }
        line.fraction = 0;
        if (leg.timed) {
            const double since = due > route.origin.whole ? static_cast<double>(due - route.origin.whole) : 0;
            route.leg_base = line.index - static_cast<std::uint64_t>(std::llround(leg.packets_by(since)));
        } else {
            route.origin = {due - time_in(leg, line.index - route.leg_base).whole, 0};
        }
        terms.leg_limit = leg.packets == endless ? endless : route.leg_base + leg.packets;
    }
    terms.leg_limit = std::min(terms.leg_limit, saturating_add(route.run_base, terms.spec.shape->packets));
    return due;
}

// Shifts the route so that the next due is `now` or later: by whole rounds if it is made of them, else just
// so much.
std::uint64_t LaneSchedule::move_route(std::uint32_t stream, Tsc& due, Tsc now) noexcept {
    if (due >= now) return 0;
    const Terms& terms = terms_[stream];
    Route& route = route_of(stream);
    const Leg& leg = terms.spec.shape->legs[route.leg];
    const Line& line = lines_[stream];
    if (terms.spec.shape->legs.size() == 1 && terms.spec.shape->rounds != 1 && leg.span.whole != 0) {
        const std::uint64_t rounds = (now - due - 1) / leg.span.whole + 1;
        route.origin = route.origin + times(leg.span, rounds);
        due = due_in_leg(stream);
        return static_cast<std::uint64_t>(static_cast<double>(rounds) * static_cast<double>(leg.packets) /
                                          line.lanes);
    }
    const Tsc shift = now - due;
    route.origin.whole += shift;
    due = now;
    const double interval = leg.interval_at(static_cast<double>(line.index - route.leg_base));
    return static_cast<std::uint64_t>(static_cast<double>(shift) / std::max(interval, 1e-9) / line.lanes);
}

}  // namespace volley::traffic
