#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include <sched.h>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/fd.h"
#include "telemetry/published.h"

namespace volley::telemetry::testing {

/// A line whose text is known: "N:aaaa\n" of `size` bytes in all; the filler of no two neighbours is alike.
inline std::shared_ptr<const Published> line(std::uint64_t number, std::size_t size = 0) {
    auto out = std::make_shared<Published>();
    std::string text = std::to_string(number) + ":";
    if (text.size() + 1 < size) text.append(size - text.size() - 1, static_cast<char>('a' + number % 26));
    out->line = text + "\n";
    out->live = "live " + text + "\n";
    out->snapshot.sequence = number;
    return out;
}

/// The numbers of lines made by line(), in order; fails on a line that is not whole.
inline std::vector<std::uint64_t> numbers(const std::string& text, std::size_t size = 0) {
    std::vector<std::uint64_t> out;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = text.find('\n', at);
        if (end == std::string::npos) {
            ADD_FAILURE() << "half a line at the end: " << text.substr(at, 40);
            break;
        }
        const std::string one = text.substr(at, end + 1 - at);
        const std::uint64_t number = std::strtoull(one.c_str(), nullptr, 10);
        EXPECT_EQ(one, line(number, size)->line);
        out.push_back(number);
        at = end + 1;
    }
    return out;
}

/// Everything that can be read until the writers are gone, or nothing more comes for now.
inline std::string drain(int fd) {
    std::string out;
    char buffer[65536];
    for (;;) {
        pollfd readable{fd, POLLIN, 0};
        if (::poll(&readable, 1, 0) <= 0) return out;
        const ssize_t n = ::read(fd, buffer, sizeof(buffer));
        if (n <= 0) return out;
        out.append(buffer, static_cast<std::size_t>(n));
    }
}

inline std::string contents(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

/// A folder of its own for each test, short enough for socket paths.
class Folder : public ::testing::Test {
  protected:
    Folder() {
        char name[] = "/tmp/volley-test-XXXXXX";
        folder_ = ::mkdtemp(name);
    }

  public:
    ~Folder() override {
        if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

  protected:
    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
    /// Makes the folder a file system of `bytes`, in a mount namespace of this process. False where that is
    /// forbidden.
    bool make_small_disk(const std::string& bytes) {
        static const bool own_namespace =
            ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
        mounted_ =
            own_namespace && ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, ("size=" + bytes).c_str()) == 0;
        return mounted_;
    }

    std::string folder_;
    bool mounted_ = false;
};

}  // namespace volley::telemetry::testing
