#pragma once

#include <string>

#include "base/fd.h"
#include "telemetry/sink.h"

namespace volley::telemetry {

/// Lines appended to a file. It is opened anew when it was renamed, removed or replaced, and by reopen(). A
/// line that does not fit (disk full) is cut off again and counted, and the next one is tried: no line in the
/// file is ever torn.
class FileSink : public Sink {
  public:
    /// Throws std::system_error with the path when the file can never be opened so (no such folder, no
    /// permission); a disk that is full now is only counted.
    explicit FileSink(std::string path);

    [[nodiscard]] std::string_view name() const noexcept override { return "file"; }
    void offer(const std::shared_ptr<const Published>& published) noexcept override;
    [[nodiscard]] std::uint64_t dropped_lines() const noexcept override { return dropped_; }
    void reopen() noexcept override;

  private:
    int open() noexcept;
    void follow_rotation() noexcept;
    void end_torn_line() noexcept;
    bool append(const std::string& line) noexcept;
    std::size_t write_some(const char* data, std::size_t size) const noexcept;

    std::string path_;
    Fd fd_;
    std::string rest_;  ///< of a line that was begun where it cannot be cut off again: a named pipe
    std::uint64_t dropped_ = 0;
};

/// Throws std::system_error where write_whole_file(path) could not write as things are.
void check_whole_file(const std::string& path);
/// Replaces `path` by the text, or throws std::system_error and leaves what was there: for --report FILE.
void write_whole_file(const std::string& path, const std::string& text);

}  // namespace volley::telemetry
