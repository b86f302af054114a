// Streams that keep the timing of a capture: the part of LaneSchedule that asks the recording.
#include <algorithm>

#include "traffic/lane_schedule.h"

namespace volley::traffic {
namespace {

// Frames without a gap between them that one burst takes together.
constexpr std::uint32_t most_together = 32;
// Ticks until a file that has not been read far enough is looked at again: some tens of microseconds.
constexpr Tsc look_again = 1 << 16;

}  // namespace

// When the next packet is due, or to be asked for again.
Tsc LaneSchedule::recorded_due(std::uint32_t stream, Tsc now) const noexcept {
    const ReplayClock& clock = *terms_[stream].spec.clock;
    if (!clock.recording->known(lines_[stream].index)) return now + look_again;
    return saturating_add(clock.origin, clock.recording->due(lines_[stream].index));
}

// Moves the time line of all lanes so that this one's next packet is due at `now` or later.
std::uint64_t LaneSchedule::move_recorded(std::uint32_t stream, Tsc& due, Tsc now) noexcept {
    if (due >= now) return 0;
    const LaneStream& spec = terms_[stream].spec;
    ReplayClock& clock = *spec.clock;
    const std::uint64_t owed = clock.recording->packets_before(now - clock.origin);
    const std::uint64_t index = lines_[stream].index;
    clock.origin += now - due;
    due = now;
    return owed > index ? (owed - index) / spec.recording->lanes() : 0;
}

Tsc LaneSchedule::start_recorded(std::uint32_t stream, Tsc now) noexcept {
    const LaneStream& spec = terms_[stream].spec;
    ReplayClock& clock = *spec.clock;
    if (clock.recording == nullptr || now < clock.origin) clock = {spec.recording, spec.start};
    if (lines_[stream].index >= spec.count) return now;  // nothing of it is this lane's
    Tsc due = recorded_due(stream, now);
    begin_late(stream, due, now);
    return due;
}

// The time line goes on at its place in the file; the first lane that adopts a new speed changes it for all.
Tsc LaneSchedule::carry_recorded(std::uint32_t stream, bool parked, Tsc now) noexcept {
    const LaneStream& spec = terms_[stream].spec;
    ReplayClock& clock = *spec.clock;
    if (clock.recording == nullptr) clock = {spec.recording, spec.start};
    if (clock.recording != spec.recording) {
        if (change_at_ > clock.origin) {
            clock.origin =
                change_at_ - spec.recording->from_speed_of(*clock.recording, change_at_ - clock.origin);
        }
        clock.recording = spec.recording;
    }
    if (lines_[stream].index >= spec.count) return now;
    Tsc due = recorded_due(stream, now);
    if (parked) move_recorded(stream, due, now);
    return due;
}

// The top stream waits until its file has been read as far as its next packet, and holds up no other.
bool LaneSchedule::put_off(std::uint32_t stream, Tsc now) noexcept {
    if ((lines_[stream].special & lane::recorded) == 0) return false;
    if (terms_[stream].spec.clock->recording->known(lines_[stream].index)) return false;
    paced_.replace_top({now + look_again, stream});
    return true;
}

// The top stream's next packets, if its place on the time line is still that of the heap. Returns the number
// of bursts written, 0 or 1.
std::uint32_t LaneSchedule::fill_recorded(std::uint32_t stream, Due top, Tsc now,
                                          TemplateBurst* out) noexcept {
    Terms& terms = terms_[stream];
    Line& line = lines_[stream];
    const Recording& recording = *terms.spec.clock->recording;
    const Tsc due = recorded_due(stream, now);
    if (due != top.tick) {  // moved by another lane, or known only now
        paced_.replace_top({due, stream});
        return 0;
    }
    terms.due = due;
    if (due >= end_ || recording.due(line.index) >= terms.spec.replay_stop) {
        paced_.pop();
        return 0;
    }
    const std::uint64_t first = line.index;
    std::uint32_t count = 0;
    Tsc next = due;
    do {
        ++count;
        line.index = recording.next_of_lane(line.index);
        if (line.index < line.limit) next = recorded_due(stream, now);
    } while (next == due && line.index == first + count && line.index < line.limit && count < most_together);
    *out = {line.packet, first, due, count, line.slot};
    if (line.index < line.limit) {
        paced_.replace_top({next, stream});
    } else {
        paced_.pop();
    }
    return 1;
}

bool LaneSchedule::fed() const noexcept {
    return std::any_of(terms_.begin(), terms_.end(), [](const Terms& terms) {
        return terms.spec.recording != nullptr && terms.spec.recording->fed();
    });
}

bool LaneSchedule::starved() const noexcept {
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        const Recording* recording = terms_[i].spec.recording;
        const Line& line = lines_[i];
        if (recording == nullptr || line.index >= line.limit) continue;
        if (!recording->known(std::min(line.index + most_together, line.limit - 1))) return true;
    }
    return false;
}

}  // namespace volley::traffic
