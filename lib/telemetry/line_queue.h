#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include <sys/types.h>

namespace volley::telemetry {

using Text = std::shared_ptr<const std::string>;

/// Lines on their way to one reader that may be slow. Bounded: a full queue gives up its oldest line that is
/// not begun, so the reader gets the newest, and what was begun is finished first. Never half a line.
class LineQueue {
  public:
    enum class Outcome {
        empty,    ///< everything was taken
        blocked,  ///< the reader takes no more for now
        failed,   ///< errno of the write is in error()
    };
    static constexpr std::size_t capacity = 4;

    /// True when a line had to be given up for this one.
    bool push(Text line) {
        const bool full = lines_.size() == capacity;
        if (full) lines_.erase(lines_.begin() + (offset_ == 0 ? 0 : 1));
        lines_.push_back(std::move(line));
        return full;
    }

    /// Writes as much as write(data, size) → bytes or -1 with errno takes without waiting.
    template <class Write>
    Outcome flush(const Write& write) {
        while (!lines_.empty()) {
            const std::string& line = *lines_.front();
            const ssize_t n = write(line.data() + offset_, line.size() - offset_);
            if (n < 0) {
                error_ = errno;
                if (error_ == EINTR) continue;
                return error_ == EAGAIN || error_ == EWOULDBLOCK ? Outcome::blocked : Outcome::failed;
            }
            offset_ += static_cast<std::size_t>(n);
            if (offset_ < line.size()) continue;
            lines_.pop_front();
            offset_ = 0;
        }
        return Outcome::empty;
    }

    [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }
    [[nodiscard]] int error() const noexcept { return error_; }
    /// Forgets everything, the line that is begun too: its reader is gone. Returns how many lines that were.
    std::size_t clear() noexcept {
        const std::size_t lost = lines_.size();
        lines_.clear();
        offset_ = 0;
        return lost;
    }
    /// Forgets every line but the one that is begun, which must be finished. Returns how many lines that
    /// were.
    std::size_t clear_unbegun() noexcept {
        const std::size_t lost = lines_.size() - (offset_ == 0 ? 0 : 1);
        lines_.resize(lines_.size() - lost);
        return lost;
    }

  private:
    std::deque<Text> lines_;
    std::size_t offset_ = 0;  ///< bytes of the first line that were taken
    int error_ = 0;
};

}  // namespace volley::telemetry
