// The server on a Unix socket, given bytes as a client sends them: whatever they are, the connection ends and
// the next one is served.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/fd.h"
#include "service/server.h"

namespace {

using namespace volley;

constexpr int patience_ms = 20'000;

class Echo : public service::Handler {
  public:
    service::Admission admit(const service::Request& /*head*/) override { return {1000, nullptr}; }
    void handle(const service::Request& request, const Reply& reply) override {
        reply(service::json_response(request.target + request.body));
    }
};

struct World {
    Echo echo;
    std::string path = "/tmp/volley-fuzz-" + std::to_string(::getpid()) + ".sock";
    std::unique_ptr<service::Server> server;

    World() {
        service::Server::Options options;
        options.unix_path = path;
        options.idle = options.body = std::chrono::milliseconds(2000);
        server = std::make_unique<service::Server>(options, echo);
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static World world;
    const Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    world.path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    // libFuzzer's own timer interrupts calls.
    while (::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        if (errno != EINTR) std::abort();
    }
    if (size != 0 && ::send(client.get(), data, size, MSG_NOSIGNAL) < 0) return 0;  // it was enough already
    ::shutdown(client.get(), SHUT_WR);
    std::string answer(4096, '\0');
    for (;;) {
        pollfd entry{client.get(), POLLIN, 0};
        const int ready = ::poll(&entry, 1, patience_ms);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) std::abort();  // it hangs
        if (::recv(client.get(), answer.data(), answer.size(), 0) <= 0) return 0;
    }
}
