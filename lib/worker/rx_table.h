#pragma once

#include <cstdint>
#include <vector>

#include "worker/rx_stream.h"
#include "worker/verifier.h"

namespace volley::worker {

/// What one RX worker looks packets up in: which streams are ours, by what they were signed with. Made by
/// control, read by one worker, freed by control when the worker has adopted a later one. Streams and
/// verifications outlive it.
struct RxTable {
    struct Life {
        RxStream* stream = nullptr;                  ///< nullptr: none
        const Verification* verification = nullptr;  ///< nullptr: not verified
    };
    struct Entry {
        Life now;
        Life before;  ///< the life that a reload has ended: its last packets may be under way
    };

    std::uint64_t number = 0;    ///< of the table, counted by control
    std::uint16_t salt = 0;      ///< of the run; 0: no packet is ours
    bool hold = false;           ///< take nothing from the queue
    std::vector<Entry> streams;  ///< by slot

    /// nullptr where the signature names no life of a stream of ours.
    [[nodiscard]] const Life* find(std::uint32_t stream, std::uint8_t generation) const noexcept {
        if (stream >= streams.size()) return nullptr;
        const Entry& entry = streams[stream];
        if (entry.now.stream != nullptr && entry.now.stream->sent().generation == generation) [[likely]]
            return &entry.now;
        if (entry.before.stream != nullptr && entry.before.stream->sent().generation == generation)
            return &entry.before;
        return nullptr;
    }
};

}  // namespace volley::worker
