#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/cache_line.h"
#include "base/ids.h"
#include "base/tsc.h"
#include "packet/signature.h"
#include "worker/evidence.h"
#include "worker/replies.h"
#include "worker/rx_counters.h"
#include "worker/rx_table.h"
#include "worker/tap.h"
#include "worker/verifier.h"

struct rte_mbuf;

namespace volley::worker {

/// Drives one RX queue: takes packets, recognises those of our streams by their signatures, accounts them,
/// frees all in bulk. Buffers are only read. turn() is called by one lcore; counters are read by the stats
/// lcore.
class RxWorker {
  public:
    static constexpr std::uint32_t burst = 32;

    /// Longest frame that is followed though the device cut it into several buffers.
    static constexpr std::uint32_t longest_chain = 16 * 1024;

    RxWorker(PortId port, QueueId queue)
        : port_(port),
          queue_(queue),
          joined_(std::make_unique_for_overwrite<std::uint8_t[]>(std::size_t{burst} * longest_chain)) {}

    /// Before launch: answers for the port's own addresses; outlives the worker.
    void set_replies(Replies& replies) noexcept { replies_ = &replies; }

    /// Before launch: keeps the packets around what is wrong with a stream; outlives the worker. judges_loss:
    /// no other receiver has packets of the streams that this one sees.
    void set_evidence(Evidence& evidence, bool judges_loss) noexcept {
        evidence_ = &evidence;
        judges_loss_ = judges_loss;
    }

    /// Control: the table to work with from the next turn on. At most one is under way: wait for adopted()
    /// first. The release is acquired by turn().
    void offer(const RxTable* table) noexcept { offered_.store(table, std::memory_order_release); }
    /// Control: number of the table that the worker works with. Acquires: it no longer reads an earlier one.
    [[nodiscard]] std::uint64_t adopted() const noexcept { return adopted_.load(std::memory_order_acquire); }

    /// Whoever captures, one at a time: copies go to that tap from the next turn on, or to none. Returns the
    /// number of the change, for tap_changes().
    std::uint64_t set_tap(Tap* tap) noexcept {
        const std::uint64_t number = wanted_change_.load(std::memory_order_relaxed) + 1;
        wanted_tap_.store(tap, std::memory_order_relaxed);
        wanted_change_.store(number, std::memory_order_release);  // acquired by change_tap()
        return number;
    }
    /// The same: changes that the worker has made. Acquires: it no longer touches a tap that they took away.
    [[nodiscard]] std::uint64_t tap_changes() const noexcept {
        return made_change_.load(std::memory_order_acquire);
    }

    /// Before launch: lets an interrupt of the queue end a wait on `epoll_fd`. False where the device has
    /// none.
    [[nodiscard]] bool add_interrupt(int epoll_fd) noexcept;
    /// Before launch, after add_interrupt(): the queue knows that descriptor no more.
    void remove_interrupt(int epoll_fd) noexcept;
    /// The next packet that comes raises the interrupt; one that is there already need not. Same thread as
    /// turn().
    void arm() noexcept;
    void disarm() noexcept;

    /// One turn. True when packets came. Before the first table nothing is taken.
    bool turn() noexcept;

    [[nodiscard]] const RxCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] RxCounters& counters() noexcept { return counters_; }
    [[nodiscard]] const Verifier& verifier() const noexcept { return verifier_; }
    [[nodiscard]] PortId port() const noexcept { return port_; }
    [[nodiscard]] QueueId queue() const noexcept { return queue_; }

  private:
    /// Packets of one burst, next to each other, whose signatures name the same stream and generation. It
    /// ends where the next begins.
    struct Run {
        const RxTable::Entry* entry;  ///< nullptr: of no stream
        RxTable::Life life;
        std::uint32_t first;
        std::uint8_t generation;
    };

    void adopt(const RxTable* table) noexcept;
    void change_tap() noexcept;
    const std::uint8_t* join(const rte_mbuf* chain, std::uint32_t k) noexcept;
    std::uint64_t find_runs(rte_mbuf* const* mbufs, std::uint32_t count) noexcept;
    void look_up_runs(std::uint64_t now_ns) noexcept;
    std::uint32_t take(const Run& run, std::uint32_t count, std::uint64_t now_ns) noexcept;
    void verify(const Run& run, std::uint32_t count, const RxStream::Taken& taken) noexcept;
    void note(RxStream& stream, const Found& found, std::uint32_t k) noexcept;
    void note_unusual(const Run& run, std::uint32_t count, const RxStream::Taken& taken) noexcept;
    void note_corrupted(const Run& run, std::uint32_t from, std::uint64_t first_index) noexcept;
    void answer(std::uint32_t k) noexcept;
    void account(rte_mbuf* const* mbufs, std::uint32_t count, std::uint64_t now_ns) noexcept;
    void account_foreign(rte_mbuf* const* mbufs, std::uint32_t count) noexcept;

    const PortId port_;
    const QueueId queue_;
    const TscClock clock_;
    const RxTable* table_ = nullptr;
    Replies* replies_ = nullptr;
    Evidence* evidence_ = nullptr;  ///< none: nothing is kept
    bool judges_loss_ = true;
    Tap* tap_ = nullptr;
    std::uint64_t tap_change_ = 0;  ///< that tap_ comes from, or an earlier one

    // Of the burst in hand.
    /// Room for its chains, which have to lie in one piece to be looked at.
    const std::unique_ptr<std::uint8_t[]> joined_;
    std::array<const std::uint8_t*, burst> frames_;
    std::array<std::uint32_t, burst> lengths_;
    std::array<std::uint32_t, burst> sequences_;
    std::array<std::uint64_t, burst> sent_ns_;
    std::array<Run, burst + 1> runs_;
    std::uint32_t run_count_ = 0;
    Verifier verifier_;

    alignas(cache_line) std::atomic<const RxTable*> offered_{
        nullptr};                                  ///< written by control, taken by turn()
    std::atomic<std::uint64_t> adopted_{0};        ///< written by the worker
    std::atomic<Tap*> wanted_tap_{nullptr};        ///< written by whoever captures, read by the worker
    std::atomic<std::uint64_t> wanted_change_{0};  ///< the same, after it
    std::atomic<std::uint64_t> made_change_{0};    ///< written by the worker, read by whoever captures
    RxCounters counters_;
};

}  // namespace volley::worker
