#include "support/net_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace volley::test {
namespace {

std::string must(std::vector<std::string> command) {
    std::string line;
    for (const std::string& word : command) line += word + " ";
    const Result result = run(std::move(command));
    if (result.status != 0) throw std::runtime_error(line + "failed: " + result.err);
    return result.out;
}

// In a thread of its own, for the caller stays where it is. Returns a descriptor or -errno.
int make_namespace() {
    int result = -1;
    std::thread([&] {
        if (unshare(CLONE_NEWNET) == 0) result = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
        if (result < 0) result = -errno;
    }).join();
    return result;
}

}  // namespace

std::string NetNamespace::unavailable() {
    if (geteuid() != 0) return "network namespaces need root";
    const int fd = make_namespace();
    if (fd < 0) return "the kernel refuses a network namespace: " + std::generic_category().message(-fd);
    close(fd);
    return {};
}

NetNamespace::NetNamespace() : fd_(make_namespace()) {
    if (fd_ < 0) throw std::system_error(-fd_, std::generic_category(), "unshare network namespace");
    must(inside({"sh", "-c",
                 "for scope in default all; do f=/proc/sys/net/ipv6/conf/$scope/disable_ipv6; [ ! -e $f ] || "
                 "echo 1 > $f; done"}));
}

NetNamespace::~NetNamespace() {
    close(fd_);
}

std::string NetNamespace::path() const {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_);
}

std::vector<std::string> NetNamespace::inside(std::vector<std::string> command) const {
    std::vector<std::string> result{"nsenter", "--net=" + path()};
    result.insert(result.end(), command.begin(), command.end());
    return result;
}

void connect(const NetNamespace& a, const std::string& name_a, const NetNamespace& b,
             const std::string& name_b, unsigned mtu) {
    const std::string size = std::to_string(mtu);
    must(a.inside({"ip", "link", "add", name_a, "mtu", size, "type", "veth", "peer", "name", name_b, "mtu",
                   size, "netns", b.path()}));
    must(b.inside({"ip", "link", "set", name_b, "up"}));
    must(a.inside({"ip", "link", "set", name_a, "up"}));
}

LinkCounters counters(const NetNamespace& where, const std::string& link) {
    const auto rx = nlohmann::json::parse(must(where.inside({"ip", "-j", "-s", "link", "show", "dev", link})))
                        .at(0)
                        .at("stats64")
                        .at("rx");
    return {rx.at("packets"), rx.at("bytes"), rx.at("dropped"), rx.at("errors")};
}

}  // namespace volley::test
