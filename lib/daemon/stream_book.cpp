#include "daemon/stream_book.h"

#include <algorithm>

#include "traffic/pace.h"

namespace volley::daemon {

// Packets whose own due lies before now and before the end of traffic.
std::uint64_t StreamBook::due(const Entry& entry, std::uint64_t now_ns) const {
    const std::uint64_t until = std::min(now_ns, end_ns_);
    if (!entry.pps || entry.paused || until <= entry.from_ns) return entry.before;
    return std::min(entry.before + traffic::packets_in(Duration{until - entry.from_ns}, *entry.pps),
                    entry.count);
}

void StreamBook::adopt(const traffic::Plan& plan, const config::Model& model, std::uint64_t epoch_ns,
                       std::uint64_t end_ns, std::uint64_t now_ns, bool continues, const Sent& sent) {
    const std::lock_guard lock(mutex_);
    std::vector<bool> was_present;
    std::vector<bool> had_rate;
    for (Entry& entry : entries_) {
        was_present.push_back(entry.present);
        had_rate.push_back(entry.pps.has_value());
        entry.before = continues ? due(entry, now_ns) : 0;
        entry.pps = std::nullopt;
        entry.present = false;
    }
    end_ns_ = end_ns;
    for (const traffic::StreamPlan& stream : plan.streams) {
        const std::uint32_t slot = stream.slot.value;
        if (slot >= entries_.size()) entries_.resize(slot + 1);
        Entry& entry = entries_[slot];
        const bool carried = continues && slot < was_present.size() && was_present[slot];
        if (carried && !had_rate[slot]) entry.before += sent(stream.slot) - entry.sent_at;
        if (!carried) {
            entry.before = 0;
            entry.packets_before = sent(stream.slot);
            entry.start_ns = std::max(epoch_ns + stream.start_delay.ns, continues ? now_ns : 0);
        }
        entry.used = entry.present = true;
        entry.is_signed = stream.signing != nullptr;
        entry.name = stream.name;
        entry.port = model.ports[stream.port].name;
        // A stream with a shape, or with the times of a capture, has no one rate that could be its target.
        const bool one_rate = !stream.max && stream.shape == nullptr && stream.recording == nullptr;
        entry.pps = one_rate ? std::optional<Rational>(stream.pps) : std::nullopt;
        if (!entry.pps) entry.sent_at = sent(stream.slot);
        entry.paused = stream.paused;
        entry.count = stream.count;
        entry.stop_ns =
            stream.duration.ns == 0 ? ~std::uint64_t{0} : saturating_add(entry.start_ns, stream.duration.ns);
        if (stream.duration.ns != 0 && entry.pps) {
            entry.count = std::min(entry.count, traffic::packets_in(stream.duration, *entry.pps));
        }
        entry.from_ns = carried ? std::max(now_ns, entry.start_ns) : entry.start_ns;
    }
}

void StreamBook::begin() {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_) {
        entry.before = 0;
        entry.pps = std::nullopt;
        entry.present = false;
    }
}

void StreamBook::end(std::uint64_t now_ns) {
    const std::lock_guard lock(mutex_);
    end_ns_ = std::min(end_ns_, now_ns);
}

std::vector<StreamBook::Line> StreamBook::read(std::uint64_t now_ns) const {
    const std::lock_guard lock(mutex_);
    std::vector<Line> out;
    out.reserve(entries_.size());
    for (std::uint32_t slot = 0; slot < entries_.size(); ++slot) {
        const Entry& entry = entries_[slot];
        if (!entry.used) continue;
        Line line;
        line.slot = StreamSlot{slot};
        line.name = entry.name;
        line.port = entry.port;
        line.is_signed = entry.is_signed;
        line.target_pps = entry.paused && entry.pps ? std::optional(Rational{0, 1}) : entry.pps;
        line.count = entry.count;
        line.packets_before = entry.packets_before;
        if (entry.pps) line.due_packets = due(entry, now_ns);
        if (!entry.present) {
            line.state = "removed";
        } else if (entry.paused && now_ns < end_ns_) {
            line.state = "paused";
        } else if (now_ns < entry.start_ns) {
            line.state = "waiting";
        } else {
            line.state = now_ns < std::min(end_ns_, entry.pps ? ~std::uint64_t{0} : entry.stop_ns)
                             ? "running"
                             : "finished";
        }
        out.push_back(std::move(line));
    }
    return out;
}

}  // namespace volley::daemon
