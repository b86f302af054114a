#include "worker/sequence_tracker.h"

#include <algorithm>

namespace volley::worker {

void Gaps::forget_oldest() noexcept {
    longest_forgotten_ = std::max(longest_forgotten_, gaps_[begin_].duration);
    begin_ = (begin_ + 1) % capacity;
    --count_;
}

void Gaps::open(const Gap& gap) noexcept {
    if (count_ == capacity) forget_oldest();
    gaps_[slot(count_++)] = gap;
}

// Late packets are mostly a little late, so the youngest gaps are looked at first.
bool Gaps::fill(std::uint64_t position, bool& closed) noexcept {
    closed = false;
    for (std::uint32_t i = count_; i-- > 0;) {
        Gap& gap = gaps_[slot(i)];
        if (position > gap.last) return false;
        if (position < gap.first) continue;
        if (gap.first == gap.last) {
            for (std::uint32_t k = i; k + 1 < count_; ++k) gaps_[slot(k)] = gaps_[slot(k + 1)];
            --count_;
            closed = true;
        } else if (position == gap.first) {
            ++gap.first;
        } else if (position == gap.last) {
            --gap.last;
        } else {
            const Gap rest{position + 1, gap.last, gap.duration};
            if (count_ == capacity && i == 0) {
                gap = rest;  // its older half is the oldest of all
                return true;
            }
            gap.last = position - 1;
            if (count_ == capacity) {
                forget_oldest();
                --i;
            }
            for (std::uint32_t k = count_; k > i + 1; --k) gaps_[slot(k)] = gaps_[slot(k - 1)];
            gaps_[slot(i + 1)] = rest;
            ++count_;
        }
        return true;
    }
    return false;
}

SequenceTracker::Fate SequenceTracker::take_older(std::uint64_t position) noexcept {
    return gaps_->fill(position, closed_) ? Fate::late : Fate::duplicate;
}

std::uint64_t SequenceTracker::longest_outage() const noexcept {
    std::uint64_t longest = gaps_->longest_forgotten();
    for (std::uint32_t i = 0; i < gaps_->size(); ++i) longest = std::max(longest, (*gaps_)[i].duration);
    return longest;
}

}  // namespace volley::worker
