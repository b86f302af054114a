#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/fd.h"

namespace volley::telemetry {

/// A listening Unix stream socket with a name in the file system, mode 0660. The name of a dead program is
/// taken over, that of a live one is refused, and the name is removed at the end if it is still ours.
class UnixListener {
  public:
    /// Throws std::system_error or std::runtime_error whose text is the operator's next step.
    explicit UnixListener(std::string path);
    ~UnixListener();
    UnixListener(const UnixListener&) = delete;
    UnixListener& operator=(const UnixListener&) = delete;

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// The next waiting client, non-blocking, or an empty Fd with errno.
    [[nodiscard]] Fd accept() const noexcept;

  private:
    std::string path_;
    Fd fd_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

/// Where "auto" puts NAME.KIND.sock: the first folder of $RUNTIME_DIRECTORY (systemd), else
/// $XDG_RUNTIME_DIR/volley, else /run/volley. The latter two are made (0755) if missing. Throws when that
/// fails or the name holds a slash.
std::string auto_socket_path(std::string_view name, std::string_view kind);

}  // namespace volley::telemetry
