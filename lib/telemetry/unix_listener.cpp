#include "telemetry/unix_listener.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace volley::telemetry {
namespace {

constexpr mode_t socket_mode = 0660;
constexpr int backlog = 128;

std::system_error failure(int error, const std::string& what) {
    return {error, std::system_category(), what};
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un out{};
    out.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof(out.sun_path)) {
        throw std::runtime_error("socket path \"" + path + "\" has " + std::to_string(path.size()) +
                                 " bytes; a Unix socket takes 1 to " +
                                 std::to_string(sizeof(out.sun_path) - 1));
    }
    std::memcpy(out.sun_path, path.data(), path.size());
    return out;
}

Fd stream_socket() {
    Fd out(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!out) throw failure(errno, "no Unix socket");
    return out;
}

// Makes room for a name: removes a socket that nobody serves, refuses anything else.
void take_over(const std::string& path, const sockaddr_un& address) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return;
    if (!S_ISSOCK(status.st_mode)) {
        throw std::runtime_error(path +
                                 " is there and is no socket; remove it or give the socket another path");
    }
    const Fd probe = stream_socket();
    const bool refused =
        ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
        errno == ECONNREFUSED;
    if (!refused) {
        throw failure(EADDRINUSE,
                      "socket " + path +
                          " is served by a running program; stop that one, or give this one another "
                          "\"name\" or socket path");
    }
    ::unlink(path.c_str());
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

UnixListener::UnixListener(std::string path) : path_(std::move(path)) {
    const sockaddr_un address = address_of(path_);
    // Two programs that start at once would each find the other's socket bound but not yet served. The lock
    // on the folder is held from the look to listen() and leaves no file behind.
    const Fd folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder)
        throw failure(errno,
                      "folder of socket " + path_ + " cannot be opened; make it or choose another path");
    while (::flock(folder.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
    take_over(path_, address);
    fd_ = stream_socket();
    // Linux gives the name the socket's mode less the umask, so it is at no moment open to others.
    ::fchmod(fd_.get(), socket_mode);
    if (::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        throw failure(errno, "socket " + path_ + " cannot be made; choose a folder that this user may write");
    }
    struct stat status {};
    if (::chmod(path_.c_str(), socket_mode) != 0 || ::listen(fd_.get(), backlog) != 0 ||
        ::lstat(path_.c_str(), &status) != 0) {
        const int error = errno;
        ::unlink(path_.c_str());
        throw failure(error, "socket " + path_ + " cannot be served");
    }
    device_ = status.st_dev;
    inode_ = status.st_ino;
}

UnixListener::~UnixListener() {
    struct stat status {};
    if (::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_) {
        ::unlink(path_.c_str());
    }
}

Fd UnixListener::accept() const noexcept {
    return Fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

std::string auto_socket_path(std::string_view name, std::string_view kind) {
    if (name.empty() || name.find('/') != std::string_view::npos) {
        throw std::runtime_error("\"" + std::string(name) +
                                 "\" cannot name a socket; give \"name\" without a slash");
    }
    const char* systemd = std::getenv("RUNTIME_DIRECTORY");
    const char* user = std::getenv("XDG_RUNTIME_DIR");
    std::string folder;
    if (systemd != nullptr && *systemd != '\0') {
        folder = std::string(systemd).substr(0, std::string_view(systemd).find(':'));
    } else {
        folder = user != nullptr && *user != '\0' ? std::string(user) + "/volley" : "/run/volley";
        if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
            throw failure(
                errno,
                "folder " + folder +
                    " for the sockets cannot be made; set XDG_RUNTIME_DIR, or give each socket a path");
        }
    }
    return folder + "/" + std::string(name) + "." + std::string(kind) + ".sock";
}

}  // namespace volley::telemetry
