#include "telemetry/file_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "telemetry/quiet_write.h"

namespace volley::telemetry {
namespace {

constexpr mode_t file_mode = 0640;

std::system_error failure(int error, const std::string& what) {
    return {error, std::system_category(), what};
}

// What may be over at the next line: a full disk, a named pipe without a reader, no descriptor left.
bool passes_by_itself(int error) {
    return error == ENOSPC || error == EDQUOT || error == ENXIO || error == EMFILE || error == ENFILE ||
           error == EIO;
}

}  // namespace

FileSink::FileSink(std::string path) : path_(std::move(path)) {
    const int error = open();
    if (error != 0 && !passes_by_itself(error)) {
        throw failure(error,
                      "telemetry file " + path_ +
                          " cannot be opened for appending; give \"telemetry.file\" a folder that exists and "
                          "that this user may write");
    }
}

int FileSink::open() noexcept {
    // O_NONBLOCK: a named pipe without a reader would hold the loop in open().
    fd_.reset(
        ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, file_mode));
    if (!fd_) return errno;
    end_torn_line();
    return 0;
}

// A process that was killed in the middle of a write, or a disk that went away, leaves half a line: it stays
// alone.
void FileSink::end_torn_line() noexcept {
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return;
    const Fd reader(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    char last = '\n';
    if (reader && ::pread(reader.get(), &last, 1, status.st_size - 1) == 1 && last != '\n')
        write_some("\n", 1);
}

void FileSink::reopen() noexcept {
    if (!rest_.empty()) ++dropped_;
    rest_.clear();
    open();
}

void FileSink::follow_rotation() noexcept {
    struct stat named {};
    struct stat opened {};
    if (!fd_ || ::fstat(fd_.get(), &opened) != 0 || ::stat(path_.c_str(), &named) != 0 ||
        named.st_ino != opened.st_ino || named.st_dev != opened.st_dev) {
        reopen();
    }
}

std::size_t FileSink::write_some(const char* data, std::size_t size) const noexcept {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t n = quiet_write(fd_.get(), data + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
    }
    return done;
}

bool FileSink::append(const std::string& line) noexcept {
    if (!rest_.empty()) {
        rest_.erase(0, write_some(rest_.data(), rest_.size()));
        if (!rest_.empty()) return false;
    }
    struct stat before {};
    if (::fstat(fd_.get(), &before) != 0) return false;
    const std::size_t done = write_some(line.data(), line.size());
    if (done == line.size()) return true;
    if (done == 0) return false;
    // Cut off what was begun, unless somebody else appended behind it.
    struct stat after {};
    const bool ours = S_ISREG(before.st_mode) && ::fstat(fd_.get(), &after) == 0 &&
                      after.st_size == before.st_size + static_cast<off_t>(done);
    if (ours && ::ftruncate(fd_.get(), before.st_size) == 0) return false;
    rest_ = line.substr(done);
    return true;
}

void FileSink::offer(const std::shared_ptr<const Published>& published) noexcept {
    follow_rotation();
    if (!fd_ || !append(published->line)) ++dropped_;
}

namespace {

// A device or a pipe is written as it is; a file appears whole, by its rename.
bool is_replaceable(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

}  // namespace

void check_whole_file(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        throw failure(EISDIR, "report file " + path + " cannot be written");
    const bool replaceable = is_replaceable(path);
    const auto folder = std::filesystem::path(path).parent_path();
    const std::string place = !replaceable ? path : folder.empty() ? "." : folder.string();
    if (::access(place.c_str(), replaceable ? W_OK | X_OK : W_OK) != 0) {
        throw failure(errno,
                      "report file " + path + " cannot be written" +
                          (replaceable ? "; make its folder " + place + " or choose another one" : ""));
    }
}

void write_whole_file(const std::string& path, const std::string& text) {
    const bool replaceable = is_replaceable(path);
    const std::string target = replaceable ? path + ".new" : path;
    Fd fd(::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0644));
    if (!fd) throw failure(errno, "report file " + target + " cannot be opened");
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t n = quiet_write(fd.get(), text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            const int error = errno;
            if (replaceable) ::unlink(target.c_str());
            throw failure(error, "report file " + target + " cannot be written");
        }
        done += static_cast<std::size_t>(n);
    }
    fd.reset();
    if (replaceable && std::rename(target.c_str(), path.c_str()) != 0) {
        const int error = errno;
        ::unlink(target.c_str());
        throw failure(error, "report file " + path + " cannot be replaced");
    }
}

}  // namespace volley::telemetry
