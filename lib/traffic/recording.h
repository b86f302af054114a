#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/int128.h"
#include "base/tsc.h"
#include "packet/frame_window.h"

namespace volley::traffic {

/// When the packets of a capture fall due that keeps its own timing, and which lane sends each. Immutable.
class Recording {
  public:
    /// How fast it is played, in millionths: 2'000'000 is twice as fast.
    static constexpr std::uint64_t original_speed = 1'000'000;

    /// times_ns: of each frame, in the order of the file; at least one. The gap before a frame that is older
    /// than the one before it counts as 0: it leaves with that one, and the gaps behind it hold. lanes: which
    /// lane sends each frame, below `lane_count`; empty: the first sends them all. speed: above 0.
    Recording(const std::vector<std::uint64_t>& times_ns, std::uint64_t speed, std::uint64_t tsc_hz,
              const std::vector<std::uint8_t>& lanes = {}, std::uint32_t lane_count = 1);

    /// Of a file that is read while it is sent, by one lane: the window says when its frames are due.
    Recording(std::shared_ptr<const packet::FrameWindow> window, std::uint64_t packets,
              std::uint64_t period_ns, std::uint64_t speed, std::uint64_t tsc_hz);

    [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }
    /// From the first packet of a loop to that of the next, at original speed: behind the last packet comes
    /// the mean gap of the file. 0: the file has no gap at all.
    [[nodiscard]] std::uint64_t period_ns() const noexcept { return period_ns_; }

    /// It can be said when that packet is due: the file has been read so far.
    [[nodiscard]] bool known(std::uint64_t index) const noexcept {
        return window_ == nullptr || index < window_->ready();
    }
    /// It is read while it is sent.
    [[nodiscard]] bool fed() const noexcept { return window_ != nullptr; }
    /// Ticks from packet 0 to packet `index`, which goes on over the loops; rounded down. It is known.
    [[nodiscard]] Tsc due(std::uint64_t index) const noexcept;
    /// Packets due before `ticks` after packet 0; ~0 when it has no gaps and all are. By its mean gap where
    /// it is read while it is sent.
    [[nodiscard]] std::uint64_t packets_before(Tsc ticks) const noexcept;
    /// Lanes that share it.
    [[nodiscard]] std::uint32_t lanes() const noexcept { return static_cast<std::uint32_t>(first_.size()); }
    /// The lane's first packet; ~0: it has none.
    [[nodiscard]] std::uint64_t first_of(std::uint32_t lane) const noexcept;
    /// The packet behind `index` that the same lane sends.
    [[nodiscard]] std::uint64_t next_of_lane(std::uint64_t index) const noexcept {
        return steps_.empty() ? index + 1 : index + steps_[index % packets()];
    }
    /// Made of the same gaps, shared by the same lanes.
    [[nodiscard]] bool same_times(const Recording& other) const noexcept {
        return window_ == other.window_ && offsets_ns_ == other.offsets_ns_ && steps_ == other.steps_ &&
               first_ == other.first_;
    }
    /// Ticks of this recording for ticks of one of the same file that is played at another speed.
    [[nodiscard]] Tsc from_speed_of(const Recording& other, Tsc ticks) const noexcept;

  private:
    [[nodiscard]] Tsc ticks_of(Uint128 ns) const noexcept;
    void set_speed(std::uint64_t tsc_hz) noexcept;
    void share(const std::vector<std::uint8_t>& lanes, std::uint32_t lane_count);

    std::shared_ptr<const packet::FrameWindow> window_;
    std::vector<std::uint64_t> offsets_ns_;  ///< from the first frame; empty with a window
    std::vector<std::uint32_t> steps_;       ///< to the next frame of the same lane; empty: 1
    std::vector<std::uint64_t> first_;       ///< of each lane
    std::uint64_t packets_ = 0;
    std::uint64_t period_ns_ = 0;
    std::uint64_t speed_;
    std::uint64_t ticks_ = 1;  ///< so many ticks
    std::uint64_t ns_ = 1;     ///< in so many nanoseconds of the file
};

/// Where a stream stands on its recording: one time line for all of its lanes. Written and read by the one
/// thread that turns them; handed on from plan to plan while the stream goes on.
struct ReplayClock {
    const Recording* recording = nullptr;  ///< that is played; nullptr: no lane has begun
    Tsc origin = 0;                        ///< when packet 0 falls due
};

}  // namespace volley::traffic
