#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/tsc.h"
#include "packet/signature.h"
#include "packet/template.h"
#include "worker/counters.h"

struct rte_mbuf;

namespace volley::worker {

/// Packets that are stamped and not yet taken by the NIC, in order, with what is needed to count them once
/// they are. Used by one worker. At most `capacity` packets are pending; a TemplateBurst is never split
/// between batches.
class TxBatch {
  public:
    static constexpr std::uint32_t capacity = packet::max_burst;

    TxBatch() : ns_scale_((std::uint64_t{1'000'000'000} << 24) / tsc_hz()) {}

    [[nodiscard]] std::uint32_t pending() const noexcept { return tail_ - head_; }
    [[nodiscard]] bool has_room(std::uint32_t count) const noexcept { return pending() + count <= capacity; }
    /// When the oldest pending burst fell due. Only while pending() != 0.
    [[nodiscard]] Tsc first_due() const noexcept { return entries_[first_].due; }

    /// Places for the next burst's mbufs and lengths; call only when has_room(count).
    struct Places {
        rte_mbuf** mbufs;
        std::uint16_t* lengths;
    };
    Places places(std::uint32_t count) noexcept {
        if (tail_ + count > mbufs_.size()) move_to_front();
        return {&mbufs_[tail_], &lengths_[tail_]};
    }
    /// The burst that was written to places(count). length: of every packet, or 0 when lengths[] holds them.
    void commit(std::uint32_t count, std::uint32_t length, Tsc due, StreamTx& row) noexcept {
        commit(count, length, due, row, nullptr, 0);
    }
    /// The same; signing: what its packets, of which the first is `first_index`, are signed with, or nullptr.
    void commit(std::uint32_t count, std::uint32_t length, Tsc due, StreamTx& row,
                const packet::Signing* signing, std::uint64_t first_index) noexcept {
        if (last_ == entries_.size()) move_entries_to_front();
        entries_[last_++] = {&row, due, count, length, signing, first_index + count};
        tail_ += count;
        signed_ += signing != nullptr ? 1 : 0;
    }
    /// Some of the pending packets are to be signed before they are submitted.
    [[nodiscard]] bool has_signed() const noexcept { return signed_ != 0; }
    /// Writes the trailers of all pending packets that are signed, with this TX time.
    void sign(std::uint64_t time_ns) noexcept;

    [[nodiscard]] rte_mbuf** mbufs() noexcept { return &mbufs_[head_]; }

    /// The first `sent` pending packets are the NIC's now: counts them from our own records, for the mbufs
    /// are not ours any more. Returns how many bursts are finished.
    std::uint32_t accept(std::uint32_t sent, Tsc now, TxCounters& counters) noexcept {
        std::uint64_t total = 0;
        std::uint32_t finished = 0;
        counters.packets.add(sent);
        while (sent != 0) {
            Entry& entry = entries_[first_];
            const std::uint32_t take = std::min(sent, entry.left);
            const std::uint64_t bytes =
                entry.length != 0 ? std::uint64_t{take} * entry.length : sum_lengths(take);
            entry.row->packets.add(take);
            entry.row->bytes.add(bytes);
            if (entry.signing != nullptr) entry.row->signed_packets.add(take);
            total += bytes;
            head_ += take;
            sent -= take;
            entry.left -= take;
            if (entry.left == 0) {
                entry.row->lateness[LatenessBuckets::index(nanoseconds(now - entry.due))].add(1);
                signed_ -= entry.signing != nullptr ? 1 : 0;
                ++first_;
                ++finished;
            }
        }
        counters.bytes.add(total);
        if (head_ == tail_) head_ = tail_ = first_ = last_ = 0;
        return finished;
    }

  private:
    struct Entry {
        StreamTx* row;
        Tsc due;
        std::uint32_t left;
        std::uint32_t length;
        const packet::Signing* signing;  ///< nullptr: not signed
        std::uint64_t end_index;         ///< one past its last packet
    };

    // Ticks to nanoseconds without a division; a quarter of an hour is late enough not to overflow.
    [[nodiscard]] std::uint64_t nanoseconds(Tsc ticks) const noexcept {
        return (std::min(ticks, Tsc{1} << 40) * ns_scale_) >> 24;
    }
    [[nodiscard]] std::uint64_t sum_lengths(std::uint32_t count) const noexcept {
        std::uint64_t sum = 0;
        for (std::uint32_t k = 0; k < count; ++k) sum += lengths_[head_ + k];
        return sum;
    }
    void move_to_front() noexcept {
        std::copy(&mbufs_[head_], &mbufs_[0] + tail_, &mbufs_[0]);
        std::copy(&lengths_[head_], &lengths_[0] + tail_, &lengths_[0]);
        tail_ -= head_;
        head_ = 0;
    }
    void move_entries_to_front() noexcept {
        std::copy(&entries_[first_], &entries_[0] + last_, &entries_[0]);
        last_ -= first_;
        first_ = 0;
    }

    // Twice the capacity, so that packets move to the front at most once in 256.
    std::array<rte_mbuf*, 2 * capacity> mbufs_;
    std::array<std::uint16_t, 2 * capacity> lengths_;
    std::array<Entry, 2 * capacity> entries_;
    std::uint64_t ns_scale_;    ///< nanoseconds a tick, times 2^24
    std::uint32_t head_ = 0;    ///< first pending packet
    std::uint32_t tail_ = 0;    ///< one past the last
    std::uint32_t first_ = 0;   ///< entry of the first pending packet
    std::uint32_t last_ = 0;    ///< one past the last entry
    std::uint32_t signed_ = 0;  ///< pending entries that are signed
};

}  // namespace volley::worker
