#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/cache_line.h"
#include "packet/template.h"

namespace volley::packet {

/// The stretch of a file of frames that is about to be sent, where the file is larger than memory: a queue
/// from the thread that reads the file to the one worker that sends it. Indices go on over the loops of the
/// file; frame i can be looked at from its push to its release, in the same bytes of memory.
class FrameWindow {
  public:
    /// bytes: of frames that it holds at most, at least those of a few of the longest.
    explicit FrameWindow(std::uint64_t bytes);

    /// The reader: the next frame, without FCS, `captured` and zeros up to `length` (at most max_frame), due
    /// `offset_ns` after the first. False, and nothing done, while there is no room.
    bool push(std::span<const std::uint8_t> captured, std::uint32_t length, std::uint64_t offset_ns) noexcept;

    /// The sender: frames below this index have been pushed. Acquires what push() wrote.
    [[nodiscard]] std::uint64_t ready() const noexcept { return ready_.load(std::memory_order_acquire); }
    /// The sender, for indices below ready() that are not released.
    [[nodiscard]] std::uint64_t offset_ns(std::uint64_t index) const noexcept {
        return slot(index).offset_ns;
    }
    [[nodiscard]] std::uint16_t length(std::uint64_t index) const noexcept { return slot(index).length; }
    [[nodiscard]] const std::uint8_t* bytes(std::uint64_t index) const noexcept {
        return bytes_.get() + slot(index).begin;
    }
    /// The sender: frames below `index` are not needed any more; push() acquires it.
    void release(std::uint64_t index) noexcept { released_.store(index, std::memory_order_release); }

  private:
    struct Slot {
        std::uint64_t begin = 0;  ///< in bytes_
        std::uint64_t end = 0;    ///< of the stream of bytes, gaps at the end of the ring included
        std::uint64_t offset_ns = 0;
        std::uint16_t length = 0;
    };
    [[nodiscard]] const Slot& slot(std::uint64_t index) const noexcept {
        return slots_[index & (slots_.size() - 1)];
    }

    std::unique_ptr<std::uint8_t[]> bytes_;
    std::uint64_t size_;
    std::vector<Slot> slots_;  ///< a power of two; written before ready_, read behind it
    std::uint64_t end_ = 0;    ///< the reader's: bytes pushed so far, gaps included
    alignas(cache_line) std::atomic<std::uint64_t> ready_{0};     ///< written by the reader
    alignas(cache_line) std::atomic<std::uint64_t> released_{0};  ///< written by the sender
};

/// A template whose packets are the frames of the window. Its packets are stamped in the order of their
/// indices, each once, from ready() on; stamping releases those before. longest: bytes without FCS of the
/// longest frame; samples: frames that stand for all others in looks at the template; mean: bytes with FCS.
std::unique_ptr<const PacketTemplate> stream(std::shared_ptr<FrameWindow> window, std::uint16_t longest,
                                             const std::vector<std::vector<std::uint8_t>>& samples,
                                             Rational mean);

}  // namespace volley::packet
