#include "volley-bench/eal_socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

namespace volley::bench {
namespace {

// One message, which is one JSON object; empty when none comes.
std::string receive(int fd) {
    std::array<char, 16'384> text{};
    const ssize_t n = ::recv(fd, text.data(), text.size(), 0);
    return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
}

}  // namespace

std::optional<EalSocket> EalSocket::connect(const std::string& directory) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory + "/dpdk", ignored)) {
        const std::string path = (entry.path() / "dpdk_telemetry.v2").string();
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (path.size() >= sizeof(address.sun_path)) continue;
        std::memcpy(address.sun_path, path.c_str(), path.size());
        Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        const timeval patience{5, 0};
        ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) continue;
        if (receive(fd.get()).empty()) continue;  // it introduces itself first
        return EalSocket(std::move(fd));
    }
    return std::nullopt;
}

std::optional<std::uint64_t> EalSocket::sent() {
    const std::string question = "/ethdev/stats,0";
    if (::send(fd_.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0) return std::nullopt;
    const auto answer = nlohmann::json::parse(receive(fd_.get()), nullptr, false);
    const auto at = answer.find("/ethdev/stats");
    if (at == answer.end() || !at->is_object() || !at->contains("opackets")) return std::nullopt;
    return at->at("opackets").get<std::uint64_t>();
}

}  // namespace volley::bench
