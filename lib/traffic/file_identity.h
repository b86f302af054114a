#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace volley::traffic {

/// Which file stands at a path and whether it is still as it was, as far as inode, size and time tell.
struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t changed_ns = 0;  ///< Unix time
    bool operator==(const FileIdentity&) const = default;
};

/// All zeros where there is no such file.
FileIdentity identify(const std::string& path);

}  // namespace volley::traffic
