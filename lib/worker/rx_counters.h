#pragma once

#include <array>
#include <cstdint>

#include "base/cache_line.h"
#include "base/counter.h"
#include "base/log_buckets.h"

namespace volley::worker {

/// What one RX worker counts. Writer: that worker's lcore. Readers: the stats lcore.
struct alignas(cache_line) RxCounters {
    Counter packets;      ///< taken from the queue
    Counter bytes;        ///< sum of their pkt_len (no FCS)
    Counter unmatched;    ///< of these, not of our streams
    Counter calls;        ///< rte_eth_rx_burst calls that brought packets
    Counter empty_polls;  ///< and those that did not
    Counter busy_cycles;  ///< TSC ticks of turns that did work
    Counter sleeps;       ///< times that the lcore slept for want of packets
    Counter interrupts;   ///< and of these, how often an interrupt of the device ended the sleep
};
static_assert(sizeof(RxCounters) == cache_line);

/// What one RX worker counts for one stream. Writer: that worker. Readers: the stats lcore. Of the packets
/// that the counters tell, packets - duplicates are different ones, and expected minus these are missing.
struct alignas(cache_line) StreamRx {
    /// Lanes that are a multiple of it apart are counted as one: exact up to that many TX workers.
    static constexpr std::size_t lane_groups = 16;

    Counter packets;  ///< this cache line, to the first of expected: what every packet in order changes
    Counter bytes;
    Counter latency_sum;  ///< nanoseconds, of all samples
    Counter jitter;       ///< gauge: RFC 3550 section 6.4.1, nanoseconds times 16; 0: none yet
    Counter transits;     ///< differences of latency that the jitter was made of
    Counter verified;     ///< compared byte by byte
    Counter corrupted;    ///< of these, different from what was sent
    std::array<Counter, lane_groups>
        expected;  ///< by lane: packets up to the furthest that came, over all lives

    Counter duplicates;      ///< came before
    Counter reordered;       ///< came after a later one (RFC 4737), and was no duplicate
    Counter outages;         ///< gaps that opened, whether or not they were filled later
    Counter outage_longest;  ///< gauge: nanoseconds around the longest gap that stayed one; of this life
    Counter outage_last;     ///< gauge: the same of the last one
    Counter sent;  ///< written by the stats lcore: packets that its senders sent of the stream so far
    std::array<Counter, ArrivalBuckets::size> arrival;
    std::array<Counter, LatencyBuckets::size> latency;

    /// Of all lanes. Any thread.
    [[nodiscard]] std::uint64_t expected_packets() const noexcept {
        std::uint64_t sum = 0;
        for (const Counter& lane : expected) sum += lane.get();
        return sum;
    }
};

}  // namespace volley::worker
