#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace volley::worker {

/// Which positions of a row of packets are missing, as ascending gaps. A gap is forgotten when `capacity`
/// younger ones are open: what it misses stays lost.
class Gaps {
  public:
    static constexpr std::uint32_t capacity = 128;

    struct Gap {
        std::uint64_t first;
        std::uint64_t last;      ///< inclusive
        std::uint64_t duration;  ///< nanoseconds between the packets around it
    };

    [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
    [[nodiscard]] const Gap& operator[](std::uint32_t i) const noexcept { return gaps_[slot(i)]; }
    /// The longest duration among those that were forgotten.
    [[nodiscard]] std::uint64_t longest_forgotten() const noexcept { return longest_forgotten_; }

    /// A gap behind all others.
    void open(const Gap& gap) noexcept;
    /// The position came after all. False when no gap has it; closed: its gap has nothing left to wait for.
    bool fill(std::uint64_t position, bool& closed) noexcept;

  private:
    [[nodiscard]] std::uint32_t slot(std::uint32_t i) const noexcept { return (begin_ + i) % capacity; }
    void forget_oldest() noexcept;

    std::array<Gap, capacity> gaps_;  // untouched until there are gaps
    std::uint32_t begin_ = 0;
    std::uint32_t count_ = 0;
    std::uint64_t longest_forgotten_ = 0;
};

/// Follows the packets of one lane of a stream as they arrive: position 0, 1, 2, ... in the order in which
/// its worker sent them. A packet that comes in order costs a comparison.
class SequenceTracker {
  public:
    enum class Fate : std::uint8_t {
        in_order,
        after_gap,  ///< what lies before it is missing
        late,       ///< was missing
        duplicate,  ///< was not, or is older than the gaps that are remembered
    };

    /// Returns what became of it; advanced: by how much the furthest position has moved.
    Fate take(std::uint64_t position, std::uint64_t now_ns, std::uint64_t& advanced) noexcept {
        advanced = 0;
        if (position >= next_) {
            const Fate fate = position == next_ ? Fate::in_order : Fate::after_gap;
            if (fate == Fate::after_gap) [[unlikely]]
                gaps_->open({next_, position - 1, last_ns_ == 0 ? 0 : now_ns - last_ns_});
            advanced = position + 1 - next_;
            next_ = position + 1;
            last_ns_ = now_ns;
            return fate;
        }
        return take_older(position);
    }

    /// The next `count` positions came in order.
    void advance(std::uint64_t count, std::uint64_t now_ns) noexcept {
        next_ += count;
        last_ns_ = now_ns;
    }

    /// Longest duration of a gap that is still one.
    [[nodiscard]] std::uint64_t longest_outage() const noexcept;
    /// Duration of the youngest gap that is still one; 0: none.
    [[nodiscard]] std::uint64_t last_outage() const noexcept {
        return gaps_->size() == 0 ? 0 : (*gaps_)[gaps_->size() - 1].duration;
    }
    /// Whether the last late packet closed its gap.
    [[nodiscard]] bool closed_gap() const noexcept { return closed_; }
    [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
    [[nodiscard]] std::uint64_t last_ns() const noexcept { return last_ns_; }

  private:
    Fate take_older(std::uint64_t position) noexcept;

    std::uint64_t next_ = 0;
    std::uint64_t last_ns_ = 0;  ///< when the furthest packet came; 0: none yet
    bool closed_ = false;
    // Apart, so that what a packet in order touches lies close together; its array is left untouched.
    std::unique_ptr<Gaps> gaps_ = std::make_unique_for_overwrite<Gaps>();
};

}  // namespace volley::worker
