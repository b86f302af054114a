#pragma once

#include <sys/types.h>

#include <cstddef>

namespace volley::telemetry {

/// write(2) without the SIGPIPE that the end of a pipe's reader raises: it only fails with EPIPE.
ssize_t quiet_write(int fd, const char* data, std::size_t size) noexcept;

}  // namespace volley::telemetry
