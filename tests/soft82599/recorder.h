#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "soft82599/control.h"

namespace volley::soft82599 {

/// Keeps what a port sends while it lives. Its memory is taken beforehand: a tap runs inside the driver's
/// register access, in a signal handler, where ThreadSanitizer reports an allocation.
class Recorder {
  public:
    explicit Recorder(Port& port, std::size_t bytes = std::size_t{4} << 20, std::size_t frames = 65536)
        : port_(port), bytes_(bytes), ends_(frames) {
        port_.set_tap([this](const WireFrame& frame) { add(frame); });
    }
    ~Recorder() { port_.set_tap({}); }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// In the order of the wire. No frame may be on its way. Throws std::length_error when the room was too
    /// small.
    [[nodiscard]] std::vector<std::vector<std::uint8_t>> frames() const {
        if (lost_) throw std::length_error("the recorder is too small");
        std::vector<std::vector<std::uint8_t>> result;
        std::size_t begin = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            const auto* data = bytes_.data();
            result.emplace_back(data + begin, data + ends_[i].first);
            begin = ends_[i].first;
        }
        return result;
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// When frame i had left, in the port's wire time.
    [[nodiscard]] std::uint64_t time_ns(std::size_t i) const { return ends_.at(i).second; }

  private:
    void add(const WireFrame& frame) noexcept {
        lost_ = lost_ || count_ == ends_.size() || used_ + frame.bytes.size() > bytes_.size();
        if (lost_) return;
        std::copy(frame.bytes.begin(), frame.bytes.end(),
                  bytes_.begin() + static_cast<std::ptrdiff_t>(used_));
        used_ += frame.bytes.size();
        ends_[count_++] = {used_, frame.time_ns};
    }

    Port& port_;
    std::vector<std::uint8_t> bytes_;
    std::vector<std::pair<std::size_t, std::uint64_t>> ends_;  ///< end in bytes_, time
    std::size_t used_ = 0;
    std::size_t count_ = 0;
    bool lost_ = false;
};

}  // namespace volley::soft82599
