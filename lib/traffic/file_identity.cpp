#include "traffic/file_identity.h"

#include <sys/stat.h>

namespace volley::traffic {

FileIdentity identify(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return {};
    return {facts.st_dev, facts.st_ino, facts.st_size,
            facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

}  // namespace volley::traffic
