// What a lane does burst by burst. How it comes to be stands in lane_adopt.cpp.
#include "traffic/lane_schedule.h"

#include <algorithm>

namespace volley::traffic {

// The lane alone gives up what it is late: its line moves on, its ordinals do not.
void LaneSchedule::slip_top(Tsc now) noexcept {
    const auto stream = static_cast<std::uint32_t>(paced_.top().stream);
    Terms& terms = terms_[stream];
    Line& line = lines_[stream];
    Tsc due = paced_.top().tick;
    const std::uint64_t own_step = static_cast<std::uint64_t>(line.burst) * line.lanes;
    const std::uint64_t left = (line.limit - line.index - 1) / own_step + 1;
    if ((line.special & lane::jittered) != 0) due = terms.due;
    if ((line.special & lane::recorded) != 0) {
        due = recorded_due(stream, now);
        if (due != paced_.top().tick) {  // moved by another lane, or known only now
            paced_.replace_top({due, stream});
            return;
        }
    }
    const std::uint64_t packets = move_line(stream, due, now);
    note_slips(stream, 1, std::min(packets, left * line.burst));
    limit_by_end(stream, due);
    set_limit(stream);
    terms.due = due;
    if (line.index < line.limit) {
        paced_.replace_top({due, stream});
    } else {
        paced_.pop();
    }
}

// The top stream's next burst where it takes more than a step. Returns the number of bursts written, 0 or 1.
std::uint32_t LaneSchedule::fill_special(Tsc now, TemplateBurst* out) noexcept {
    const Due top = paced_.top();
    const auto stream = static_cast<std::uint32_t>(top.stream);
    Line& line = lines_[stream];
    if ((line.special & lane::recorded) != 0) return fill_recorded(stream, top, now, out);
    if ((line.special & lane::random) != 0 && top.tick >= end_) {
        terms_[stream].due = top.tick;
        paced_.pop();
        return 0;
    }
    const std::uint64_t from = line.index;
    *out = take_special(stream, std::min(top.tick, last_tick_));
    if (line.index < line.limit) {
        paced_.replace_top({due_after(stream, top.tick, from), stream});
    } else {
        terms_[stream].due = top.tick;
        paced_.pop();
        leave_limit(stream, now);
    }
    return 1;
}

// One stream needs no order: its line stays in registers.
std::uint32_t LaneSchedule::run_alone(Tsc now, Tsc until, std::uint32_t room, TemplateBurst* out) noexcept {
    const auto stream = static_cast<std::uint32_t>(paced_.top().stream);
    Tsc due = paced_.top().tick;
    Line line = lines_[stream];
    const std::uint64_t own_step = static_cast<std::uint64_t>(line.burst) * line.lanes;
    const Tsc oldest = now > catch_up_ ? now - catch_up_ : 0;
    std::uint32_t n = 0;
    while (n < room && due <= until && due >= oldest && line.index < line.limit) {
        const auto count =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(line.burst, line.limit - line.index));
        out[n++] = {line.packet, line.index, std::min(due, last_tick_), count, line.slot};
        line.index += own_step;
        line.fraction += line.step_fraction;
        const bool carry = line.fraction >= line.denominator;
        line.fraction -= carry ? line.denominator : 0;
        due += line.step_whole + (carry ? 1 : 0);
    }
    lines_[stream].index = line.index;
    lines_[stream].fraction = line.fraction;
    if (line.index < line.limit) {
        paced_.replace_top({due, stream});
    } else {
        retire(stream, due);
        paced_.pop();
        leave_limit(stream, now);
    }
    return n;
}

std::uint32_t LaneSchedule::fill_paced(Tsc now, Tsc until, std::uint32_t room, TemplateBurst* out) noexcept {
    if (until >= last_tick_)
        until = ~Tsc{0};  // limits cut the end; a phase does not carry the last burst over it
    const Tsc oldest = now > catch_up_ ? now - catch_up_ : 0;
    std::uint32_t n = 0;
    while (n < room && !paced_.empty() && paced_.top().tick <= until) {
        const Due top = paced_.top();
        Line& line = lines_[top.stream];
        if ((line.special & lane::at_max) != 0) {
            if (now < top.tick) break;
            paced_.pop();
            begin_max(static_cast<std::uint32_t>(top.stream), max_.empty() ? 0 : max_.top().tick);
            continue;
        }
        if (top.tick < oldest) {
            slip_top(now);
            continue;
        }
        if (line.special != 0) {
            if (put_off(static_cast<std::uint32_t>(top.stream), now)) break;
            n += fill_special(now, out + n);
            continue;
        }
        if (paced_.size() == 1) {
            n += run_alone(now, until, room - n, out + n);
            continue;
        }
        const auto count =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(line.burst, line.limit - line.index));
        out[n++] = {line.packet, line.index, std::min(top.tick, last_tick_), count, line.slot};
        line.index += static_cast<std::uint64_t>(line.burst) * line.lanes;
        line.fraction += line.step_fraction;
        const bool carry = line.fraction >= line.denominator;
        line.fraction -= carry ? line.denominator : 0;
        const Tsc due = top.tick + line.step_whole + (carry ? 1 : 0);
        if (line.index < line.limit) {
            paced_.replace_top({due, top.stream});
        } else {
            retire(static_cast<std::uint32_t>(top.stream), due);
            paced_.pop();
            leave_limit(static_cast<std::uint32_t>(top.stream), now);
        }
    }
    return n;
}

std::uint32_t LaneSchedule::fill_max(Tsc now, std::uint32_t room, TemplateBurst* out) noexcept {
    std::uint32_t n = 0;
    while (n < room && !max_.empty()) {
        const Due top = max_.top();
        Line& line = lines_[top.stream];
        const auto stream = static_cast<std::uint32_t>(top.stream);
        if (now >= std::min(terms_[stream].stop, end_)) {
            max_.pop();
            leave_max(stream, now);
            continue;
        }
        if ((line.special & lane::broken) != 0) {
            out[n++] = take_special(stream, now);
        } else {
            const auto count =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(line.burst, line.limit - line.index));
            out[n++] = {line.packet, line.index, now, count, line.slot};
            line.index += static_cast<std::uint64_t>(line.burst) * line.lanes;
            if (line.index >= line.limit) retire(stream, now);
        }
        if (line.index < line.limit) {
            max_.replace_top({top.tick + line.step_whole, top.stream});
        } else {
            max_.pop();
            leave_max(stream, now);
        }
    }
    constexpr Tsc far = Tsc{1} << 62;
    if (!max_.empty() && max_.top().tick > far) max_.shift_down(max_.top().tick);
    return n;
}

std::uint32_t LaneSchedule::fill(Tsc now, Tsc until, std::uint32_t room, std::uint32_t max_room,
                                 TemplateBurst* out) noexcept {
    until_ = has_max() ? std::min(now, until) : until;
    std::uint32_t n = fill_paced(now, until_, room, out);
    if (has_max()) n += fill_max(now, std::min(room - n, max_room), out + n);
    return n;
}

bool LaneSchedule::finished(Tsc now) const noexcept {
    if (!paced_.empty()) return false;
    if (held_ != 0 && now < end_) return false;
    return max_.empty() || now >= latest_stop_;
}

Tsc LaneSchedule::next_due(Tsc now) const noexcept {
    if (!max_.empty() && now < latest_stop_) return now;
    if (!paced_.empty()) return std::min(paced_.top().tick, last_tick_);
    return held_ != 0 && now < end_ ? end_ : ~Tsc{0};
}

}  // namespace volley::traffic
