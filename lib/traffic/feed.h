#pragma once

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
#include "traffic/file_identity.h"
#include "traffic/survey.h"

namespace volley::traffic {

/// A capture that is too large to be held: a thread of its own reads it, loop after loop, into a window of
/// frames, from where a worker sends it. Made and destroyed by control, which reads problem(), too.
class Feed {
  public:
    /// pad: frames under 60 bytes get as many. Every rewrite is literal.
    Feed(const config::PcapSource& source, bool pad);
    ~Feed();
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;

    /// What is in the file, which is read once through unless this process knows it; before start(). Throws
    /// imports::Error, and what `rest` throws.
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
    void look_through(const imports::Rest& rest);
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
    FileIdentity identity_;
    imports::Capture one_;           ///< room for the frame at hand
    std::atomic<bool> stop_{false};  ///< written by control
    mutable std::mutex mutex_;       ///< of problem_
    std::string problem_;
    std::thread thread_;
};

/// Outer VLAN tags of a frame.
std::uint32_t outer_tags(std::span<const std::uint8_t> frame);

}  // namespace volley::traffic
