#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/cache_line.h"
#include "base/int128.h"
#include "base/tsc.h"

namespace volley::traffic {

/// A stream and the tick at which it is next served. Ordered by tick, then by stream: the order is total, so
/// a schedule is the same however often and in what portions it is asked.
struct Due {
    Tsc tick;
    std::uint64_t stream;
    friend bool operator<(const Due& a, const Due& b) noexcept { return a.key() < b.key(); }
    [[nodiscard]] Uint128 key() const noexcept { return (static_cast<Uint128>(tick) << 64) | stream; }
};

/// A binary heap's cousin with four children a node: the four share a cache line, so a step down costs one
/// line and the depth is half (20,000 streams: 8 levels). Never allocates after construction.
class DueHeap {
  public:
    explicit DueHeap(std::size_t capacity) : groups_(capacity / 4 + 3, all_never()) {}

    [[nodiscard]] bool empty() const noexcept { return end_ == root; }
    [[nodiscard]] std::size_t size() const noexcept { return end_ - root; }
    [[nodiscard]] const Due& top() const noexcept { return at(root); }
    /// The smallest entry but the top; "never" if there is none.
    [[nodiscard]] Due second() const noexcept {
        const std::array<Due, 4>& children = groups_[1].of;
        return std::min(std::min(children[0], children[1]), std::min(children[2], children[3]));
    }
    [[nodiscard]] Due entry(std::size_t i) const noexcept { return at(root + i); }

    /// Adds without keeping the order; call order() before top().
    void append(Due due) noexcept { at(end_++) = due; }
    void order() noexcept {
        for (std::size_t hole = end_; hole-- > root;) {
            if (first_child(hole) < end_) sink(hole, at(hole));
        }
    }
    void replace_top(Due due) noexcept { sink(root, due); }
    void push(Due due) noexcept {
        std::size_t hole = end_++;
        while (hole != root && due < at(parent(hole))) {
            at(hole) = at(parent(hole));
            hole = parent(hole);
        }
        at(hole) = due;
    }
    void pop() noexcept {
        const Due last = at(--end_);
        at(end_) = never;
        if (!empty()) sink(root, last);
    }
    void clear() noexcept {
        while (end_ != root) at(--end_) = never;
    }
    /// Subtracts `ticks` from every entry: the order stays.
    void shift_down(Tsc ticks) noexcept {
        for (std::size_t i = root; i < end_; ++i) at(i).tick -= ticks;
    }

  private:
    struct alignas(cache_line) Group {
        std::array<Due, 4> of;
    };
    static constexpr Due never{~Tsc{0}, ~std::uint64_t{0}};
    static constexpr Group all_never() { return {{never, never, never, never}}; }
    /// The root stands last in the first group; then every node's children fill one group.
    static constexpr std::size_t root = 3;
    static constexpr std::size_t first_child(std::size_t node) { return 4 * node - 8; }
    static constexpr std::size_t parent(std::size_t node) { return node / 4 + 2; }

    [[nodiscard]] Due& at(std::size_t i) noexcept { return groups_[i / 4].of[i % 4]; }
    [[nodiscard]] const Due& at(std::size_t i) const noexcept { return groups_[i / 4].of[i % 4]; }

    void sink(std::size_t hole, Due due) noexcept {
        for (std::size_t child = first_child(hole); child < end_; child = first_child(hole)) {
            // Free places hold "never", so a group is compared whole.
            const std::size_t left = child + (at(child + 1) < at(child) ? 1U : 0U);
            const std::size_t right = child + (at(child + 3) < at(child + 2) ? 3U : 2U);
            const std::size_t least = at(right) < at(left) ? right : left;
            if (!(at(least) < due)) break;
            at(hole) = at(least);
            hole = least;
        }
        at(hole) = due;
    }

    std::vector<Group> groups_;
    std::size_t end_ = root;
};

}  // namespace volley::traffic
