#pragma once

#include <cstdint>
#include <vector>

#include "base/cache_line.h"
#include "worker/rx_stream.h"
#include "worker/verifier.h"

namespace volley::worker {

/// What one RX worker looks packets up in: which streams are ours, by what they were signed with. Made by
/// control, read by one worker, freed by control when the worker has adopted a later one. Streams and
/// verifications outlive it.
struct RxTable {
    struct Life {
        RxStream* stream = nullptr;                  ///< nullptr: none
        const StreamRx* row = nullptr;               ///< its row: here, so that both are fetched at once
        const Verification* verification = nullptr;  ///< nullptr: not verified
    };
    struct alignas(cache_line) Entry {
        Life now;
        Life before;                  ///< the life that a reload has ended: its last packets may be under way
        std::uint8_t generation = 0;  ///< of each, as its stream says: here, so that no stream is touched
        std::uint8_t generation_before = 0;

        void set_now(RxStream& stream, const Verification* verification) noexcept {
            now = {&stream, &stream.row(), verification};
            generation = stream.sent().generation;
        }
        void set_before(const Life& life) noexcept {
            before = life;
            generation_before = life.stream->sent().generation;
        }
        /// The life that signs so; of no stream where there is none.
        [[nodiscard]] Life life(std::uint8_t of) const noexcept {
            if (now.stream != nullptr && generation == of) [[likely]]
                return now;
            if (before.stream != nullptr && generation_before == of) return before;
            return {};
        }
    };

    std::uint64_t number = 0;    ///< of the table, counted by control
    std::uint16_t salt = 0;      ///< of the run; 0: no packet is ours
    bool hold = false;           ///< take nothing from the queue
    bool begins_run = false;     ///< the first of a run; kept packets of the run before are not read any more
    std::vector<Entry> streams;  ///< by slot

    /// nullptr where no stream of ours can have that number.
    [[nodiscard]] const Entry* entry(std::uint32_t stream) const noexcept {
        return stream < streams.size() ? &streams[stream] : nullptr;
    }
};

}  // namespace volley::worker
