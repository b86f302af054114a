#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/units.h"
#include "config/model.h"
#include "import/capture.h"
#include "packet/frame_window.h"

namespace volley::traffic {

/// What one pass over a capture finds, in the memory of a frame.
struct Survey {
    std::uint64_t packets = 0;
    std::uint64_t l2_bytes = 0;        ///< with FCS, as they will be sent
    std::uint64_t padded = 0;          ///< frames that were captured in part and filled up with zeros
    std::uint64_t backwards = 0;       ///< frames that are older than the one before them
    std::uint64_t span_ns = 0;         ///< sum of the gaps
    std::uint16_t longest = 0;         ///< bytes without FCS
    std::vector<std::uint64_t> found;  ///< by rewrite: frames that have its field
    std::vector<std::vector<std::uint8_t>>
        samples;  ///< the first frame, and the longest for each number of tags
};

/// A capture that is too large to be held: a thread of its own reads it, loop after loop, into a window of
/// frames, from where a worker sends it. Made and destroyed by control, which reads problem(), too.
class Feed {
  public:
    /// pad: frames under 60 bytes get as many. Every rewrite is literal.
    Feed(const config::PcapSource& source, bool pad);
    ~Feed();
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;

    /// Reads the file once through; before start(). Throws imports::Error.
    const Survey& survey(const imports::Rest& rest = {});
    /// Once: the thread begins to fill the window.
    void start();
    [[nodiscard]] const Survey& surveyed() const noexcept { return survey_; }
    [[nodiscard]] const std::shared_ptr<packet::FrameWindow>& window() const noexcept { return window_; }
    /// From the first packet of a loop to that of the next, as Recording has it.
    [[nodiscard]] std::uint64_t period_ns() const noexcept;
    /// The file is the one that was surveyed, as far as its size and times tell.
    [[nodiscard]] bool same_file() const;
    /// Why the thread gave up: the file has changed or cannot be read any more. Empty while all is well.
    [[nodiscard]] std::string problem() const;

  private:
    struct Identity {
        dev_t device = 0;
        ino_t inode = 0;
        off_t size = 0;
        std::int64_t changed_ns = 0;
        bool operator==(const Identity&) const = default;
    };
    [[nodiscard]] Identity identify() const;
    /// The frame as it is sent, valid until the next one is asked for.
    std::span<const std::uint8_t> prepare(const imports::CaptureReader::Frame& frame,
                                          std::vector<std::uint64_t>* found);
    void note_sample(std::span<const std::uint8_t> frame);
    void run();
    [[nodiscard]] imports::Error changed() const;
    bool read_once(std::uint64_t first_offset_ns);

    const config::PcapSource source_;
    const bool pad_;
    std::shared_ptr<packet::FrameWindow> window_;
    Survey survey_;
    Identity identity_;
    imports::Capture one_;           ///< room for the frame at hand
    std::atomic<bool> stop_{false};  ///< written by control
    mutable std::mutex mutex_;       ///< of problem_
    std::string problem_;
    std::thread thread_;
};

/// Outer VLAN tags of a frame.
std::uint32_t outer_tags(std::span<const std::uint8_t> frame);

}  // namespace volley::traffic
